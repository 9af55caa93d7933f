/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_icmp.c - fuzz target of ICMP: whatever an error quotes, who is told is who sent that, and nobody else.
 *
 * An input is a byte of which sessions are open (of udp, of echo, of a protocol of its own, to two peers), and steps: an
 * error whose quote is a datagram of ours, or nearly, whole or cut, in one segment or in two, or lent; a message of any
 * type and bytes; an echo request; a datagram to a port or a protocol of nobody; ten minutes.
 * Held to, after every step: a message is taken or dropped for the reason of a plain reading, once; exactly the session of
 * the quoted datagram is told, with what the error said; its path's MTU is lowered by "fragmentation needed" alone, never
 * below the floor, and of no other path; replies to echo go to their session, byte by byte; requests are answered, byte by
 * byte, with a right checksum; what went wrong is told with the quote of what came, and no error is ever answered.
 * Invariant: nothing is kept from one input to the next but the graph, which is idle.
 */
#include <string.h>

#include "protocols/icmp/icmp_priv.h"
#include "protocols/ip/ip_priv.h"
#include "protocols/udp/udp.h"
#include "runtime/upi/xk_inline.h"
#include "tests/fuzz/fuzz_graphs.h"
#include "tests/fuzz/fuzz_in.h"
#include "tests/protocols/net_fixture.h"

#define STEPS 48u
#define PEERS 2u
#define KINDS 3u                         /* udp, echo, raw */
#define BCAST 0x0affffffu
#define MOST  700u                       /* bytes of a message */
#define MTU   1500u
#define QUOTE 256u                       /* the most of ours: less than the least path takes */
#define LONG  (64 * XK_SEC)

static struct pf f;
static struct xk_rep *icmp;
static struct pf_upper_state *echoer;
static uint64_t ip_sessions, buffers;

static uint32_t peer(unsigned i) { return NF_PEER + i % PEERS; }

/* To peer i; of one kind and peer all are one path. */
static struct xk_sess *sess[KINDS][PEERS];
static uint32_t mtu[KINDS][PEERS];
static const uint8_t proto[KINDS] = { 17, 1, 253 };
static const char *const who[KINDS] = { "app", "echoer", "raw" };
static uint16_t rport(unsigned i) { return (uint16_t)(7000 + i); }
static uint16_t lport(unsigned i) { return (uint16_t)(5000 + i); }       /* the identifier, of echo */

/* ---- a plain reading ---------------------------------------------------------------------------- */

/* What is expected of a message. */
static struct {
	unsigned drop;                   /* 0: taken */
	unsigned told, op;               /* how often somebody is told, and by what */
	bool     answer, up;
} want;

/* Who sent q, as far as he is there: its kind, and *i; KINDS: nobody. */
static unsigned sender(const uint8_t *q, uint32_t hlen, unsigned *i)
{
	const uint8_t *t = q + hlen;
	unsigned k = q[9] == 17 ? 0 : q[9] == 1 ? 1 : q[9] == 253 ? 2 : KINDS;

	*i = xk_be32(q + 16) - NF_PEER;
	if (k == KINDS || *i >= PEERS || sess[k][*i] == NULL || xk_be32(q + 12) != NF_US)
		return KINDS;
	if (k == 0)
		return xk_be16(t) == lport(*i) && xk_be16(t + 2) == rport(*i) ? k : KINDS;
	if (k == 1)
		return t[0] == 8 && xk_be16(t + 4) == lport(*i) ? k : KINDS;
	return k;
}

/* The path of q's datagram is learned about whoever sent it. */
static void path(const uint8_t *q, uint32_t says)
{
	unsigned i = xk_be32(q + 16) - NF_PEER;

	says = says < IP_PMTU_FLOOR ? IP_PMTU_FLOOR : says;
	for (unsigned k = 0; k < KINDS; k++)
		if (i < PEERS && q[9] == proto[k] && xk_be32(q + 12) == NF_US && sess[k][i] != NULL && says < mtu[k][i])
			mtu[k][i] = says;
}

static void quote(const uint8_t *p, uint32_t n)
{
	const uint8_t *q = p + 8;
	uint32_t len = n - 8, hlen = len != 0 ? (q[0] & 15u) * 4 : 0;
	unsigned i, k;

	if (len < 20)
		want.drop = ICMP_DROP_SHORT_QUOTE;
	else if (q[0] >> 4 != 4 || hlen < 20)
		want.drop = ICMP_DROP_QUOTE;
	else if (len < hlen + 8)
		want.drop = ICMP_DROP_SHORT_QUOTE;
	else if (xk_be32(q + 12) != NF_US || (xk_be16(q + 6) & 0x1fff) != 0)
		want.drop = ICMP_DROP_QUOTE;
	if (want.drop != 0)
		return;
	if (p[0] == 3 && p[1] == 4)
		path(q, xk_be16(p + 6));
	k = sender(q, hlen, &i);
	want.told = k != KINDS || q[9] == 253;           /* who waits for a protocol hears of all of it */
	want.op = q[9] == 17 ? UDP_CTL_ERROR : q[9] == 1 ? ICMP_CTL_ERROR : IP_CTL_ERROR_IN;
}

static void reading(uint32_t src, uint32_t dst, const uint8_t *p, uint32_t n)
{
	unsigned i = src - NF_PEER;

	memset(&want, 0, sizeof want);
	if (n < 8) {
		want.drop = ICMP_DROP_SHORT;
	} else if (nf_sum(p, n, 0) != 0) {
		want.drop = ICMP_DROP_CHECKSUM;
	} else if (p[0] == 8) {
		want.answer = dst == NF_US;
		want.drop = want.answer ? 0 : ICMP_DROP_BROADCAST;
	} else if (p[0] == 0) {
		want.up = i < PEERS && dst == NF_US && sess[1][i] != NULL && xk_be16(p + 4) == lport(i);
		want.drop = want.up ? 0 : ICMP_DROP_NO_SESSION;
	} else if (p[0] == 3 || p[0] == 4 || p[0] == 11 || p[0] == 12) {
		quote(p, n);
	} else {
		want.drop = p[0] == 5 ? ICMP_DROP_REDIRECT : p[0] >= 13 && p[0] <= 18 ? ICMP_DROP_IGNORED : ICMP_DROP_UNKNOWN;
	}
}

/* ---- what came of it ------------------------------------------------------------------------------- */

/* The one message that left: to src, with these bytes behind its first four. */
static void left(uint32_t src, uint8_t type, uint8_t code, const uint8_t *rest, uint32_t n)
{
	const struct pf_rec *r;

	fuzz_must(nf_nsent(&f) == 1 ? NULL : "there is no answer, or there are several");
	r = pf_pushed(&f, "hl", 0);
	if (r->len != 24 + n || r->host != src || xk_be32(r->bytes + 12) != NF_US || xk_be32(r->bytes + 16) != src || r->bytes[9] != 1 ||
	    r->bytes[0] != 0x45 || nf_sum(r->bytes, 20, 0) != 0 || xk_be16(r->bytes + 2) != r->len)
		fuzz_must("an answer has a wrong header");
	if (r->bytes[20] != type || r->bytes[21] != code || nf_sum(r->bytes + 20, 4 + n, 0) != 0 || memcmp(r->bytes + 24, rest, n) != 0)
		fuzz_must("an answer has wrong bytes");
	pf_forget(&f, "hl");
}

static void paths(void)
{
	for (unsigned k = 0; k < KINDS; k++)
		for (unsigned i = 0; i < PEERS; i++) {
			uint32_t is, less = k == 2 ? 20 : 28;

			if (sess[k][i] == NULL)
				continue;
			pf_enter(&f, 0);
			fuzz_must(xk_sess_control(sess[k][i], XK_CTL_GETOPTPACKET, &is, sizeof is) == (int)sizeof is ? NULL : "no MTU");
			pf_leave(&f, 0);
			fuzz_must(is == mtu[k][i] - less ? NULL : "a path has another MTU than it was told");
		}
}

static void judge(uint32_t src, const uint8_t *p, uint32_t n, uint64_t of_why)
{
	const struct pf_recs *got = &echoer->got;

	fuzz_must(nf_drops(&f) == (want.drop != 0) && (want.drop == 0 || xk_counter_read(icmp->drop[want.drop]) == of_why + 1) ? NULL :
		  "a message is taken that should be dropped, or dropped for another reason");
	if (want.answer)
		left(src, 0, 0, p + 4, n - 4);
	fuzz_must(nf_nsent(&f) == 0 ? NULL : "an answer to what has none");
	fuzz_must(nf_told.n == want.told ? NULL : want.told ? "who sent the quoted datagram is not told" : "somebody else is told");
	if (want.told && (nf_told.op != want.op || nf_told.type != p[0] || nf_told.code != p[1] || nf_told.arg != xk_be32(p + 4)))
		fuzz_must("who is told is told something else");
	fuzz_must(got->n == want.up ? NULL : want.up ? "a reply is lost" : "a reply of nobody goes up");
	if (want.up && (got->v[0].len != n - 8 || memcmp(got->v[0].bytes, p + 8, n - 8) != 0))
		fuzz_must("a reply has other bytes above");
	nf_forget(&f, "echoer");
	paths();
}

/* ---- messages in -------------------------------------------------------------------------------------- */

/* d: a datagram of n bytes, in one of the shapes that drivers give. */
static void shape(unsigned how, const uint8_t *d, uint32_t n)
{
	switch (how % 4) {
	case 0: nf_in(&f, 0, d, n); break;
	case 1: nf_in_cut(&f, 0, d, n, 1 + how / 4 * 13 % (n - 1)); break;
	case 2: nf_in_view(&f, 0, d, n); break;
	default: nf_in_lent(&f, 0, d, n);
	}
}

/* p: the message, n bytes. */
static void give(unsigned how, uint32_t src, uint32_t dst, const uint8_t *p, uint32_t n)
{
	uint8_t d[MOST + 60];
	struct nf_ip h = { .src = src, .dst = dst, .proto = 1 };
	uint64_t of_why;

	reading(src, dst, p, n);
	nf_forget_drops(&f);
	nf_told.n = 0;
	of_why = xk_counter_read(icmp->drop[want.drop]);
	shape(how, d, nf_ip(d, &h, p, n));
	judge(src, p, n, of_why);
}

static uint32_t source(unsigned k) { return k % 8 == 7 ? 0x0a000009u : peer(k); }

static void sum(uint8_t *p, uint32_t n)
{
	if (n < 8)
		return;
	xk_put_be16(p + 2, 0);
	xk_put_be16(p + 2, nf_sum(p, n, 0));
}

/* A datagram of ours, or nearly, as it comes back: how long it is. */
static uint32_t make_quote(struct fuzz_in *in, uint8_t *q)
{
	static const uint8_t nops[40] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
					  1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
	unsigned what = fuzz_byte(in), i = what % PEERS, k = what / 2 % 4;
	struct nf_ip h = { .src = what & 8 ? NF_PEER : NF_US, .dst = peer(i), .proto = k < KINDS ? proto[k] : (uint8_t)fuzz_byte(in),
			   .opt = nops };
	uint8_t t[64] = { 0 };
	uint32_t len = 8, n;

	if (what & 16)
		h.nopt = fuzz_byte(in) % 11 * 4;
	if (what & 32)
		len = 8 + fuzz_byte(in) % 56;
	t[0] = 8;
	xk_put_be16(t + 4, lport(i));
	if (k == 0) {
		xk_put_be16(t, lport(i));
		xk_put_be16(t + 2, rport(i));
	}
	n = nf_ip(q, &h, t, len);
	if (what & 64)
		for (unsigned c = fuzz_byte(in) % 3 + 1; c != 0; c--) {
			uint32_t at = fuzz_byte(in) % n;

			q[at] = (uint8_t)fuzz_byte(in);
		}
	return what & 128 ? fuzz_byte(in) % (n + 1) : n;
}

static void error(struct fuzz_in *in)
{
	static const uint8_t types[] = { 3, 3, 3, 3, 4, 11, 12, 5 };
	uint8_t p[MOST] = { 0 };
	unsigned what = fuzz_byte(in), how = fuzz_byte(in);
	uint32_t n;

	p[0] = types[what % 8];
	p[1] = (uint8_t)(what & 8 ? 4 : what / 16);
	xk_put_be32(p + 4, fuzz_long(in));
	n = 8 + make_quote(in, p + 8);
	sum(p, n);
	if (how & 128)
		p[fuzz_byte(in) % n] ^= (uint8_t)fuzz_byte(in);
	give(how, source(what / 16), NF_US, p, n);
}

static void any(struct fuzz_in *in)
{
	uint8_t p[MOST] = { 0 };
	unsigned what = fuzz_byte(in), how = fuzz_byte(in);
	const uint8_t *bytes;
	uint32_t n = fuzz_some(in, &bytes, fuzz_byte(in));

	memcpy(p, bytes, n);
	if (what & 8)
		n += fuzz_byte(in);
	if (!(what & 16))
		sum(p, n);
	give(how, source(what), what & 32 ? BCAST : NF_US, p, n);
}

static void echo(struct fuzz_in *in)
{
	uint8_t p[MOST] = { 0 };
	unsigned what = fuzz_byte(in), how = fuzz_byte(in);
	uint32_t n = 8 + fuzz_byte(in) * 2;

	p[0] = what & 8 ? 8 : 0;
	p[1] = what & 16 ? (uint8_t)fuzz_byte(in) : 0;
	xk_put_be16(p + 4, what & 32 ? (uint16_t)fuzz_word(in) : lport(what % PEERS));
	xk_put_be16(p + 6, (uint16_t)fuzz_word(in));
	nf_fill(p + 8, n - 8, what);
	sum(p, n);
	give(how, peer(what), what & 64 ? BCAST : NF_US, p, n);
}

/* To a protocol or a port of nobody: its sender is told, with what came. */
static void nobody(struct fuzz_in *in)
{
	uint8_t d[MOST + 60], pay[MOST], rest[4 + QUOTE] = { 0 };
	unsigned what = fuzz_byte(in), how = fuzz_byte(in);
	uint32_t n = fuzz_byte(in) * 2u, src = peer(what), quoted;

	nf_fill(pay, n, what);
	if (what & 8)
		n = nf_udp(d, src, 1234, NF_US, (uint16_t)(9000 + how), pay, n);
	else
		n = nf_ip(d, &(struct nf_ip){ .src = src, .dst = what & 16 ? BCAST : 0, .proto = 99 }, pay, n);
	quoted = n < QUOTE ? n : QUOTE;
	memcpy(rest + 4, d, quoted);
	nf_forget_drops(&f);
	shape(how, d, n);
	fuzz_must(nf_drops(&f) == 1 ? NULL : "a datagram to nobody is not dropped, once");
	if (!(what & 16) || (what & 8))
		left(src, 3, what & 8 ? 3 : 2, rest, 4 + quoted);
	fuzz_must(nf_nsent(&f) == 0 ? NULL : "who sent to everybody is told that somebody is not there");
}

static void step(struct fuzz_in *in)
{
	switch (fuzz_byte(in) % 8) {
	case 0: case 1: case 2: error(in); break;
	case 3: any(in); break;
	case 4: case 5: echo(in); break;
	case 6: nobody(in); break;
	default: pf_run(&f, (1 + fuzz_byte(in)) * 10 * XK_SEC);
	}
}

/* ---- inputs --------------------------------------------------------------------------------------------- */

static void opens(unsigned mask)
{
	for (unsigned k = 0; k < KINDS; k++)
		for (unsigned i = 0; i < PEERS; i++) {
			mtu[k][i] = MTU;
			sess[k][i] = mask >> (2 * k + i) & 1 ?
				     nf_open(&f, who[k], 0, peer(i), k == 0 ? rport(i) : 0, 0, k != 2 ? lport(i) : 0, NULL) : NULL;
			fuzz_must((mask >> (2 * k + i) & 1) && sess[k][i] == NULL ? "a session is refused" : NULL);
		}
}

static void ends(void)
{
	for (unsigned k = 0; k < KINDS; k++)
		for (unsigned i = 0; i < PEERS; i++)
			if (sess[k][i] != NULL)
				pf_close(&f, 0, sess[k][i]);
	pf_run(&f, LONG);
	fuzz_must(pf_sessions(&f, "icmp") == 0 && pf_sessions(&f, "udp") == 0 && pf_sessions(&f, "ip") == ip_sessions ? NULL :
		  "a session is left");
	fuzz_must(pf_buffers(&f) == buffers ? NULL : "a buffer is left");
}

static void down(void)
{
	nf_down(&f);
}

static void up(void)
{
	nf_up(&f, &(struct nf_conf){ .icmp = "rate=1000000000; burst=1000000; quote=256" });
	icmp = pf_rep(&f, "icmp", 0);
	echoer = pf_upper_of(&f, "echoer");
	ip_sessions = pf_sessions(&f, "ip");
	buffers = pf_buffers(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = { data, data + size };

	fuzz_graph_up(&f, up, down);
	opens(fuzz_byte(&in));
	for (unsigned steps = 0; fuzz_more(&in) && steps < STEPS; steps++)
		step(&in);
	ends();
	return 0;
}
