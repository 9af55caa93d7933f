/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * net_fixture.c - builds the host and its datagrams.  See net_fixture.h.
 */
#include "tests/protocols/net_fixture.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/icmp/icmp.h"
#include "protocols/ip/ip.h"
#include "protocols/udp/udp.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"

extern const struct xk_proto xk_proto_ip, xk_proto_icmp, xk_proto_udp;

struct nf_told nf_told;

/* ---- the doubles above ---------------------------------------------------------- */

static int told_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	struct ip_error_in in;
	struct udp_error u;
	struct icmp_error c;

	(void)r;
	if (op == IP_CTL_ERROR_IN && len >= sizeof in) {
		memcpy(&in, buf, sizeof in);
		nf_told = (struct nf_told){ nf_told.n + 1, op, in.type, in.code, in.arg };
	} else if (op == UDP_CTL_ERROR && len >= sizeof u) {
		memcpy(&u, buf, sizeof u);
		nf_told = (struct nf_told){ nf_told.n + 1, op, u.type, u.code, u.arg };
	} else if (op == ICMP_CTL_ERROR && len >= sizeof c) {
		memcpy(&c, buf, sizeof c);
		nf_told = (struct nf_told){ nf_told.n + 1, op, c.type, c.code, c.arg };
	} else {
		return XK_E_NOTSUP;
	}
	return 0;
}

/* ---- the graph --------------------------------------------------------------------- */

static const struct xk_proto *upper(void)
{
	static struct xk_ops ops;
	static struct xk_proto p;

	ops = *pf_upper.ops;
	ops.control = told_control;
	p = pf_upper;
	p.ops = &ops;
	return &p;
}

bool nf_up_try(struct pf *f, const struct nf_conf *c)
{
	char ip[256];
	const struct pf_spec specs[] = {
		{ &pf_hostlink, "hl", NULL, c->hl },
		{ &xk_proto_ip, "ip", "hl", ip },
		{ &xk_proto_icmp, "icmp", "ip", c->icmp },
		{ &xk_proto_udp, "udp", "ip", c->udp },
		{ upper(), "raw", "ip", "enable=true" },
		{ upper(), "echoer", "icmp", "enable=false" },
		{ upper(), "app", "udp", "enable=false" },
		{ NULL, NULL, NULL, NULL },
	};

	snprintf(ip, sizeof ip, "addr=10.0.0.1/8; %s", c->ip ? c->ip : "");
	memset(&nf_told, 0, sizeof nf_told);
	if (!pf_up_try(f, c->nvps ? c->nvps : 1, specs))
		return false;
	pf_settle(f);
	return true;
}

void nf_up(struct pf *f, const struct nf_conf *c)
{
	if (!nf_up_try(f, c)) {
		for (unsigned i = 0; i < xk_errs_count(f->errs); i++)
			fprintf(stderr, "# %s\n", xk_errs_text(f->errs, i, NULL, NULL, NULL));
		xk_panic(__FILE__, __LINE__, "the host does not come up");
	}
	xk_assert(nf_enable(f, "app", true, NF_PORT, 0) == XK_OK);
}

void nf_up1(struct pf *f, const char *ip_params)
{
	nf_up(f, &(struct nf_conf){ .ip = ip_params });
}

void nf_down(struct pf *f)
{
	if (f->g != NULL)
		xk_open_disable_all(pf_node(f, "app"), pf_node(f, "udp"));
	pf_down(f);
}

/* ---- datagrams --------------------------------------------------------------------------- */

uint16_t nf_sum(const uint8_t *p, uint32_t n, uint32_t seed)
{
	uint32_t s = seed;

	for (uint32_t i = 0; i < n; i++) {
		s += i % 2 == 0 ? (uint32_t)p[i] << 8 : p[i];
		s = (s & 0xffff) + (s >> 16);
	}
	return (uint16_t)~s;
}

uint32_t nf_pseudo(uint32_t src, uint32_t dst, uint8_t proto, uint32_t len)
{
	return (src >> 16) + (src & 0xffff) + (dst >> 16) + (dst & 0xffff) + proto + len;
}

void nf_fix(uint8_t *d)
{
	xk_put_be16(d + 10, 0);
	xk_put_be16(d + 10, nf_sum(d, (d[0] & 15u) * 4, 0));
}

uint32_t nf_ip(uint8_t *out, const struct nf_ip *h, const void *payload, uint32_t n)
{
	uint32_t hlen = 20 + h->nopt;

	memset(out, 0, 20);
	out[0] = (uint8_t)(0x40 | hlen / 4);
	xk_put_be16(out + 2, (uint16_t)(hlen + n));
	xk_put_be16(out + 4, h->id);
	xk_put_be16(out + 6, h->frag);
	out[8] = h->ttl ? h->ttl : 64;
	out[9] = h->proto ? h->proto : 253;
	xk_put_be32(out + 12, h->src ? h->src : NF_PEER);
	xk_put_be32(out + 16, h->dst ? h->dst : NF_US);
	if (h->nopt != 0)
		memcpy(out + 20, h->opt, h->nopt);
	if (n != 0)
		memmove(out + hlen, payload, n);
	nf_fix(out);
	return hlen + n;
}

uint32_t nf_udp(uint8_t *out, uint32_t src, uint16_t sport, uint32_t dst, uint16_t dport,
		const void *payload, uint32_t n)
{
	struct nf_ip h = { .src = src, .dst = dst, .proto = 17 };
	uint8_t *u = out + 20;
	uint16_t c;

	if (n != 0)
		memmove(u + 8, payload, n);
	xk_put_be16(u, sport);
	xk_put_be16(u + 2, dport);
	xk_put_be16(u + 4, (uint16_t)(8 + n));
	xk_put_be16(u + 6, 0);
	c = nf_sum(u, 8 + n, nf_pseudo(src, dst, 17, 8 + n));
	xk_put_be16(u + 6, c ? c : 0xffff);
	return nf_ip(out, &h, u, 8 + n);
}

uint32_t nf_icmp(uint8_t *out, uint32_t src, uint32_t dst, uint8_t type, uint8_t code, uint32_t rest,
		 const void *payload, uint32_t n)
{
	struct nf_ip h = { .src = src, .dst = dst, .proto = 1 };
	uint8_t *p = out + 20;

	if (n != 0)
		memmove(p + 8, payload, n);
	p[0] = type;
	p[1] = code;
	xk_put_be16(p + 2, 0);
	xk_put_be32(p + 4, rest);
	xk_put_be16(p + 2, nf_sum(p, 8 + n, 0));
	return nf_ip(out, &h, p, 8 + n);
}

void nf_fill(uint8_t *p, uint32_t n, uint32_t seed)
{
	for (uint32_t i = 0; i < n; i++)
		p[i] = (uint8_t)(i * 31 + (i >> 8) * 7 + seed);
}

/* ---- arrival --------------------------------------------------------------------------------- */

static void arrive(struct pf *f, unsigned vp, struct xk_msg *m)
{
	static struct xk_sess *none[16];
	struct xk_rep *r = pf_rep(f, "ip", vp);

	for (unsigned i = 0; i < XK_ARRAY_LEN(none); i++)
		none[i] = &xk_sess_none;
	if (m != NULL) {
		m->u.hint = none;
		m->hash = 0;             /* nobody has classified it */
		r->up.demux(&r->up, NULL, m);
	}
}

void nf_in_flags(struct pf *f, unsigned vp, const void *datagram, uint32_t len, uint8_t flags)
{
	struct xk_msg *m;

	pf_enter(f, vp);
	m = pf_msg(datagram, len);
	if (m != NULL)
		m->flags |= flags;
	arrive(f, vp, m);
	pf_leave(f, vp);
	pf_settle(f);
}

void nf_in(struct pf *f, unsigned vp, const void *datagram, uint32_t len)
{
	nf_in_flags(f, vp, datagram, len, 0);
}

void nf_in_cut(struct pf *f, unsigned vp, const void *datagram, uint32_t len, uint32_t cut)
{
	struct xk_msg *m, *tail;

	pf_enter(f, vp);
	m = pf_msg(datagram, cut);
	tail = pf_msg((const uint8_t *)datagram + cut, len - cut);
	xk_msg_join(m, tail);
	arrive(f, vp, m);
	pf_leave(f, vp);
	pf_settle(f);
}

void nf_in_view(struct pf *f, unsigned vp, const void *datagram, uint32_t len)
{
	struct xk_msg *m, *view;

	pf_enter(f, vp);
	m = pf_msg(datagram, len);
	view = xk_msg_share(m);
	arrive(f, vp, view);
	xk_msg_free(m);
	pf_leave(f, vp);
	pf_settle(f);
}

/* What the driver lent, and how it was. */
struct lent { uint32_t len; uint8_t data[2 * 4096]; };

static void lent_back(void *arg)
{
	struct lent *l = arg;

	CU_ASSERT(memcmp(l->data, l->data + l->len, l->len) == 0);
	free(l);
}

void nf_in_lent(struct pf *f, unsigned vp, const void *datagram, uint32_t len)
{
	struct lent *l = malloc(sizeof *l);
	struct xk_msg *m;

	xk_assert(l != NULL && len <= 4096);
	l->len = len;
	memcpy(l->data, datagram, len);
	memcpy(l->data + len, datagram, len);
	pf_enter(f, vp);
	m = xk_msg_new_extern(l->data, len, lent_back, l);
	if (m == NULL)
		lent_back(l);
	arrive(f, vp, m);
	pf_leave(f, vp);
	pf_settle(f);
}

/* ---- participants ----------------------------------------------------------------------------- */

static void party(struct xk_part *p, uint32_t host, uint16_t port)
{
	if (host != 0)
		xk_part_push_host(p, host);
	if (port != 0)
		xk_part_push_port(p, port);
}

struct xk_sess *nf_open(struct pf *f, const char *who, unsigned vp, uint32_t rhost, uint16_t rport,
			uint32_t lhost, uint16_t lport, int *err)
{
	struct xk_parts ps;

	xk_parts_init(&ps, 2);
	party(&ps.p[XK_REMOTE], rhost, rport);
	if (lhost != 0 && lport == 0 && rport != 0) {
		xk_part_push_host(&ps.p[XK_LOCAL], lhost);
		xk_part_push_any(&ps.p[XK_LOCAL]);
	} else {
		party(&ps.p[XK_LOCAL], lhost, lport);
	}
	return pf_open(f, who, vp, &ps, err);
}

int nf_enable(struct pf *f, const char *who, bool on, uint16_t port, uint32_t host)
{
	struct xk_node *n = pf_node(f, who);
	struct xk_parts ps;

	xk_parts_init(&ps, 1);
	party(&ps.p[0], host, port);
	return on ? xk_open_enable(n, n, n->down[0], &ps) : xk_open_disable(n, n, n->down[0], &ps);
}

/* ---- what the doubles got ------------------------------------------------------------------------ */

unsigned nf_ngot(struct pf *f, const char *who)
{
	return pf_upper_of(f, who)->got.n;
}

const struct pf_rec *nf_got(struct pf *f, const char *who, unsigned i)
{
	xk_assert(i < nf_ngot(f, who));
	return &pf_upper_of(f, who)->got.v[i];
}

void nf_forget(struct pf *f, const char *who)
{
	struct pf_recs *rs = &pf_upper_of(f, who)->got;

	for (unsigned i = 0; i < rs->n; i++)
		free(rs->v[i].bytes);
	rs->n = 0;
}

/* ---- departure --------------------------------------------------------------------------------- */

unsigned nf_nsent(struct pf *f)
{
	return pf_npushed(f, "hl");
}

const uint8_t *nf_sent(struct pf *f, unsigned i, uint32_t *n)
{
	const struct pf_rec *r = pf_pushed(f, "hl", i);

	CU_ASSERT_EQUAL(r->bytes[0], 0x45);
	CU_ASSERT_EQUAL(xk_be16(r->bytes + 2), r->len);
	CU_ASSERT_EQUAL(nf_sum(r->bytes, 20, 0), 0);
	*n = r->len - 20;
	return r->bytes + 20;
}

static const char *const nf_all[] = { "hl", "ip", "icmp", "udp", "raw", "echoer", "app" };

uint64_t nf_drops(struct pf *f)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < XK_ARRAY_LEN(nf_all); i++)
		sum += pf_drops(f, nf_all[i], NULL);
	return sum;
}

void nf_forget_drops(struct pf *f)
{
	for (unsigned i = 0; i < XK_ARRAY_LEN(nf_all); i++)
		for (unsigned vp = 0; vp < f->g->vps->nvps; vp++)
			memset(pf_rep(f, nf_all[i], vp)->drop, 0, sizeof pf_rep(f, nf_all[i], vp)->drop);
}

void nf_only_drop(struct pf *f, const char *who, const char *reason)
{
	if (nf_drops(f) != 1 || pf_drops(f, who, reason) != 1) {
		printf("# expected one drop '%s' of %s, got %llu drops, %llu of them so\n", reason, who,
		       (unsigned long long)nf_drops(f), (unsigned long long)pf_drops(f, who, reason));
		CU_FAIL("another drop than expected");
	}
	nf_forget_drops(f);
}

void nf_torture(void (*fn)(void))
{
	for (uint64_t k = 1;; k++) {
		xk_mem_fail_after(k);
		fn();
		if (xk_mem_tries() < k) {
			xk_mem_fail_after(0);
			return;
		}
		xk_mem_fail_after(0);
		xk_assert(k < 100000);
	}
}
