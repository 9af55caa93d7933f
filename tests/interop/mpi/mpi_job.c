/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_job.c - a process of the job: its rank from the environment (as vp-run --join has it), the graph of the file
 * XK_MPI_GRAPH with the arguments XK_MPI_ARGS, connections to all other ranks, and their end.
 *
 * Invariant: no rank ends before it has heard that each other one wants nothing any more.
 */
#include "tests/interop/mpi/mpi_priv.h"

#include "runtime/base/xk_clock.h"
#include "runtime/sync/xk_sync.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define ARGS 32u
#define LINGER 2000000000u               /* ns; a goodbye that is not acknowledged */
#define COMES  60000000000u              /* ns; until all ranks are there */
#define EVER XK_NCS_FOREVER

struct mpi mpi;

void mpi_die(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "mpi: rank %u: ", mpi.rank);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	_Exit(1);
}

/* ---- the graph ------------------------------------------------------------------------------- */

static bool number_of(const char *name, unsigned *v)
{
	const char *text = getenv(name);
	unsigned long n;
	char *end;

	if (text == NULL || *text < '0' || *text > '9')
		return false;
	errno = 0;
	n = strtoul(text, &end, 10);
	*v = (unsigned)n;
	return *end == '\0' && errno == 0 && n <= 65535;
}

static void who(unsigned *rank, unsigned *ranks)
{
	static const char *const names[][2] = {
		{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" }, { "PMI_RANK", "PMI_SIZE" },
		{ "SLURM_PROCID", "SLURM_NTASKS" },
	};

	for (unsigned i = 0; i < XK_ARRAY_LEN(names); i++)
		if (number_of(names[i][0], rank) && number_of(names[i][1], ranks) && *rank < *ranks)
			return;
	mpi_die("nobody has said which rank this is, and of how many: OMPI_COMM_WORLD_RANK and _SIZE are not set");
}

static void graph_up(void)
{
	const char *file = getenv("XK_MPI_GRAPH"), *given = getenv("XK_MPI_ARGS"), *arg[ARGS];
	char rank[32], ranks[32], *words = strdup(given != NULL ? given : ""), *at = words, *word;
	struct xk_compose_opts o = { .args = arg };

	who(&mpi.rank, &mpi.size);
	snprintf(rank, sizeof rank, "rank=%u", mpi.rank);
	snprintf(ranks, sizeof ranks, "ranks=%u", mpi.size);
	arg[o.nargs++] = rank;
	arg[o.nargs++] = ranks;
	while (o.nargs < ARGS && (word = strsep(&at, " ")) != NULL)
		if (*word != '\0')
			arg[o.nargs++] = word;
	if (file == NULL)
		mpi_die("XK_MPI_GRAPH names no graph file");
	if (xk_spec_load(&mpi.s, file, &o, mpi.e) != XK_OK || xk_spec_check(mpi.s, mpi.e, NULL) != XK_OK ||
	    xk_spec_build(mpi.s, &mpi.g, mpi.e) != XK_OK || xk_graph_up(mpi.g, mpi.e) != XK_OK ||
	    xk_graph_run(mpi.g, mpi.e) != XK_OK) {
		xk_spec_print_errors(stderr, mpi.s, mpi.e, NULL);
		mpi_die("no graph");
	}
	mpi.n = xk_graph_find(mpi.g, "process");
	if (mpi.n == NULL || xk_ncs_size(mpi.n) != mpi.size || xk_ncs_rank(mpi.n) != mpi.rank)
		mpi_die("%s has no process of rank %u of %u", file, mpi.rank, mpi.size);
	free(words);
}

/* ---- connections -------------------------------------------------------------------------------- */

/* A peer that has not begun yet is asked again. */
static void reach(struct xk_ncs_thread *t, unsigned rank, unsigned thread, struct xk_ncs_conn **c)
{
	const struct xk_ncs_addr to = { .rank = (int)rank, .thread = thread };
	uint64_t end = xk_clock_host() + COMES;
	char why[XK_NCS_WHY];
	int err;

	do {
		xk_ncs_yield();
		err = xk_ncs_open(t, &to, NULL, c, why, COMES);
	} while ((err == XK_E_NOENT || err == XK_E_TIMEDOUT) && xk_clock_host() < end);
	if (err != XK_OK)
		mpi_die("cannot reach rank %u: %s (%s)", rank, xk_strerror(err), why);
}

static void connect_all(unsigned way)
{
	struct xk_ncs_thread *t;
	struct xk_ncs_addr from;
	struct xk_ncs_conn *c;

	if (xk_ncs_attach(mpi.n, way, &mpi.thread[way]) != XK_OK)
		mpi_die("out of memory");
	t = mpi.thread[way];
	for (unsigned i = mpi.rank + 1; i < mpi.size; i++)
		reach(t, i, way, &mpi.peer[i].way[way]);
	for (unsigned i = 0; i < mpi.rank; i++) {
		int err = xk_ncs_accept(t, &c, &from, COMES);

		if (err != XK_OK)
			mpi_die("%u ranks have not come: %s", mpi.rank - i, xk_strerror(err));
		mpi.peer[from.rank].way[way] = c;
	}
}

static void group_up(void)
{
	int *ranks = calloc(mpi.size, sizeof *ranks), err = XK_E_NOMEM;

	for (unsigned i = 0; ranks != NULL && i < mpi.size; i++)
		ranks[i] = (int)i;
	if (ranks != NULL)
		err = xk_ncs_group_new(mpi.thread[MPI_DATA], ranks, mpi.size, 0, NULL, XK_NCS_AUTO, 0, &mpi.all);
	if (err != XK_OK)
		mpi_die("no group: %s", xk_strerror(err));
	free(ranks);
	mpi_wait_group();                /* its connections are made */
	err = xk_ncs_ibarrier(mpi.all);
	if (err != XK_OK)
		mpi_die("no group: %s", xk_strerror(err));
	mpi_wait_group();                /* all others' are */
}

void mpi_job_begin(void)
{
	xk_rcu_register();
	mpi.live = xk_alloc_live();
	mpi.e = xk_errs_new();
	graph_up();
	mpi.peer = calloc(mpi.size, sizeof *mpi.peer);
	if (mpi.peer == NULL)
		mpi_die("out of memory");
	for (unsigned way = 0; way < MPI_WAYS; way++)
		connect_all(way);
	for (unsigned i = 0; i < mpi.size; i++)
		if (i != mpi.rank)
			mpi_hear_from(&mpi.peer[i]);
	group_up();
}

/* ---- the end ------------------------------------------------------------------------------------------ */

/* All that was sent is there, then all say goodbye.  A peer that has heard all may be gone before it acknowledges. */
static void say_goodbye(void)
{
	for (unsigned i = 0; i < mpi.size; i++) {
		int err = i != mpi.rank ? xk_ncs_flush(mpi.peer[i].way[MPI_DATA], EVER) : XK_OK;

		if (err != XK_OK)
			mpi_die("rank %u: %s", i, xk_strerror(err));
	}
	for (unsigned i = 0; i < mpi.size; i++)
		if (i != mpi.rank)
			mpi_note(i, NOTE_BYE, 0, 0);
	mpi_wait_byes();
	for (unsigned i = 0; i < mpi.size; i++)
		if (i != mpi.rank)
			(void)xk_ncs_flush(mpi.peer[i].way[MPI_NOTES], LINGER);
}

void mpi_job_end(void)
{
	unsigned long kept;

	say_goodbye();
	xk_ncs_group_free(mpi.all);
	for (unsigned way = 0; way < MPI_WAYS; way++)
		xk_ncs_detach(mpi.thread[way]);
	xk_ncs_stop(mpi.n);
	kept = (unsigned long)xk_graph_free(mpi.g);
	xk_spec_free(mpi.s);
	xk_errs_free(mpi.e);
	for (unsigned i = 0; i < mpi.size; i++)
		free(mpi.peer[i].tally);
	free(mpi.peer);
	free(mpi.waits);
	xk_rcu_barrier();
	if (kept != 0 || xk_alloc_live() != mpi.live)
		mpi_die("memory was not given back");
	xk_rcu_unregister();
}
