/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mut_run.c - cases by number: a connection is brought to its state, one message
 * comes, everything is looked at, all is given back.
 *
 * The cases of a setup are, in this order, every change of every base with its sums
 * repaired, so that it gets as far as it can; the fields again with the sums of the
 * message before, which must change nothing; and pairs of changes drawn from the
 * case's number.  After a group of them a fresh connection moves 64 KiB; after many
 * groups time passes and what ends by itself must have ended.
 *
 *   XK_MUTATE=established.17    runs that case alone (established.17-40: these)
 *   XK_MUTATE_EACH=1            the 64 KiB after every case
 */
#include "tests/mutate/mut.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/xk_test.h"
#include "runtime/upi/xk_inline.h"

#define PAIRS   1000u
#define GROUP   64u                      /* cases between transfers */
#define AGE     1024u                    /* cases between long waits */
#define HANG    300u                     /* s of a case, with any tool around it */

struct one {
	enum mut_setup setup;
	unsigned no, base;
	bool fddi, seal;
	unsigned nchanges;
	struct mut_change change[2];
};

/* ---- numbers ----------------------------------------------------------------------------- */

/* Messages whose fields are changed without their sums. */
static bool is_unsealed(unsigned base)
{
	const char *name = mut_base_name(base);

	return strcmp(name, "data") == 0 || strcmp(name, "udp") == 0 || strcmp(name, "echo-request") == 0;
}

static unsigned singles(bool fddi, bool unsealed)
{
	unsigned n = 0;

	for (unsigned b = 0; b < mut_nbases(); b++)
		n += !unsealed || is_unsealed(b) ? mut_nchanges(b, fddi) : 0;
	return n;
}

unsigned mut_ncases(bool fddi)
{
	return singles(fddi, false) + singles(fddi, true) + PAIRS;
}

static void take_single(struct one *o, unsigned no)
{
	for (o->base = 0; o->base < mut_nbases(); o->base++) {
		unsigned n = o->seal || is_unsealed(o->base) ? mut_nchanges(o->base, o->fddi) : 0;

		if (no < n)
			break;
		no -= n;
	}
	o->change[0] = mut_change_at(o->base, o->fddi, no);
	o->nchanges = 1;
}

static void take_pair(struct one *o, unsigned no)
{
	struct xk_rand r;
	unsigned n;

	xk_rand_init(&r, no + 1, (uint64_t)o->setup + 0x6d7574);
	o->base = (unsigned)xk_rand_below(&r, mut_nbases());
	n = mut_nchanges(o->base, o->fddi);
	o->change[0] = mut_change_at(o->base, o->fddi, (unsigned)xk_rand_below(&r, n));
	do
		o->change[1] = mut_change_at(o->base, o->fddi, (unsigned)xk_rand_below(&r, n));
	while (mut_change_same_field(o->change[0], o->change[1]));
	o->nchanges = 2;
}

static void take(struct one *o, enum mut_setup s, bool fddi, unsigned no)
{
	unsigned sealed = singles(fddi, false), all = sealed + singles(fddi, true);

	*o = (struct one){ .setup = s, .no = no, .fddi = fddi, .seal = no < sealed || no >= all };
	if (no < sealed)
		take_single(o, no);
	else if (no < all)
		take_single(o, no - sealed);
	else
		take_pair(o, no - all);
}

/* ---- telling which one it was ---------------------------------------------------------------- */

static char current[400];                /* how to run the case that runs, for whoever ends us */

static void describe(const struct one *o)
{
	char text[2][80] = { "", "" };

	for (unsigned i = 0; i < o->nchanges; i++)
		mut_change_print(o->change[i], text[i], sizeof text[i]);
	snprintf(current, sizeof current, "# XK_MUTATE=%s.%u%s: %s, %s%s%s, sums %s\n", mut_setup_name(o->setup), o->no,
		 o->fddi ? " on FDDI" : "", mut_base_name(o->base), text[0], text[1][0] ? ", " : "", text[1],
		 o->seal ? "repaired" : "as before");
}

static void last_words(void)
{
	ssize_t ignored = write(STDOUT_FILENO, current, strlen(current));

	(void)ignored;
}

static void died(int sig)
{
	last_words();
	signal(sig, SIG_DFL);
	raise(sig);
}

void __sanitizer_set_death_callback(void (*fn)(void)) __attribute__((weak));

/* Asked by the library of the undefined-behaviour sanitizer: it ends us by a signal. */
const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
	return "abort_on_error=1:print_stacktrace=1";
}

static void prepare_for_the_worst(void)
{
	static const int fatal[] = { SIGABRT, SIGALRM, SIGFPE, SIGILL, SIGBUS, SIGSEGV };

	if (__sanitizer_set_death_callback != NULL)
		__sanitizer_set_death_callback(last_words);
	/* The sanitizer wants the last two for itself. */
	for (unsigned i = 0; i < XK_ARRAY_LEN(fatal) - (__sanitizer_set_death_callback != NULL ? 2 : 0); i++)
		signal(fatal[i], died);
}

/* ---- one case ------------------------------------------------------------------------------------ */

static void make(struct mut_frame *f, const struct one *o, const struct mut_conn *c)
{
	struct mut_spec s;

	mut_base(&s, c, o->base);
	for (unsigned i = 0; i < o->nchanges; i++)
		mut_change_shape(&s, c, o->change[i]);
	mut_build(f, &s, o->fddi);
	for (unsigned i = 0; i < o->nchanges; i++)
		mut_change_field(f, c, o->change[i]);
	mut_finish(f, &s, o->seal);
}

/* A message whose sum or length is wrong is nobody's, whatever else it says. */
static const char *was_ignored(const struct mut_counts *was, const struct mut_counts *is, const struct mut_conn *c,
			       const struct tcp_cb *before, bool may_tell)
{
	struct mut_out o;

	if (is->drops != was->drops + 1 || is->taken != was->taken || is->half != was->half)
		return "a damaged frame was not dropped";
	/* By IP at most (RFC 1122 3.2.2.5), when its header's sum is right. */
	if (mut_last(&o) || (mut_nout() != 0 && !may_tell))
		return "a damaged frame was answered";
	return c->e == NULL || memcmp(before, mut_cb(c->e), sizeof *before) == 0 ? NULL : "a damaged frame has changed something";
}

/* c is as the peer knew it before: nothing but a FIN fits behind the edge. */
static bool overran(const struct mut_conn *c)
{
	const struct tcp_cb *cb = c->e != NULL && c->e->s != NULL ? mut_cb(c->e) : NULL;

	return cb != NULL && tcp_gt(cb->rcv_nxt, c->right + 1);
}

static const char *judge(const struct one *o, struct mut_conn *c, struct mut_tally *t)
{
	static struct mut_frame f;
	struct mut_counts was, is;
	struct tcp_cb before;
	const char *why;

	if (c->e != NULL)
		memcpy(&before, mut_cb(c->e), sizeof before);
	make(&f, o, c);
	mut_forget();
	mut_counts_read(&was);
	mut_in(f.b, f.n);
	mut_counts_read(&is);
	t->messages++;
	t->dropped += is.drops != was.drops;
	t->taken += is.drops == was.drops;
	why = mut_accounts(&was, &is, &f);
	if (why == NULL && !mut_is_fragment(&f) && (mut_lies(&f) || (!o->seal && !mut_sums_right(&f))))
		why = was_ignored(&was, &is, c, &before, o->seal);
	if (why == NULL && o->setup >= MUT_established && overran(c))
		why = "more was taken than there was room for";
	if (why == NULL)
		why = mut_check();
	return why != NULL ? why : mut_still_receives(c);
}

static const char *run_case(const struct one *o, struct mut_tally *t)
{
	/* Numbers begin anywhere, or just before they wrap. */
	uint32_t irs = o->no % 2 ? 0xffffffe0u - o->no % 64 : o->no * 2654435761u;
	struct mut_conn c;
	const char *why;

	/* Nobody's neighbour, for ports one off. */
	if (!mut_setup(&c, o->setup, (uint16_t)(5002 + o->no % 15000 * 4), irs))
		return "the connection does not get to its state";
	why = judge(o, &c, t);
	mut_conn_end(&c);
	if (why == NULL && pf_sessions(&mut_f, "tcp") != 0)
		why = "a session is left that nobody holds";
	return why;
}

/* ---- many ---------------------------------------------------------------------------------------------- */

/* What has been begun by mutated messages ends by itself, and gives back what it held. */
static const char *settle(uint64_t buffers)
{
	struct mut_counts c;

	mut_pass_time();
	mut_counts_read(&c);
	if (c.half != 0 || pf_sessions(&mut_f, "tcp") != 0)
		return "a handshake is left after twenty minutes";
	if (pf_sessions(&mut_f, "ip") != 0 || pf_sessions(&mut_f, "udp") != 0)
		return "sessions are left after twenty minutes";
	return mut_buffers() == buffers ? NULL : "buffers are left after twenty minutes";
}

static bool wanted(enum mut_setup s, unsigned *first, unsigned *last)
{
	const char *v = getenv("XK_MUTATE"), *name = mut_setup_name(s);
	size_t n = strlen(name);
	int got;

	if (v == NULL)
		return true;
	if (strncmp(v, name, n) != 0 || v[n] != '.')
		return false;
	got = sscanf(v + n, ".%u-%u", first, last);
	if (got == 1)
		*last = *first;
	return got >= 1;
}

static bool tell(const char *why, unsigned first)
{
	if (why == NULL)
		return true;
	printf("# FAILS: %s\n", why);
	last_words();
	printf("# should it pass alone: the cases from %u on\n", first);
	return false;
}

struct progress { unsigned no, first, step; uint64_t buffers; };

static const char *between(const struct progress *p, unsigned k, bool end, struct mut_tally *t)
{
	static uint16_t port;
	const char *why = NULL;

	if (end || k % GROUP == GROUP - 1 || getenv("XK_MUTATE_EACH") != NULL) {
		t->transfers++;
		port = (uint16_t)(port + 1) % 3000;
		why = mut_transfer((uint16_t)(1025 + port));
	}
	if (why == NULL && (end || k % AGE == AGE - 1))
		why = settle(p->buffers);
	return why;
}

bool mut_run_setup(enum mut_setup s, bool fddi, struct mut_tally *t)
{
	unsigned n = mut_ncases(fddi), last = n - 1, k = 0;
	struct progress p = { .step = n / (unsigned)xk_test_rounds(n) };
	bool ok = true;
	struct one o;

	if (!wanted(s, &p.first, &last) || p.first >= n)
		return true;
	prepare_for_the_worst();
	mut_up(fddi, mut_setup_params(s));
	p.buffers = mut_buffers();
	for (p.no = p.first; ok && p.no <= last && p.no < n; p.no += p.step, k++) {
		const char *why;

		take(&o, s, fddi, p.no);
		describe(&o);
		if (getenv("XK_MUTATE") != NULL)
			last_words();
		alarm(HANG);
		why = run_case(&o, t);
		if (why == NULL)
			why = between(&p, k, p.no + p.step > last, t);
		ok = tell(why, p.first);
	}
	alarm(HANG);
	mut_down();
	alarm(0);
	return ok;
}
