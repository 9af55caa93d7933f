/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_replay.c - asks the scheduling module again what it was asked in a real run, and compares each answer.
 *
 * The file is of `vp-run --decisions` (docs/affinity.md): a line that says what the scheduler was made with, then a line
 * for each call.  The functions are those that the simulator's engine calls, and the run's workers called.
 * What no run can have asked, of whatever hand the file is, is refused with its line before it is asked.
 */
#include "tools/vp-sim/sim.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/xk_errs.h"
#include "runtime/vp/xk_sched.h"

#define RUNS_MOST 65535u

struct replay {
	const char *file;
	unsigned long long line, differ;
	struct xk_sched *s;
	struct xk_sched_run *run;        /* [nruns] */
	struct xk_sched_run **has;       /* [nprocs]: what each runs */
	unsigned nprocs, nruns;
};

static int fault(const struct replay *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int fault(const struct replay *r, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "vp-sim: %s:%llu: ", r->file, r->line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return XK_E_INVAL;
}

/* ---- words -------------------------------------------------------------------------- */

static unsigned index_of(const char *const *word, unsigned n, const char *w)
{
	unsigned i = 0;

	while (i < n && strcmp(word[i], w) != 0)
		i++;
	return i;
}

static const char *const picks[] = { "mru", "lru", "low", "random" };
static const char *const afters[] = { "rest", "more", "yield", "polls" };

/* "-" or a number below most; false: it is neither. */
static bool none_or(const char *w, unsigned most, unsigned *v)
{
	char *end;
	unsigned long n;

	*v = XK_SCHED_NONE;
	if (strcmp(w, "-") == 0)
		return true;
	n = strtoul(w, &end, 10);
	*v = (unsigned)n;
	return *w >= '0' && *w <= '9' && *end == '\0' && n < most;
}

/* ---- what it was made with ----------------------------------------------------------- */

static int head(struct replay *r, const char *line)
{
	char pick[16], queue[16], more[2];
	struct xk_sched_conf c = { 0 };
	unsigned long long seed;
	unsigned nruns;

	if (sscanf(line, "xk-decisions 1 processors %u pick %15s queue %15s depth %u quantum %u seed %llu runs %u %1s", &c.nprocs, pick,
		   queue, &c.depth, &c.quantum, &seed, &nruns, more) != 7)
		return fault(r, "is no file of vp-run --decisions: it begins with xk-decisions 1 and what the scheduler was made with");
	if (c.nprocs == 0 || c.nprocs > XK_SCHED_PROCS_MAX || nruns == 0 || nruns > RUNS_MOST)
		return fault(r, "%u processors and %u runs: there are 1 to %u and 1 to %u", c.nprocs, nruns, XK_SCHED_PROCS_MAX, RUNS_MOST);
	c.pick = index_of(picks, XK_ARRAY_LEN(picks), pick);
	if ((unsigned)c.pick == XK_ARRAY_LEN(picks) || (strcmp(queue, "one") != 0 && strcmp(queue, "processor") != 0))
		return fault(r, "pick is mru, lru, low or random, and queue one or processor, not %s and %s", pick, queue);
	c.queue = strcmp(queue, "one") == 0 ? XK_QUEUE_ONE : XK_QUEUE_PER;
	c.seed = seed;
	r->nprocs = c.nprocs;
	r->nruns = nruns;
	r->s = malloc(xk_sched_size(c.nprocs));
	r->run = calloc(nruns, sizeof *r->run);
	r->has = calloc(c.nprocs, sizeof *r->has);
	if (r->s == NULL || r->run == NULL || r->has == NULL)
		return fault(r, "out of memory");
	for (unsigned i = 0; i < nruns; i++)
		r->run[i] = (struct xk_sched_run){ .home = (uint16_t)(i % c.nprocs), .last = -1 };
	return xk_sched_init(r->s, &c);
}

/* ---- calls ------------------------------------------------------------------------------ */

struct call { char word[16], left[16], answer[16]; unsigned long long now; unsigned p, vp, n; };

/* The call on a line: what it needs is there. */
static int read_call(const struct replay *r, const char *line, struct call *c)
{
	char more[2];
	int n;

	*c = (struct call){ .vp = XK_SCHED_NONE };
	if (sscanf(line, "%15s", c->word) != 1)
		return fault(r, "holds no call");
	if (strcmp(c->word, "arrive") == 0)
		n = sscanf(line, "%*s %llu %u %15s %1s", &c->now, &c->vp, c->answer, more) - 3;
	else if (strcmp(c->word, "done") == 0)
		n = sscanf(line, "%*s %llu %u %u %15s %u %15s %1s", &c->now, &c->p, &c->vp, c->left, &c->n, c->answer, more) - 6;
	else if (strcmp(c->word, "next") == 0 || strcmp(c->word, "release") == 0)
		n = sscanf(line, "%*s %llu %u %15s %1s", &c->now, &c->p, c->answer, more) - 3;
	else
		return fault(r, "'%s' is no call: arrive, next, done, release", c->word);
	if (n != 0)
		return fault(r, "'%s' has too few words, or too many, or one that is no number", c->word);
	if (c->p >= r->nprocs || ((c->word[0] == 'a' || c->word[0] == 'd') && c->vp >= r->nruns))
		return fault(r, "there are %u processors and %u runs", r->nprocs, r->nruns);
	return XK_OK;
}

/* Asks; XK_E_INVAL, said: no run can have asked this. */
static int ask(struct replay *r, const struct call *c, unsigned *got)
{
	struct xk_sched_run *run;
	unsigned left = index_of(afters, XK_ARRAY_LEN(afters), c->left);

	switch (c->word[0]) {
	case 'a':
		*got = xk_sched_arrive(r->s, &r->run[c->vp], c->now);
		return XK_OK;
	case 'd':
		if (left == XK_ARRAY_LEN(afters))
			return fault(r, "'%s' is not what is left of a run: rest, more, yield, polls", c->left);
		if (r->has[c->p] != &r->run[c->vp])
			return fault(r, "processor %u is done with run %u, which it does not have", c->p, c->vp);
		r->has[c->p] = NULL;
		*got = xk_sched_done(r->s, c->p, &r->run[c->vp], left, c->n, c->now);
		return XK_OK;
	default:
		break;
	}
	if (r->has[c->p] != NULL)
		return fault(r, "processor %u asks before it is done with run %u", c->p, (unsigned)(r->has[c->p] - r->run));
	if (c->word[0] == 'r') {
		*got = xk_sched_release(r->s, c->p, c->now);
		return XK_OK;
	}
	run = r->has[c->p] = xk_sched_next(r->s, c->p, c->now);
	*got = run != NULL ? (unsigned)(run - r->run) : XK_SCHED_NONE;
	return XK_OK;
}

static int call(struct replay *r, const char *line)
{
	struct call c;
	unsigned want, got = XK_SCHED_NONE, most;
	int err = read_call(r, line, &c);

	if (err != XK_OK)
		return err;
	most = c.word[0] == 'r' ? 2 : c.word[0] == 'n' ? r->nruns : r->nprocs;
	if (!none_or(c.answer, most, &want) || (c.word[0] == 'r' && want == XK_SCHED_NONE))
		return fault(r, "'%s' is no answer", c.answer);
	err = ask(r, &c, &got);
	if (err != XK_OK || got == want)
		return err;
	if (r->differ++ == 0)
		fault(r, "the answer was %s, and is %d", c.answer, got == XK_SCHED_NONE ? -1 : (int)got);
	return XK_OK;
}

static int all(struct replay *r, FILE *f)
{
	char line[256];
	int err = XK_OK;

	while (err == XK_OK && fgets(line, sizeof line, f) != NULL) {
		r->line++;
		if (strchr(line, '\n') == NULL)
			return fault(r, "the line is cut short, or longer than 254 bytes");
		err = r->line == 1 ? head(r, line) : call(r, line);
		if (r->differ != 0)
			return err;      /* what follows follows from it */
	}
	if (err == XK_OK && r->line < 2)
		err = fault(r, "holds no call");
	return err;
}

int sim_replay(const char *file)
{
	struct replay r = { .file = file };
	FILE *f = fopen(file, "r");
	int err;

	if (f == NULL) {
		fprintf(stderr, "vp-sim: %s: %s\n", file, strerror(errno));
		return SIM_FILE_ERRORS;
	}
	err = all(&r, f);
	fclose(f);
	free(r.s);
	free(r.run);
	free(r.has);
	if (err != XK_OK)
		return SIM_FILE_ERRORS;
	if (r.differ == 0)
		printf("%s: %llu decisions, all as they were\n", file, r.line - 1);
	return r.differ == 0 ? SIM_OK : SIM_FAILED;
}
