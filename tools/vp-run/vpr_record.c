/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_record.c - a run that ends by a signal of its own fault leaves what its flight recorders had: a recording.
 *
 * The same for a panic, which ends in SIGABRT, for SIGQUIT, and, while the run goes on, for a drop that --record-on
 * names.  The handler makes system calls and no more; then what would have ended the process does: a core is what it
 * was, and so is the exit code.  Without --recording the file is made where control sockets are, under the process's
 * number, and one more where there is one of it already; with it, before the graph runs, so that it can be written when
 * no more files may be opened, and it goes again if nothing was.
 * Invariant: one recording for a drop, one for a signal; a file that is there already stays as it is.
 */
#include "tools/vp-run/vpr.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_graph.h"
#include "tools/control/ctl.h"

static const int fatal[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGQUIT };
#define FATAL XK_ARRAY_LEN(fatal)
#define MOST  99u                        /* recordings of one number of a process; two digits */
#define END   ".recording"
#define PATH_ROOM (CTL_PATH_MAX + 40)    /* of a folder and a name in it */

/* A handler has no argument. */
static struct {
	const struct xk_graph *g;        /* NULL: no handler is there */
	struct sigaction       old[FATAL];
	const char            *given;    /* --recording */
	int                    fd;       /* of it, -1: none, or it has been written */
	char                   dir[CTL_PATH_MAX], path[PATH_ROOM];   /* without it, and without END; "": none */
	uint32_t               busy;     /* the process ends */
	pid_t                  by;       /* the thread that sees to it */
	struct xk_drop_watch   watch;
} record;

/* ---- while it may be the end --------------------------------------------------------------- */

static void say(const char *text) { (void)!write(STDERR_FILENO, text, strlen(text)); }

/* What the n-th of this process is called, from 1 on. */
static void name_default(char path[PATH_ROOM], unsigned n)
{
	char *p = stpcpy(path, record.path);

	if (n > 1)
		*p++ = '-';
	if (n > 9)
		*p++ = (char)('0' + n / 10);
	if (n > 1)
		*p++ = (char)('0' + n % 10);
	strcpy(p, END);
}

/* Where files of ours alone are, made if need be; path: the last that was tried. */
static int open_default(char path[PATH_ROOM])
{
	int fd = -1;

	*path = '\0';
	if (*record.path == '\0')
		return -1;
	name_default(path, 1);
	if ((mkdir(record.dir, 0700) != 0 && errno != EEXIST) || !ctl_is_own_dir(record.dir))
		return -1;
	for (unsigned n = 1; fd < 0 && n <= MOST; n++) {
		name_default(path, n);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			return -1;
	}
	return fd;
}

/* The file of --recording, for the first that asks; else the default one. */
static void write_out(enum xk_recording_cause cause, uint32_t no)
{
	const struct xk_graph *g = xk_load_acquire(&record.g);
	char made[PATH_ROOM];
	int given, fd;
	bool good;

	if (g == NULL)
		return;                  /* it goes down */
	given = xk_atomic_xchg(&record.fd, -1);
	fd = given >= 0 ? given : open_default(made);
	good = fd >= 0 && xk_graph_record(g, fd, cause, no) == XK_OK;

	if (fd >= 0)
		good = close(fd) == 0 && good;
	say(cause == XK_RECORDING_DROP ? "vp-run: a drop: " : "vp-run: a fatal signal: ");
	say(good ? "what happened before it: vp-ctl recording " : "what happened before it could not be written to ");
	say(given >= 0 ? record.given : made);
	say("\n");
}

static void give_back(int sig)
{
	for (unsigned i = 0; i < FATAL; i++)
		if (fatal[i] == sig)
			(void)sigaction(sig, &record.old[i], NULL);
}

/* A fault comes again when this returns, and finds whoever was there before us; what was sent, by a terminal, too, is
 * sent again, and so is what would not come again. */
static void on_fatal(int sig, siginfo_t *info, void *context)
{
	int err = errno;

	(void)context;
	if (xk_atomic_xchg(&record.busy, 1u) == 0) {
		record.by = gettid();
		write_out(XK_RECORDING_SIGNAL, (uint32_t)sig);
	} else if (record.by != gettid()) {
		for (;;)
			pause();         /* the first one ends us all */
	}
	give_back(sig);
	if (info->si_code <= 0 || sig == SIGQUIT || sig == SIGSYS || (sig == SIGBUS && info->si_code == BUS_MCEERR_AO))
		(void)raise(sig);
	errno = err;
}

static void on_drop(void *arg)
{
	const struct xk_drop_watch *w = arg;

	write_out(XK_RECORDING_DROP, w->node->no | (uint32_t)w->reason << 16);
}

/* ---- before and after ------------------------------------------------------------------------- */

/* All that n may drop for, with blanks between. */
static void say_drops(const struct xk_node *n, char *text, size_t room)
{
	size_t at = 0;

	*text = '\0';
	for (unsigned i = 0; i < XK_DROPS_MAX && xk_drop_name(n->proto, i) != NULL && at < room; i++)
		at += (size_t)snprintf(text + at, room - at, "%s%s", i != 0 ? ", " : "", xk_drop_name(n->proto, i));
}

/* The reason of w->node that is called so; false: there is none. */
static bool find_reason(struct xk_drop_watch *w, const char *word)
{
	const char *name;

	for (w->reason = 0; w->reason < XK_DROPS_MAX && (name = xk_drop_name(w->node->proto, w->reason)) != NULL; w->reason++)
		if (strcmp(name, word) == 0)
			return true;
	return false;
}

/* NODE.DROP, as the run's table names them. */
static int watch(const struct vpr *o, struct xk_graph *g, struct xk_errs *e)
{
	const char *dot = o->record_on != NULL ? strrchr(o->record_on, '.') : NULL;
	struct xk_drop_watch *w = &record.watch;
	char drops[1024];

	if (o->record_on == NULL)
		return VPR_OK;
	*w = (struct xk_drop_watch){ .fn = on_drop, .arg = w };
	for (unsigned i = 0; dot != NULL && i < g->nnodes; i++)
		if (strlen(g->node[i]->name) == (size_t)(dot - o->record_on) &&
		    strncmp(g->node[i]->name, o->record_on, (size_t)(dot - o->record_on)) == 0)
			w->node = g->node[i];
	if (w->node == NULL) {
		xk_errs_add(e, NULL, 0, 0, "option --record-on: '%s' is not NODE.DROP of a node of the graph", o->record_on);
		return VPR_USAGE;
	}
	if (!find_reason(w, dot + 1)) {
		say_drops(w->node, drops, sizeof drops);
		xk_errs_add(e, NULL, 0, 0, "option --record-on: %s has no drop '%s', but %s", w->node->name, dot + 1, drops);
		return VPR_USAGE;
	}
	xk_graph_watch_drop(g, w);
	return VPR_OK;
}

/* Not there yet, or with nothing in it, as a run leaves it that may remove no file in the end. */
static int open_given(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct stat st;

	if (fd >= 0 || errno != EEXIST)
		return fd;
	fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	errno = EEXIST;
	return -1;
}

static int open_files(const struct vpr *o, struct xk_errs *e)
{
	record.fd = -1;
	record.given = o->recording;
	if (o->recording != NULL)
		record.fd = open_given(o->recording);
	if (o->recording != NULL && record.fd < 0) {
		xk_errs_add(e, NULL, 0, 0, "option --recording: %s: %s", o->recording, strerror(errno));
		return VPR_FAILED;
	}
	if (ctl_default_dir(record.dir))
		snprintf(record.path, sizeof record.path, "%s/vp-run.%d", record.dir, (int)getpid());
	return VPR_OK;
}

int vpr_record_open(const struct vpr *o, struct xk_graph *g, struct xk_errs *e)
{
	struct sigaction a = { .sa_sigaction = on_fatal, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK };
	int code = watch(o, g, e);

	if (code == VPR_OK)
		code = open_files(o, e);
	if (code != VPR_OK)
		return code;
	record.g = g;
	sigemptyset(&a.sa_mask);
	for (unsigned i = 0; i < FATAL; i++)
		if (sigaction(fatal[i], &a, &record.old[i]) == 0 && record.old[i].sa_handler == SIG_IGN)
			(void)sigaction(fatal[i], &record.old[i], NULL); /* as a shell has it for SIGQUIT, behind '&' */
	return VPR_OK;
}

void vpr_record_close(struct xk_graph *g)
{
	int fd = record.g != NULL ? xk_atomic_xchg(&record.fd, -1) : -1;

	if (record.g == NULL)
		return;
	for (unsigned i = 0; i < FATAL; i++)
		(void)sigaction(fatal[i], &record.old[i], NULL);
	xk_graph_watch_drop(g, NULL);
	xk_store_release(&record.g, NULL);
	if (fd < 0)
		return;
	close(fd);
	(void)unlink(record.given);
}
