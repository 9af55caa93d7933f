/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_arp.c - fuzz target of address resolution: whoever says what, sessions send to stations that hosts have named.
 *
 * An input is steps: a packet of any fields, any length; a message pushed on a session to a neighbour, a group, a
 * broadcast; sessions opened and closed; progress and doubt as a transport tells them; time.  The table has room for
 * fewer neighbours than there are.
 * Held to, after every step: a packet is taken or dropped for the reason that a plain reading of arp.md names, once; a
 * request for one of our addresses is answered, once, with the right bytes, and nothing else is; entries are no more
 * than `cap`, of stations that their hosts have named in packets that may be believed, made by requests to us or by our
 * sessions alone; what a packet must not move stays (entries in use whose station was not asked of everybody, static
 * ones); of one host no two questions are nearer than `retry`.  Every message pushed is sent, in order, once, to such a
 * station, or waits, or is a drop that is counted; at the end none waits, and sessions and buffers are back.
 * Invariant: nothing is kept from one input to the next but the graph: the table is emptied in place.
 */
#include "tests/fuzz/fuzz_arp.h"
#include "tests/fuzz/fuzz_graphs.h"

/* ---- steps ------------------------------------------------------------------------------------------- */

/* A packet at p of n bytes from a neighbour; its choices are the input's. */
static uint32_t make(struct fuzz_in *in, uint8_t *b)
{
	static const uint8_t from[6] = { 2, 0, 0, 0, 7, 7 };
	unsigned what = fuzz_byte(in);
	struct pkt p = packet(what & 2 ? everybody : me, what & 1 ? 1 : 2, from, 0, from, 0);
	uint32_t n = 28;

	station(fuzz_byte(in), p.b + 22);
	xk_put_be32(p.b + 28, address(fuzz_byte(in)));
	station(what >> 4, p.b + 32);
	xk_put_be32(p.b + 38, address(fuzz_byte(in)));
	if (what & 4)
		for (unsigned k = fuzz_byte(in) % 3 + 1; k != 0; k--) {
			unsigned at = fuzz_byte(in) % 28;

			p.b[14 + at] = (uint8_t)fuzz_byte(in);
		}
	if (what & 8)
		n = fuzz_byte(in) % 47;
	memcpy(b, p.b, sizeof p.b);
	return n;
}

/* The answer to request q, byte by byte. */
static void right_answer(const uint8_t *a, const uint8_t *q)
{
	static const uint8_t head[8] = { 0, 1, 8, 0, 6, 4, 0, 2 };

	if (memcmp(a, q + 8, 6) != 0 || memcmp(a + 14, head, 8) != 0 || memcmp(a + 22, me, 6) != 0 ||
	    memcmp(a + 28, q + 24, 4) != 0 || memcmp(a + 32, q + 8, 6) != 0 || memcmp(a + 38, q + 14, 4) != 0)
		fuzz_must("an answer has wrong bytes");
}

static uint64_t all_drops(void)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < XK_DROPS_MAX; i++)
		n += xk_counter_read(arp->drop[i]);
	return n;
}

static void say(struct fuzz_in *in)
{
	uint8_t b[sizeof(struct pkt)];
	uint32_t n = make(in, b), spa = xk_be32(b + 28);
	const uint8_t *p = b + 14, *answer;
	unsigned why = reading(p, n), answers;
	bool request = p[7] == 1, for_us = why == 0 && request && is_ours(xk_be32(p + 24));
	uint64_t drops = all_drops(), of_why = xk_counter_read(arp->drop[why]);

	if (why == 0 && spa != 0) {
		claim[nclaims] = (struct claim){ .host = spa, .for_us = for_us };
		memcpy(claim[nclaims++].mac, p + 8, 6);
	}
	firm_ones();
	pf_inject(&f, "drv", 0, b, 14 + n);
	if (all_drops() != drops + (why != 0) || (why != 0 && xk_counter_read(arp->drop[why]) != of_why + 1))
		fuzz_must("a packet is taken that should be dropped, or dropped for another reason");
	answers = look(&answer);
	fuzz_must(answers == for_us ? NULL : for_us ? "a request to us has no answer, or two" : "an answer that nobody asked for");
	if (for_us)
		right_answer(answer, p);
	still_firm();
}

static void push(unsigned i)
{
	uint8_t b[5] = { (uint8_t)i };

	if (slot[i] == NULL)
		return;
	xk_put_be32(b + 1, ++of[i].pushed);
	pf_push(&f, 0, slot[i], b, sizeof b);
}

static void open_or_close(unsigned i)
{
	if (slot[i] != NULL) {
		pf_close(&f, 0, slot[i]);
		slot[i] = NULL;
		return;
	}
	slot[i] = pf_open_host(&f, "up", 0, slot_host(i), NULL);
	fuzz_must(slot[i] != NULL ? NULL : "a session is refused");
}

static void tell(unsigned i, unsigned op)
{
	if (slot[i] == NULL)
		return;
	pf_enter(&f, 0);
	xk_sess_control(slot[i], op, NULL, 0);
	pf_leave(&f, 0);
	pf_settle(&f);
}

static void wait(unsigned how)
{
	static const xk_ns unit[] = { XK_MS, 100 * XK_MS, XK_SEC, 60 * XK_SEC };

	pf_run(&f, (1 + how / 4) * unit[how % 4]);
}

static void step(struct fuzz_in *in)
{
	unsigned what = fuzz_byte(in), i = what / 8 % SLOTS;

	switch (what % 8) {
	case 0: case 1: case 2:
		say(in);
		break;
	case 3:
		push(i);
		break;
	case 4:
		open_or_close(i);
		break;
	case 5:
		tell(i, what & 128 ? XK_CTL_REACHED : XK_CTL_DOUBT);
		break;
	default:
		wait(fuzz_byte(in));
	}
	no_answers();
	table();
}

/* ---- inputs -------------------------------------------------------------------------------------------- */

static uint64_t lost(void)
{
	return xk_counter_read(arp->drop[ARP_DROP_QUEUE]) + xk_counter_read(arp->drop[ARP_DROP_UNREACHABLE]) +
	       xk_counter_read(arp->drop[ARP_DROP_CLOSED]);
}

static void ends(uint64_t lost_before)
{
	uint64_t pushed = 0, sent = 0;

	for (unsigned i = 0; i < SLOTS; i++)
		if (slot[i] != NULL)
			open_or_close(i);
	pf_run(&f, LONG);
	no_answers();
	for (unsigned i = 0; i < SLOTS; i++) {
		pushed += of[i].pushed;
		sent += of[i].sent;
	}
	fuzz_must(pushed == sent + lost() - lost_before ? NULL : "a message is neither sent nor a drop, or both");
	fuzz_must(pf_sessions(&f, "arp") == 0 && pf_sessions(&f, "eth") == link_sessions ? NULL : "a session is left");
	fuzz_must(pf_buffers(&f) == buffers ? NULL : "a buffer is left");
}

static void down(void)
{
	pf_down(&f);
}

static void up(void)
{
	static const struct pf_spec g[] = { DRV, { &xk_proto_arp, "arp", "eth",
		"addresses=10.0.0.1/8,10.0.0.99/8; neighbours=10.0.0.10=02:00:00:00:05:05; cap=6; queue=3" }, UP, END };

	pf_up(&f, 1, g);
	arp = pf_rep(&f, "arp", 0);
	xk_log_set(&pf_node(&f, "arp")->log, 0);         /* conflicts are what we ask for */
	link_sessions = pf_sessions(&f, "eth");
	buffers = pf_buffers(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = { data, data + size };
	struct arp_conf *c;
	unsigned how = fuzz_byte(&in);
	uint64_t before;

	fuzz_graph_up(&f, up, down);
	c = arp->conf;
	c->learn = how & 1;
	c->probes = how / 2 % 4;
	memset(of, 0, sizeof of);
	nclaims = 0;
	before = lost();
	for (unsigned steps = 0; fuzz_more(&in) && steps < STEPS; steps++)
		step(&in);
	ends(before);
	forget();
	return 0;
}
