/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_flags.c - the table of states and flags: every combination of the six flags in
 * every state, with sequence numbers and acknowledgements on both sides of every
 * edge, with text and without, against what RFC 9293 says.
 *
 * Where the host does something else than the text, a row of `choices` says so, with
 * the section that allows it or the document that asks for it; a row that
 * nothing needs is a failure, too.
 */
#include <stdio.h>

#include "tests/mutate/mut.h"
#include "tests/support/xk_test.h"
#include "runtime/upi/xk_inline.h"

/* None; two, one of which is old where the segment overlaps; more. */
static const uint32_t texts[] = { 0, 2, 5 };

enum place { EXACT, INSIDE, BEFORE, BEHIND, OLD_SYN, OVERLAP, PLACES };
enum acked { ALL, NONE, NEVER_SENT, TOO_OLD, OLD, ACKEDS };
static const char *const place_name[] = { "rcv_nxt", "in window", "before window", "behind window", "irs", "rcv_nxt-1" };
static const char *const acked_name[] = { "snd_nxt", "snd_una", "snd_nxt+1", "too old", "snd_una-1" };
static const char *const answer_name[] = { "nothing", "ACK", "RST", "SYN-ACK" };


/* ---- where the host chooses ------------------------------------------------------------- */

#define ANY 0xffu
#define P(p) (1u << (p))
struct choice {
	enum mut_setup setup;
	uint16_t set, clear;             /* flags that are, that are not */
	unsigned places, ackeds;         /* as bits */
	enum mut_answer answer;
	unsigned state;
	const char *why;
};
static const struct choice choices[] = {
	{ MUT_listen, TCP_SYN | TCP_FIN, TCP_RST | TCP_ACK, ANY, ANY, MUT_SILENCE, TCP_S_LISTEN,
	  "a SYN with FIN: the only protocol that sent it (T/TCP) is historic, RFC 6247" },
	{ MUT_syn_received, TCP_SYN, TCP_RST, P(EXACT) | P(INSIDE) | P(OLD_SYN) | P(OVERLAP), ANY, MUT_ACKS, TCP_S_SYN_RCVD,
	  "RFC 5961 4: a SYN in the window may be blind, and does not end a handshake; 9293 3.10.7.4 would go back to LISTEN" },
	{ MUT_syn_received, TCP_SYN, TCP_RST | TCP_ACK | TCP_FIN, P(OLD_SYN) | P(OVERLAP), ANY, MUT_SYN_ACKS, TCP_S_SYN_RCVD,
	  "9293 3.10.7.4 first wants an ACK for the SYN that came before: the SYN-ACK is one, and may have been lost" },
	{ MUT_syn_received_both, TCP_SYN, TCP_RST | TCP_ACK, P(OLD_SYN) | P(OVERLAP), ANY, MUT_SYN_ACKS, TCP_S_SYN_RCVD,
	  "as above" },
	{ MUT_close_wait, TCP_ACK, TCP_RST | TCP_SYN | TCP_FIN, ANY, ANY, MUT_ACKS, TCP_S_CLOSE_WAIT,
	  "text behind the peer's FIN: 9293 3.10.7.4 seventh ignores it, here it is answered like what is not acceptable (first)" },
	{ MUT_last_ack, TCP_ACK, TCP_RST | TCP_SYN | TCP_FIN, ANY, ANY, MUT_ACKS, TCP_S_LAST_ACK, "as above" },
	{ MUT_closing, TCP_ACK, TCP_RST | TCP_SYN, ANY, P(NONE) | P(OLD), MUT_ACKS, TCP_S_CLOSING, "as above" },
	{ MUT_established_full, 0, TCP_RST | TCP_SYN | TCP_ACK, P(EXACT) | P(OVERLAP), ANY, MUT_SILENCE, TCP_S_ESTABLISHED,
	  "9293 3.10.7.4 first lets it into a closed window for the sake of its ACK; it has none, so fifth drops it" },
	{ MUT_established_full, TCP_FIN | TCP_ACK, TCP_RST | TCP_SYN, P(EXACT), P(ALL) | P(NONE) | P(OLD), MUT_ACKS, TCP_S_CLOSE_WAIT,
	  "a FIN takes no room, so a closed window (9293 3.8.6) does not keep it out" },
};
static unsigned used[XK_ARRAY_LEN(choices)];

/* ---- one segment -------------------------------------------------------------------------- */

struct one { enum mut_setup setup; uint16_t flags; enum place place; enum acked acked; uint32_t len; };

static void model_of(const struct mut_conn *c, struct mut_model *m)
{
	*m = (struct mut_model){
		.state = mut_setup_state(c->setup), .passive = c->setup == MUT_syn_received,
		.snd_una = c->una, .snd_nxt = c->max, .max_snd_wnd = c->max_wnd, .iss = c->iss,
		.rcv_nxt = c->nxt, .rcv_wnd = c->right - c->nxt, .irs = c->irs,
	};
}

static void event_of(const struct one *o, const struct mut_model *m, struct mut_event *g)
{
	const uint32_t seq[PLACES] = {
		[EXACT] = m->rcv_nxt, [INSIDE] = m->rcv_nxt + 10, [BEFORE] = m->rcv_nxt - 100,
		[BEHIND] = m->rcv_nxt + m->rcv_wnd + 100, [OLD_SYN] = m->irs, [OVERLAP] = m->rcv_nxt - 1,
	};
	const uint32_t ack[ACKEDS] = {
		[ALL] = m->snd_nxt, [NONE] = m->snd_una, [NEVER_SENT] = m->snd_nxt + 1,
		[TOO_OLD] = m->snd_una - m->max_snd_wnd - 1, [OLD] = m->snd_una - 1,
	};

	*g = (struct mut_event){ .seq = seq[o->place], .ack = ack[o->acked], .len = o->len, .flags = o->flags };
}

/* What the connection is now; a listener's may have become one only now. */
static unsigned state_now(const struct mut_conn *c, struct mut_end **e)
{
	struct mut_counts n;

	*e = c->e;
	for (unsigned i = 0; *e == NULL && i < MUT_ENDS; i++)
		if (mut_end[i].s != NULL)
			*e = &mut_end[i];
	mut_counts_read(&n);
	if (n.half != 0)
		return TCP_S_SYN_RCVD;
	if (*e != NULL)
		return mut_cb(*e)->state;
	return c->setup == MUT_closed ? TCP_S_CLOSED : TCP_S_LISTEN;
}

/* Everything that left is one answer, or nothing. */
static void observe(const struct mut_conn *c, uint64_t got, struct mut_verdict *v)
{
	struct mut_end *e;
	struct mut_out o;

	*v = (struct mut_verdict){ .state = state_now(c, &e) };
	if (e != NULL) {
		v->text = (uint32_t)(e->got - got);
		v->told = e->failed;
		v->later = mut_cb(e)->state != TCP_S_CLOSED && (mut_cb(e)->flags & TCP_F_ACK_LATER);
	}
	CU_ASSERT(mut_nout() <= 1);
	if (!mut_last(&o))
		return;
	v->seq = o.seq;
	v->ack = o.flags & TCP_ACK ? o.ack : 0;
	v->answer = o.flags & TCP_RST ? MUT_RESETS : o.flags & TCP_SYN ? MUT_SYN_ACKS : MUT_ACKS;
}

static bool same_answer(const struct mut_verdict *is, const struct mut_verdict *must, bool fresh_iss)
{
	if (must->later && is->answer == MUT_SILENCE)
		return is->later;
	if (is->answer != must->answer || is->ack != must->ack)
		return is->answer == MUT_SILENCE && must->answer == MUT_SILENCE;
	return is->answer == MUT_SILENCE || fresh_iss || is->seq == must->seq;
}

/* News of a reset: both ends had ended in the last three states, where the text is silent. */
static bool same(const struct mut_verdict *is, const struct mut_verdict *must, unsigned from)
{
	bool told = from == TCP_S_CLOSING || from == TCP_S_LAST_ACK || from == TCP_S_TIME_WAIT || is->told == must->told;

	return told && is->state == must->state && is->text == must->text &&
	       same_answer(is, must, must->answer == MUT_SYN_ACKS && from != TCP_S_SYN_SENT);
}

static bool is_choice(const struct one *o, const struct mut_verdict *is)
{
	for (unsigned i = 0; i < XK_ARRAY_LEN(choices); i++) {
		const struct choice *c = &choices[i];

		/* No choice is to answer what takes no sequence numbers: two hosts would never stop. */
		if (c->setup != o->setup || (o->len == 0 && !(o->flags & (TCP_SYN | TCP_FIN))) ||
		    (o->flags & c->set) != c->set || (o->flags & c->clear) != 0 ||
		    !(c->places & P(o->place)) || !(c->ackeds & P(o->acked)) || c->answer != is->answer || c->state != is->state ||
		    is->text != 0)
			continue;
		used[i]++;
		return true;
	}
	return false;
}

static void print_verdict(const char *who, const struct mut_verdict *v)
{
	printf("#   %s %s%s seq %u ack %u, %s, %u bytes%s\n", who, answer_name[v->answer], v->later ? " (may wait)" : "", v->seq,
	       v->ack, tcp_state_name(v->state), v->text, v->told ? ", told" : "");
}

static void complain(const struct one *o, const struct mut_verdict *is, const struct mut_verdict *must)
{
	static const char letters[] = "FSRPAU";
	char flags[7], *f = flags;

	for (unsigned i = 0; i < 6; i++)
		if (o->flags >> i & 1)
			*f++ = letters[i];
	*f = '\0';
	printf("# %s, flags [%s], seq %s, ack %s, %u bytes:\n", mut_setup_name(o->setup), flags, place_name[o->place],
	       acked_name[o->acked], o->len);
	print_verdict("text:", must);
	print_verdict("host:", is);
}

static void give(const struct mut_conn *c, const struct mut_event *g)
{
	struct mut_spec s = { .kind = MUT_TCP, .sport = c->sport, .dport = c->dport, .seq = g->seq, .ack = g->ack,
			      .flags = g->flags, .wnd = 65535, .len = g->len, .urp = (uint16_t)g->len };

	if (c->ts)
		s.nopt = mut_ts_option(s.opt, c->tsval, c->tsecr);
	mut_forget();
	mut_give(&s);
}

/* RFC 6191, 9293 MAY-2: a connection in TIME-WAIT gives way to a SYN that is new. */
static bool begins_anew(const struct one *o, const struct mut_event *g, const struct mut_model *m, const struct mut_verdict *is)
{
	return o->setup == MUT_time_wait && (g->flags & (TCP_SYN | TCP_ACK | TCP_RST | TCP_FIN)) == TCP_SYN &&
	       (o->place == INSIDE || o->place == BEHIND) && is->answer == MUT_SYN_ACKS && is->ack == g->seq + 1 &&
	       is->state == TCP_S_SYN_RCVD && m->state == TCP_S_TIME_WAIT;
}

static bool try_one(const struct one *o, uint16_t port)
{
	struct mut_verdict must, is;
	struct mut_model m;
	struct mut_event g;
	struct mut_conn c;
	const char *why;
	uint64_t got;
	bool good;

	if (!mut_setup(&c, o->setup, port, 0xfffffff0u))
		return false;
	got = c.e != NULL ? c.e->got : 0;
	model_of(&c, &m);
	event_of(o, &m, &g);
	mut_oracle(&m, &g, &must);
	give(&c, &g);
	observe(&c, got, &is);
	good = same(&is, &must, m.state) || begins_anew(o, &g, &m, &is) || is_choice(o, &is);
	if (!good)
		complain(o, &is, &must);
	why = mut_check();
	if (why != NULL)
		printf("# %s\n", why);
	/* What a SYN has begun goes by its own number. */
	mut_segment(&c, g.seq + 1, 0, TCP_RST, 0);
	mut_segment(&c, c.irs + 1, 0, TCP_RST, 0);
	mut_conn_end(&c);
	return good && why == NULL;
}

/* ---- the table -------------------------------------------------------------------------------- */

static void all_flags_in(enum mut_setup s)
{
	unsigned bad = 0, n = 0;
	struct one o = { .setup = s };

	mut_up(false, mut_setup_params(s));
	for (o.flags = 0; o.flags < 64; o.flags++)
		for (o.place = 0; o.place < PLACES; o.place++)
			for (o.acked = 0; o.acked < ACKEDS; o.acked++)
				for (unsigned t = 0; t < XK_ARRAY_LEN(texts); t++) {
					o.len = texts[t];
					bad += bad < 20 && !try_one(&o, (uint16_t)(2000 + 4 * n++));
				}
	mut_down();
	CU_ASSERT_EQUAL(bad, 0);
}

#define STATE_TEST(name, state, tcp) static void flags_in_##name(void) { all_flags_in(MUT_##name); }
#define TABLE(X) \
	X(closed, 0, 0) X(listen, 0, 0) X(syn_sent, 0, 0) X(syn_received, 0, 0) X(syn_received_both, 0, 0) \
	X(established, 0, 0) X(fin_wait_1, 0, 0) X(fin_wait_2, 0, 0) X(close_wait, 0, 0) X(closing, 0, 0) \
	X(last_ack, 0, 0) X(time_wait, 0, 0) X(established_full, 0, 0)
TABLE(STATE_TEST)

static void every_choice_is_one_that_is_made(void)
{
	for (unsigned i = 0; i < XK_ARRAY_LEN(choices); i++)
		if (used[i] == 0) {
			printf("# nothing needs: %s\n", choices[i].why);
			CU_FAIL("a choice that nothing needs");
		}
}

static CU_TestInfo tests[] = {
#define STATE_ROW(name, state, tcp) { "flags in " #name, flags_in_##name },
	TABLE(STATE_ROW)
	{ "every choice is one that is made", every_choice_is_one_that_is_made },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "states and flags", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	xk_rcu_register();
	return xk_test_main(suites);
}
