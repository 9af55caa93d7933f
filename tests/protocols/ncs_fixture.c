/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_fixture.c - two stacks with ncs on top: made, opened through, judged.  See ncs_fixture.h.
 */
#include "tests/protocols/ncs_fixture.h"

#include "runtime/base/xk_bytes.h"
#include "runtime/upi/xk_part.h"
#include "tests/support/xk_test.h"

#include <stdio.h>
#include <string.h>

extern const struct xk_proto xk_proto_eth_mem, xk_proto_eth, xk_proto_arp, xk_proto_ip, xk_proto_udp, xk_proto_tcp,
	xk_proto_impair, xk_proto_ncs, xk_proto_window, xk_proto_credit, xk_proto_pace, xk_proto_go_back_n,
	xk_proto_selective_repeat, xk_proto_process;

/* A host named by one letter: wire, Ethernet, ARP, IP.  Who has which address is known: what a line made of an
 * ARP reply would stay for minutes. */
#define NEIGHBOURS "10.0.0.1=02:00:00:00:00:0a,10.0.0.2=02:00:00:00:00:0b"
#define HOST(x, addr, faults) \
	{ &xk_proto_eth_mem, "d" x, NULL, "wire=w; queue=65536; mac=02:00:00:00:00:0" x }, \
	{ &xk_proto_impair, "f" x, "d" x, faults }, \
	{ &xk_proto_eth, "l" x, "f" x, NULL }, \
	{ &xk_proto_arp, "r" x, "l" x, "queue=100; neighbours=" NEIGHBOURS }, \
	{ &xk_proto_ip, "i" x, "r" x, "addr=" addr "/24" }

#ifndef NCS_STAGES                      /* test_ncs_threads: the same where stages have threads */
#define NCS_STAGES "stages=call"
#endif

uint8_t nf_bytes[NF_MOST];

struct control { const struct xk_proto *proto; const char *params; };
static const struct control flows[NF_FLOWS] = {
	{ NULL, NULL }, { &xk_proto_window, "window=8" }, { &xk_proto_credit, "first=2; most=16" },
	{ &xk_proto_pace, "rate=100Mbit/s" },
};
static const struct control errors[NF_ERRORS] = {
	{ NULL, NULL }, { &xk_proto_go_back_n, "window=16" }, { &xk_proto_selective_repeat, "window=64" },
};

/* Adds a control over *below, if there is one. */
static unsigned over(struct pf_spec *g, unsigned n, const struct xk_proto *p, const char *params, const char *name,
		     const char **below)
{
	if (p == NULL)
		return n;
	g[n] = (struct pf_spec){ p, name, *below, params };
	*below = name;
	return n + 1;
}

static void parameters(char *b, size_t n, bool stream, const char *more)
{
	snprintf(b, n, "%s%s%s", stream ? "stages=call" : NCS_STAGES, more != NULL ? "; " : "", more != NULL ? more : "");
}

void nf_up(struct pf *f, const struct nf_how *how)
{
	const struct pf_spec hosts[] = { HOST("a", "10.0.0.1", how->faults), HOST("b", "10.0.0.2", how->bare ? how->faults : NULL) };
	const struct control *k = &flows[NF_FLOW(how->pair)], *e = &errors[NF_ERROR(how->pair)];
	const struct xk_proto *below = how->stream ? &xk_proto_tcp : &xk_proto_udp;
	const char *flow = how->flow != NULL ? how->flow : k->params;
	const char *a = "ua", *b = "ub";
	unsigned n = XK_ARRAY_LEN(hosts);
	struct pf_spec g[32];
	char ncs[256], ncs_b[256], job[256];

	parameters(ncs, sizeof ncs, how->stream, how->ncs);
	parameters(ncs_b, sizeof ncs_b, how->stream, how->ncs_b != NULL ? how->ncs_b : how->ncs);
	memcpy(g, hosts, sizeof hosts);
	g[n++] = (struct pf_spec){ below, "ua", "ia", how->bare ? "checksum=false" : NULL };
	g[n++] = (struct pf_spec){ below, "ub", "ib", how->bare ? "checksum=false" : NULL };
	n = over(g, n, k->proto, flow, "ka", &a);
	n = over(g, n, e->proto, e->params, "ea", &a);
	n = over(g, n, k->proto, flow, "kb", &b);
	n = over(g, n, e->proto, e->params, "eb", &b);
	g[n++] = (struct pf_spec){ &xk_proto_ncs, "na", a, ncs };
	g[n++] = (struct pf_spec){ &xk_proto_ncs, "nb", b, ncs_b };
	g[n++] = (struct pf_spec){ &pf_upper, "client", "na", "enable=false" };
	g[n++] = (struct pf_spec){ how->server != NULL ? how->server : &xk_proto_echo, "echo", "nb", NULL };
	g[n++] = (struct pf_spec){ &pf_upper, "back", "nb", "enable=false" };
	snprintf(job, sizeof job, "rank=0; ranks=10.0.0.2,10.0.0.1; %s", how->job != NULL ? how->job : "");
	if (how->job != NULL)
		g[n++] = (struct pf_spec){ &xk_proto_process, "job", "nb", job };
	g[n++] = (struct pf_spec){ &pf_upper, "raw", "ua", "enable=false" };
	g[n] = (struct pf_spec){ NULL, NULL, NULL, NULL };
	for (uint32_t i = 0; i < NF_MOST; i++)
		nf_bytes[i] = (uint8_t)(i * 11 + i / 256 + i / 65536 * 3);
	pf_up(f, how->nvps != 0 ? how->nvps : 1, g);
}

struct xk_sess *nf_open_host(struct pf *f, const char *who, unsigned vp, uint32_t host, uint16_t port, int *err)
{
	struct xk_parts ps;

	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], host);
	xk_part_push_port(&ps.p[XK_REMOTE], port);
	xk_part_push_any(&ps.p[XK_LOCAL]);
	xk_part_push_any(&ps.p[XK_LOCAL]);
	return pf_open(f, who, vp, &ps, err);
}

struct xk_sess *nf_open(struct pf *f, const char *who, unsigned vp, uint16_t port, int *err)
{
	return nf_open_host(f, who, vp, NF_SERVER, port, err);
}

struct xk_sess *nf_open_data(struct pf *f)
{
	struct xk_parts ps;

	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], NF_SERVER);
	xk_part_push_port(&ps.p[XK_REMOTE], NF_CTL + 1);
	xk_part_push_any(&ps.p[XK_LOCAL]);
	xk_part_push_port(&ps.p[XK_LOCAL], 5000);
	return pf_open(f, "raw", 0, &ps, NULL);
}

void nf_cut(struct pf *f, bool cut)
{
	const struct xk_param *p = xk_proto_impair.params;
	double loss = cut ? 1 : 0;

	while (strcmp(p->name, "loss") != 0)
		p++;
	memcpy((uint8_t *)pf_rep(f, "fa", 0)->conf + p->offset, &loss, sizeof loss);
}

uint32_t nf_make(uint32_t i, uint8_t *b)
{
	uint32_t n = 4 + i * 977 % 9000;

	xk_put_be32(b, i);
	for (uint32_t k = 4; k < n; k++)
		b[k] = (uint8_t)(k * 7 + i);
	return n;
}

uint32_t nf_judged(struct pf *f, uint32_t n)
{
	static uint8_t want[16384];
	uint32_t next = 0;

	for (unsigned k = 0; k < pf_ngot(f, "client"); k++) {
		const struct pf_rec *r = pf_got(f, "client", k);
		uint32_t i = r->len >= 4 ? xk_be32(r->bytes) : n;

		if (i < next || i >= n || nf_make(i, want) != r->len || memcmp(want, r->bytes, r->len) != 0)
			return n + 1;
		next = i + 1;
	}
	return pf_ngot(f, "client");
}
