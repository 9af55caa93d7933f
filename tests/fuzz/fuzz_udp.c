/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_udp.c - fuzz target of UDP: what datagrams bring up is what a plain reading of them brings, one by one or in bursts.
 *
 * An input is a byte of how (a checksum is required; sessions that peers begin are kept; frames come in bursts, through
 * the classifier and the fast paths, or singly) and steps: a datagram whose ports, length, checksum and bytes are the
 * input's, in a good header of IP, with padding behind; a session opened to a peer, with a port of ours or a chosen one; a
 * message pushed, whole or in segments; refusal of new sessions on and off; half a minute.
 * Held to: what goes up, in order, is what the model makes of the datagrams (lengths, checksum summed byte by byte, ports,
 * who waits where, sessions that are there); every other one is a drop, for the model's reason, once; who sent to a port of
 * nobody is told by ICMP, with the datagram as it came; what is pushed leaves as the right frame, checksum included; an
 * open succeeds or is refused as sessions are; at the end sessions and buffers are back.
 * Invariant: nothing is kept from one input to the next but the graph, which is idle.
 */
#include <string.h>

#include "protocols/udp/udp_priv.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_input.h"
#include "runtime/upi/xk_part.h"
#include "tests/fuzz/fuzz_graphs.h"
#include "tests/fuzz/fuzz_in.h"
#include "tests/protocols/net_fixture.h"

#define STEPS  48u
#define BURST  16u
#define PEERS  3u
#define BCAST  0x0affffffu
#define FRAME  1514u
#define HEAD   42u                       /* before a payload */
#define LONG   (64 * XK_SEC)             /* twice as long as anything idles */

extern const struct xk_proto xk_proto_eth, xk_proto_arp, xk_proto_ip, xk_proto_icmp, xk_proto_udp;

static struct pf f;
static struct xk_rep *udp, *drv;
static struct pf_upper_state *app;
static uint64_t ip_sessions, buffers;

static uint32_t peer(unsigned i) { return 0x0a000002u + i; }

/* ---- the model ----------------------------------------------------------------------------------- */

struct conn { uint32_t src, dst; uint16_t sport, dport; };
static struct live { struct conn c; struct xk_sess *s; bool passive; } live[2 * STEPS];
static unsigned nlive;
static struct { uint32_t len; uint8_t b[FRAME]; } up[STEPS], out[STEPS];   /* payloads up; ICMP errors, from the quote on */
static unsigned nup, nout;
static uint64_t drops[XK_DROPS_MAX];
static bool keep, bursts, required;

static struct live *find(const struct conn *c)
{
	for (unsigned i = 0; i < nlive; i++)
		if (live[i].c.src == c->src && live[i].c.dst == c->dst && live[i].c.sport == c->sport && live[i].c.dport == c->dport)
			return &live[i];
	return NULL;
}

static struct live *add(const struct conn *c, struct xk_sess *s, bool passive)
{
	live[nlive] = (struct live){ *c, s, passive };
	return &live[nlive++];
}

/* Port 7 is waited for at any address, 8 at ours alone. */
static bool is_waited_for(const struct conn *c) { return c->dport == 7 || (c->dport == 8 && c->dst == NF_US); }

/* d: the datagram from its IP header on, with n bytes of UDP.  What becomes of it: a reason, or UDP_PASS. */
static int reading(const uint8_t *d, uint32_t n, struct conn *c, uint32_t *len)
{
	const uint8_t *u = d + 20;

	if (n < 8)
		return UDP_DROP_SHORT;
	*len = xk_be16(u + 4);
	*c = (struct conn){ xk_be32(d + 12), xk_be32(d + 16), xk_be16(u), xk_be16(u + 2) };
	if (*len < 8 || *len > n)
		return UDP_DROP_LENGTH;
	if (xk_be16(u + 6) == 0)
		return required ? UDP_DROP_NO_CHECKSUM : UDP_PASS;
	return nf_sum(u, *len, nf_pseudo(c->src, c->dst, 17, *len)) == 0 ? UDP_PASS : UDP_DROP_CHECKSUM;
}

static int first(const struct conn *c)
{
	if (c->dport == 0)
		return UDP_DROP_PORT_ZERO;
	if (!is_waited_for(c))
		return UDP_DROP_PORT;
	if (app->refuse)
		return UDP_DROP_REFUSED;
	add(c, NULL, true);
	return UDP_PASS;
}

static void model(const uint8_t *d, uint32_t n)
{
	uint32_t len = 0;
	struct conn c;
	int why = reading(d, n, &c, &len);

	if (why == UDP_PASS && find(&c) == NULL)
		why = first(&c);
	if (why != UDP_PASS)
		drops[why]++;
	if (why == UDP_PASS) {
		up[nup].len = len - 8;
		memcpy(up[nup++].b, d + 28, len - 8);
	} else if (why == UDP_DROP_PORT && c.dst == NF_US) {
		out[nout].len = 20 + len < 548 ? 20 + len : 548;
		memcpy(out[nout].b, d, out[nout].len);
		nout++;
	}
}

/* ---- frames in -------------------------------------------------------------------------------------- */

static struct xk_msg *held[BURST];
static unsigned nheld;

static void let_in(void)
{
	if (nheld == 0)
		return;
	pf_enter(&f, 0);
	xk_input(drv, held, nheld);
	pf_leave(&f, 0);
	pf_settle(&f);
	nheld = 0;
}

static void frame_in(const uint8_t *b, uint32_t n)
{
	pf_enter(&f, 0);
	held[nheld] = pf_msg(b, n);
	fuzz_must(held[nheld++] != NULL ? NULL : "there is no memory for a frame");
	pf_leave(&f, 0);
	if (!bursts || nheld == BURST)
		let_in();
}

static uint16_t port(unsigned k)
{
	static const uint16_t all[] = { 7, 7, 7, 8, 0, 9, 5000, 5001 };

	return all[k % XK_ARRAY_LEN(all)];
}

/* Ethernet's header before d, which is a datagram of n bytes, and padding behind. */
static void give(uint8_t *b, uint32_t n, uint32_t pad)
{
	memcpy(b, (const uint8_t[]){ 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, b[29], 8, 0 }, 14);
	if (xk_be32(b + 30) == BCAST)
		memset(b, 0xff, 6);
	memset(b + 14 + n, 0xa5, pad);
	model(b + 14, n - 20);
	frame_in(b, 14 + n + pad);
}

static void datagram(struct fuzz_in *in)
{
	static uint8_t b[FRAME + 64], pay[FRAME];
	unsigned ends = fuzz_byte(in), how = fuzz_byte(in), big = fuzz_byte(in);
	uint32_t len = how & 1 ? big * 5 : big % 64, n, src = peer(ends % PEERS), dst = how & 2 ? BCAST : NF_US;
	struct nf_ip h = { .src = src, .dst = dst, .proto = 17 };
	uint16_t sport = how & 128 ? port(ends >> 5) : (uint16_t)(6000 + ends / 4 % 4);
	uint8_t *u = b + 34;

	memset(b, 0, sizeof b);
	nf_fill(pay, len, big);
	n = nf_udp(b + 14, src, sport, dst, port(ends >> 5), pay, len);
	switch (how / 4 % 8) {
	case 1: xk_put_be16(u + 6, 0); break;
	case 2: xk_put_be16(u + 4, (uint16_t)fuzz_word(in)); break;
	case 3: n = 20 + fuzz_byte(in) % 9; break;
	case 4: u[fuzz_byte(in) % (8 + len)] ^= (uint8_t)fuzz_byte(in); break;
	case 5: n += fuzz_byte(in) % 32; break;          /* longer than UDP says */
	case 6: xk_put_be16(u + 4, (uint16_t)(8 + fuzz_byte(in) % (len + 1))); break;
	default: break;
	}
	if (how / 4 % 8 == 6) {                          /* shorter, and right */
		xk_put_be16(u + 6, 0);
		xk_put_be16(u + 6, nf_sum(u, xk_be16(u + 4), nf_pseudo(src, dst, 17, xk_be16(u + 4))));
	}
	memmove(pay, u, n - 20);
	give(b, nf_ip(b + 14, &h, pay, n - 20), how & 32 ? big % 47 : 0);
}

/* ---- sessions and pushes -------------------------------------------------------------------------------- */

static void opens(struct fuzz_in *in)
{
	unsigned what = fuzz_byte(in);
	uint16_t rport = (uint16_t)(6000 + what / 4 % 4), lport = what & 64 ? 0 : what & 128 ? 7 : 5000;
	struct conn c = { peer(what % PEERS), NF_US, rport, lport };
	struct live *old = lport != 0 ? find(&c) : NULL;
	int err = XK_OK;
	struct xk_sess *s = nf_open(&f, "app", 0, c.src, rport, 0, lport, &err);

	if (old != NULL && (!old->passive || keep)) {
		fuzz_must(s == NULL && err == XK_E_ADDRINUSE ? NULL : "a connection was opened twice");
		return;
	}
	fuzz_must(s != NULL ? NULL : "an open is refused");
	pf_enter(&f, 0);
	if (lport == 0 && xk_sess_control(s, XK_CTL_GETMYPORT, &c.dport, sizeof c.dport) != (int)sizeof c.dport)
		fuzz_must("a session without a port");
	pf_leave(&f, 0);
	if (old == NULL)
		old = add(&c, s, false);
	old->s = s;
	old->passive = false;
}

/* The i-th frame that left is this datagram. */
static void left(unsigned i, const struct conn *c, const uint8_t *pay, uint32_t n)
{
	const struct pf_rec *r = pf_pushed(&f, "drv", i);
	const uint8_t *d = r->bytes + 14, *u = d + 20;

	if (r->len != HEAD + n || r->bytes[5] != (uint8_t)c->src || xk_be16(r->bytes + 12) != 0x0800 || d[0] != 0x45 ||
	    xk_be16(d + 2) != 28 + n || d[9] != 17 || nf_sum(d, 20, 0) != 0 || xk_be32(d + 12) != c->dst || xk_be32(d + 16) != c->src)
		fuzz_must("a datagram leaves with a wrong header");
	if (xk_be16(u) != c->dport || xk_be16(u + 2) != c->sport || xk_be16(u + 4) != 8 + n || xk_be16(u + 6) == 0 ||
	    nf_sum(u, 8 + n, nf_pseudo(c->dst, c->src, 17, 8 + n)) != 0 || (n != 0 && memcmp(u + 8, pay, n) != 0))
		fuzz_must("a datagram leaves with wrong bytes");
}

static void pushes(struct fuzz_in *in)
{
	static uint8_t pay[1472];
	unsigned which = fuzz_byte(in), how = fuzz_byte(in);
	struct live *l = nlive != 0 ? &live[which % nlive] : NULL;
	uint32_t n = how % 128 * 11, seg = how & 128 ? 64 + which : 0, had;

	if (l == NULL || l->s == NULL)
		return;
	nf_fill(pay, n, which);
	pf_enter(&f, 0);
	fuzz_must(xk_sess_control(l->s, UDP_CTL_SEGMENT, &seg, sizeof seg) >= 0 ? NULL : "no segments");
	pf_leave(&f, 0);
	had = pf_npushed(&f, "drv");
	pf_push(&f, 0, l->s, pay, n);
	for (uint32_t at = 0, i = had; at < n || i == had; i++) {
		uint32_t one = seg != 0 && n - at > seg ? seg : n - at;

		fuzz_must(i < pf_npushed(&f, "drv") ? NULL : "a datagram did not leave");
		left(i, &l->c, pay + at, one);
		at += one;
	}
}

static void pass_time(void)
{
	unsigned n = 0;

	pf_run(&f, LONG);
	for (unsigned i = 0; i < nlive; i++)
		if (!live[i].passive || keep)
			live[n++] = live[i];
	nlive = n;
}

/* ---- inputs ------------------------------------------------------------------------------------------------ */

static void compare_up(void)
{
	if (app->got.n != nup)
		fuzz_must(app->got.n < nup ? "a datagram is missing above" : "a datagram too many went up");
	for (unsigned i = 0; i < nup; i++)
		if (app->got.v[i].len != up[i].len || memcmp(app->got.v[i].bytes, up[i].b, up[i].len) != 0)
			fuzz_must("a datagram has other bytes above");
	for (unsigned i = 0; i < XK_DROPS_MAX; i++)
		if (xk_counter_read(udp->drop[i]) != drops[i])
			fuzz_must("drops are not those of the model");
	pf_forget(&f, "app");
	nup = 0;
}

/* What left since the last look is ICMP errors about ports, with what the peer sent. */
static void compare_out(void)
{
	fuzz_must(pf_npushed(&f, "drv") == nout ? NULL : "other answers than one for each datagram to nobody");
	for (unsigned i = 0; i < nout; i++) {
		const struct pf_rec *r = pf_pushed(&f, "drv", i);
		const uint8_t *p = r->bytes + 34;

		if (r->len != HEAD + out[i].len || r->bytes[23] != 1 || p[0] != 3 || p[1] != 3 || nf_sum(p, 8 + out[i].len, 0) != 0 ||
		    memcmp(p + 8, out[i].b, out[i].len) != 0 || memcmp(r->bytes + 30, out[i].b + 12, 4) != 0)
			fuzz_must("an error says something else than what came");
	}
	pf_forget(&f, "drv");
	nout = 0;
}

static void step(struct fuzz_in *in)
{
	unsigned what = fuzz_byte(in) % 16;

	if (what < 10) {
		datagram(in);
		return;
	}
	let_in();
	compare_up();
	compare_out();
	if (what < 12)
		opens(in);
	else if (what < 14)
		pushes(in);
	else if (what == 14)
		app->refuse = !app->refuse;
	else
		pass_time();
	pf_forget(&f, "drv");
}

static void ends(void)
{
	let_in();
	compare_up();
	compare_out();
	for (unsigned i = 0; i < nlive; i++)
		if (live[i].s != NULL)
			pf_close(&f, 0, live[i].s);
	while (app->nkept != 0)
		pf_close(&f, 0, app->kept[--app->nkept]);
	app->keep = app->refuse = false;
	pf_run(&f, LONG);
	fuzz_must(pf_sessions(&f, "udp") == 0 && pf_sessions(&f, "ip") == ip_sessions ? NULL : "a session is left");
	fuzz_must(pf_buffers(&f) == buffers ? NULL : "a buffer is left");
}

static void down(void)
{
	xk_open_disable_all(pf_node(&f, "app"), pf_node(&f, "udp"));
	pf_down(&f);
}

static void make(void)
{
	static const struct pf_spec g[] = {
		{ &pf_driver, "drv", NULL, "link=eth" }, { &xk_proto_eth, "eth", "drv", NULL },
		{ &xk_proto_arp, "arp", "eth",
		  "neighbours=10.0.0.2=02:00:00:00:00:02,10.0.0.3=02:00:00:00:00:03,10.0.0.4=02:00:00:00:00:04" },
		{ &xk_proto_ip, "ip", "arp", "addr=10.0.0.1/8" }, { &xk_proto_icmp, "icmp", "ip", "rate=1000000000; burst=1000000" },
		{ &xk_proto_udp, "udp", "ip", NULL }, { &pf_upper, "app", "udp", "enable=false" }, { NULL, NULL, NULL, NULL } };

	pf_up(&f, 1, g);
	fuzz_must(nf_enable(&f, "app", true, 7, 0) == XK_OK && nf_enable(&f, "app", true, 8, NF_US) == XK_OK ? NULL : "no port");
	udp = pf_rep(&f, "udp", 0);
	drv = pf_rep(&f, "drv", 0);
	app = pf_upper_of(&f, "app");
	ip_sessions = pf_sessions(&f, "ip");
	buffers = pf_buffers(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = { data, data + size };
	unsigned how = fuzz_byte(&in);

	fuzz_graph_up(&f, make, down);
	required = ((struct udp_conf *)udp->conf)->require_checksum = how & 1;
	keep = app->keep = how & 2;
	bursts = how & 4;
	nlive = nup = nout = 0;
	for (unsigned i = 0; i < XK_DROPS_MAX; i++)
		drops[i] = xk_counter_read(udp->drop[i]);
	for (unsigned steps = 0; fuzz_more(&in) && steps < STEPS; steps++)
		step(&in);
	ends();
	return 0;
}
