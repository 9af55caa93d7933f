/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_tcp.c - fuzz target of TCP: a peer that may say anything on a connection in any of its states.
 *
 * The first byte names a setup of tests/mutate/mut.h (the eleven states, and states with something in hand), the second
 * where numbers begin.  Then come steps: segments by their distance from what the connection waits for, with options
 * byte by byte, frames with bytes changed, ICMP errors with a quote, calls of the application, time.  All checksums
 * that can be right are.
 * Held to, after every step: mut_check (numbers in order, queues as long as numbers say, the application has exactly
 * the bytes that its numbers name, caps, deadlines); every frame taken or dropped for a reason, once; a frame that lies
 * about lengths changes nothing, nor does a segment from outside the window.  At the end: sessions, handshakes and
 * buffers are back, and, if the input asks for it, a fresh connection moves 64 KiB there and back.
 * Invariant: nothing is kept from one input to the next but the graph, which is idle.
 */
#include <string.h>

#include "tests/fuzz/fuzz_in.h"
#include "tests/mutate/mut.h"
#include "runtime/upi/xk_inline.h"

#define STEPS 64u
#define TRANSFER 0xf0u                   /* of the second byte: a fresh connection at the end */
#define FRAME_BYTES 100u                 /* of those that a change may hit: headers */

/* ---- steps ------------------------------------------------------------------------------------ */

/* A number near one of those that mean something. */
static uint32_t near(struct fuzz_in *in, const uint32_t *of, unsigned n)
{
	unsigned which = fuzz_byte(in);
	uint32_t base = of[which % n];

	switch (which / n % 4) {
	case 0:  return base;
	case 1:  return base + (uint32_t)(int8_t)fuzz_byte(in);
	case 2:  return base + (uint32_t)(int16_t)fuzz_word(in);
	default: return base + fuzz_long(in);
	}
}

static void segment(struct fuzz_in *in, const struct mut_conn *c, struct mut_spec *s)
{
	const uint32_t seqs[] = { c->nxt, c->irs, c->right }, acks[] = { c->max, c->una, c->iss };
	const uint8_t *opt;

	*s = (struct mut_spec){ .kind = MUT_TCP, .sport = c->sport, .dport = c->dport };
	s->flags = (uint16_t)fuzz_byte(in);
	s->seq = near(in, seqs, XK_ARRAY_LEN(seqs));
	s->ack = near(in, acks, XK_ARRAY_LEN(acks));
	s->wnd = (uint16_t)fuzz_word(in);
	s->len = fuzz_word(in) % 1461;
	if (s->flags & TCP_URG)
		s->urp = (uint16_t)fuzz_word(in);
	s->nopt = fuzz_byte(in) % 42;
	if (s->nopt == 41) {             /* as its connection would have them */
		s->nopt = s->flags & TCP_SYN ? mut_syn_options(s->opt, c) : mut_ts_option(s->opt, c->tsval + 1, c->tsecr);
		return;
	}
	s->nopt = fuzz_some(in, &opt, s->nopt);
	memcpy(s->opt, opt, s->nopt);
	s->nopt = (s->nopt + 3) / 4 * 4;
}

static void error(struct fuzz_in *in, const struct mut_conn *c, struct mut_spec *s)
{
	const uint32_t seqs[] = { c->una, c->max, c->iss };

	*s = (struct mut_spec){ .kind = MUT_ICMP_ERROR, .sport = c->sport, .dport = c->dport };
	s->type = (uint8_t)fuzz_byte(in);
	s->code = (uint8_t)fuzz_byte(in);
	s->rest = fuzz_long(in);
	s->quote = fuzz_byte(in) % 49;
	s->seq = near(in, seqs, XK_ARRAY_LEN(seqs));
}

/* Bytes of the headers, anywhere, before sums are made. */
static void change(struct fuzz_in *in, struct mut_frame *f)
{
	for (unsigned n = fuzz_byte(in) % 4 + 1; n != 0; n--) {
		uint32_t at = f->l3 + fuzz_byte(in) % FRAME_BYTES;

		if (at < f->end)
			f->b[at] = (uint8_t)fuzz_byte(in);
	}
}

static void give(struct mut_frame *f)
{
	struct mut_counts was, is;

	mut_forget();
	mut_counts_read(&was);
	mut_in(f->b, f->n);
	mut_counts_read(&is);
	fuzz_must(mut_accounts(&was, &is, f));
	if (!mut_is_fragment(f) && mut_lies(f) && (is.drops != was.drops + 1 || is.taken != was.taken))
		fuzz_must("a frame that lies was not dropped");
}

/* What a segment from nowhere near the window must leave as it is (RFC 9293 3.10.7.4). */
struct numbers { unsigned state; uint32_t rcv_nxt, snd_una; };

static bool numbers_of(const struct mut_conn *c, struct numbers *n)
{
	const struct tcp_cb *cb = c->e != NULL && c->e->s != NULL ? mut_cb(c->e) : NULL;

	if (cb == NULL || cb->state < TCP_S_ESTABLISHED || cb->state >= TCP_S_TIME_WAIT)
		return false;
	*n = (struct numbers){ cb->state, cb->rcv_nxt, cb->snd_una };
	return true;
}

static bool is_outside(const struct mut_conn *c, const struct mut_spec *s)
{
	uint32_t end = s->seq + s->len + !!(s->flags & TCP_SYN) + !!(s->flags & TCP_FIN);

	return tcp_gt(s->seq, c->right) || tcp_lt(end + 1, c->nxt);
}

static void changed_nothing(const struct mut_conn *c, const struct numbers *was)
{
	struct numbers is;

	if (!numbers_of(c, &is) || is.state != was->state || is.rcv_nxt != was->rcv_nxt || is.snd_una != was->snd_una)
		fuzz_must("a segment from outside the window has changed something");
}

static void frame(struct fuzz_in *in, const struct mut_conn *c, bool is_error, bool changed)
{
	static struct mut_frame f;
	struct numbers was = { 0 };
	struct mut_spec s;
	bool stands = numbers_of(c, &was);

	if (is_error)
		error(in, c, &s);
	else
		segment(in, c, &s);
	mut_build(&f, &s, false);
	if (changed) {
		change(in, &f);
		mut_finish(&f, &s, true);
	}
	give(&f);
	if (stands && !is_error && !changed && is_outside(c, &s))
		changed_nothing(c, &was);
	if (stands && numbers_of(c, &was) && tcp_gt(was.rcv_nxt, c->right + 1))
		fuzz_must("more was taken than there was room for");
}

static void call(struct fuzz_in *in, struct mut_conn *c)
{
	unsigned what = fuzz_byte(in) % 4;
	uint32_t n = fuzz_word(in);

	if (c->e == NULL || c->e->s == NULL)
		return;
	if (what < 2) {
		if (!c->e->failed && (mut_cb(c->e)->flags & (TCP_F_FIN_QUEUED)) == 0)
			mut_push(c->e, n + 1);
	} else if (what == 2) {
		mut_control(c->e, XK_STREAM_SHUTDOWN, 0);
	} else {
		mut_control(c->e, TCP_CTL_NODELAY, n & 1);
	}
}

static void step(struct fuzz_in *in, struct mut_conn *c)
{
	unsigned what = fuzz_byte(in) % 8;

	mut_conn_read(c);
	if (what < 4)
		frame(in, c, false, what == 3);
	else if (what < 6)
		frame(in, c, true, what == 5);
	else if (what == 6)
		call(in, c);
	else
		pf_run(&mut_f, (xk_ns)(1 + fuzz_byte(in)) * (fuzz_byte(in) & 1 ? XK_SEC : 10 * XK_MS));
	fuzz_must(mut_check());
}

/* ---- inputs -------------------------------------------------------------------------------------- */

static void nothing_is_left(uint64_t buffers)
{
	struct mut_counts c;

	mut_pass_time();
	mut_counts_read(&c);
	if (c.half != 0 || pf_sessions(&mut_f, "tcp") != 0)
		fuzz_must("a handshake or a session is left after twenty minutes");
	if (pf_sessions(&mut_f, "ip") != 0)
		fuzz_must("sessions of IP are left after twenty minutes");
	if (mut_buffers() != buffers)
		fuzz_must("buffers are left after twenty minutes");
}

static const char *now;                  /* parameters of the graph that is up */

static void down(void)
{
	if (now != NULL)
		mut_down();
}

static void up(const char *params)
{
	static bool first = true;

	if (first && atexit(down) != 0)
		abort();
	first = false;
	if (now != NULL && strcmp(now, params) == 0)
		return;
	down();
	now = params;
	mut_up(false, params);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = { data, data + size };
	enum mut_setup setup = (enum mut_setup)(fuzz_byte(&in) % MUT_NSETUPS);
	unsigned where = fuzz_byte(&in);
	struct mut_conn c;
	uint64_t buffers;

	up(mut_setup_params(setup));
	buffers = mut_buffers();
	if (!mut_setup(&c, setup, 5002, where & 1 ? 0xffffff00u + where : where * 2654435761u))
		fuzz_must("the connection does not get to its state");
	for (unsigned steps = 0; fuzz_more(&in) && steps < STEPS; steps++)
		step(&in, &c);
	mut_conn_end(&c);
	nothing_is_left(buffers);
	if (where >= TRANSFER)
		fuzz_must(mut_transfer(5002));
	return 0;
}
