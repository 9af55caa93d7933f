/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_job.h - the ranks of a job as whoever starts them has them: here, or on another host by a remote shell.
 *
 * On another host an agent, this program again, starts the rank and stands between: what the rank prints, says
 * and how it ends comes in frames by the remote shell's output, signals go by its input, one letter each.
 */
#ifndef VPR_JOB_H
#define VPR_JOB_H

#include <netinet/in.h>
#include <sys/types.h>

#include "tools/vp-run/vpr.h"

#define VPR_LINE_MOST 65536u             /* longer ones come in pieces; a frame has no more */
#define VPR_GRACE_MS  10000              /* for a rank to end in order */
#define VPR_FORCE_MS  2000               /* beyond it: for what stands between to say how it has ended, and to end */
#define VPR_ADDR      16u                /* an IPv4 address as text */

/* What is read of it and not yet taken. */
struct vpr_pipe { int fd; char *text; size_t n, room; };

struct vpr_host {
	char    *name;                   /* as the remote shell has it */
	char     addr[VPR_ADDR];
	unsigned places, first, ranks;   /* room for ranks; the first one, and how many it has */
};
struct vpr_hosts { struct vpr_host *host; unsigned n, places; char *peers; };

/* How a rank has ended: sig, or else code. */
struct vpr_end { bool known; int code, sig; };

/* How a job comes to its end. */
struct vpr_over {
	int     code;                    /* of the first that failed */
	bool    ending, quiet;           /* quiet: because one has failed; others may, by that */
	bool    told;                    /* all, by a signal: who hears of another's end first has not failed */
	bool    forced;                  /* those that did not end in order have been killed */
	int64_t kill_at;                 /* ms; 0: not yet, or done */
};

struct vpr_rank {
	pid_t            pid;            /* 0: none, or no more; with a host, of the remote shell */
	struct vpr_pipe  out, err;       /* its output, its errors; with a host, of the remote shell */
	int              say;            /* both ways: it says how it is, and is told to go on */
	char             state;          /* 0, or what it has said (xk_run_opts.finished_fd) */
	bool             begun;
	bool             ready, went, late;       /* its graph is up; it was told to go on; it was not in time */
	int64_t          ready_by;       /* ms; 0: not yet known */
	const struct vpr_host *host;     /* NULL: this one */
	struct vpr_pipe  far_out, far_err;        /* with a host: taken from frames */
	int              tell;           /* where its agent hears of signals; -1 */
	bool             up, lost;       /* its agent has spoken; it is given up, and that is said */
	int64_t          come_by;        /* ms, until it is up */
	struct vpr_end   end;
	int64_t          end_by;         /* ms, once end is known: what keeps its pipes open is not waited for longer */
};

struct vpr_job {
	struct vpr      *o;
	struct vpr_rank *rank;
	struct pollfd   *poll;
	struct vpr_hosts hosts;          /* n 0: all ranks are here */
	char             name[VPR_JOB_MAX + 1], key[VPR_KEY + 1];
	bool             started;        /* all were up */
	unsigned         n, running;
	struct vpr_over  over;
};

/* vpr_start.c: a rank says UP when its graph is, and waits for GO. */
enum { VPR_UP = 'u', VPR_GO = 'g' };
/* That of the environment, VP_KEY; empty: there is none.  False: it is too long, which was said. */
bool vpr_key_given(char key[VPR_KEY + 1]);
/* The same, or else a new one.  VPR_OK, or the code to end with: why was said. */
int  vpr_key_make(char key[VPR_KEY + 1]);
/* In the rank: into its environment, in place of what is there.  XK_OK or XK_E_NOMEM. */
int  vpr_key_tell(const char *key);
/* Tells a rank to go on, by what it says UP to. */
void vpr_go(int say);
/* Lets all go when all are up.  Gives up those that are not in time; ms until the next would be, or -1. */
void vpr_start_turn(struct vpr_job *j);
int64_t vpr_start_late(struct vpr_job *j);

/* vpr_end.c: milliseconds, and those until then: 0 when it is past, -1 when at is 0, never. */
int64_t vpr_now_ms(void);
int64_t vpr_left(int64_t at);
/* Of two times, of which a negative one is never. */
int64_t vpr_least(int64_t a, int64_t b);
/* Waits for a child. */
struct vpr_end vpr_reap(pid_t pid);
/* The exit code of whoever has it for its own. */
int  vpr_end_code(const struct vpr_end *e);
/* The rest of a line: what, how it has ended. */
void vpr_end_say(const struct vpr_end *e, const char *what);
/* All are to end, those that do not in VPR_GRACE_MS by force.  False: they were already. */
bool vpr_over_begin(struct vpr_over *x, bool quiet);
/* A rank has ended, timed: it had a time to run.  True: it has failed, not because another has. */
bool vpr_over_failed(struct vpr_over *x, const struct vpr_end *e, bool timed);

/* vpr_lines.c. */
/* Reads r's pipe p once: what is there is behind p->text + p->n.  False: it has ended, and is closed. */
bool vpr_pipe_read(struct vpr_pipe *p);
/* Takes n bytes off its front. */
void vpr_pipe_take(struct vpr_pipe *p, size_t n);
bool vpr_pipe_add(struct vpr_pipe *p, const void *text, size_t n);
/* A rank that has failed or is lost ends the others, unless --keep. */
void vpr_job_failed(struct vpr_job *j, int code);

/* vpr_tell.c: rank's arguments into o->arg; job and peers may be NULL.  XK_OK or XK_E_NOMEM. */
int  vpr_tell(struct vpr *o, unsigned rank, unsigned ranks, const char *job, const char *peers);
/* Makes of it a name that a socket's may have in it. */
void vpr_job_name(char *name);
/* Of the processors that we may use, the part of one of several places; where there are fewer than places, one. */
void vpr_share_processors(struct vpr *o, unsigned place, unsigned places);

/* vpr_lines.c: shows whole lines of p, each behind the rank's number, and takes them; all: the rest, too. */
void vpr_lines(unsigned rank, struct vpr_pipe *p, FILE *f, bool all);
/* What ranks have printed, as one list: only JSON. */
void vpr_lines_json(const struct vpr_job *j);

/* vpr_hosts.c: reads --hosts, finds addresses, spreads o->ranks over them.  VPR_OK, or the program's exit code, said. */
int  vpr_hosts_open(struct vpr_hosts *h, struct vpr *o);
/* All ranks are at this one: only the list of peers. */
int  vpr_hosts_here(struct vpr_hosts *h, unsigned ranks);
void vpr_hosts_close(struct vpr_hosts *h);
/* A host's IPv4 address as this machine knows it: 0, or an error of getaddrinfo. */
int  vpr_host_find(const char *host, struct in_addr *addr);

/* vpr_remote.c: begins ranks, as many at a time as a host's server of remote shells lets in. */
void vpr_remote_begin(struct vpr_job *j);
/* What r's remote shell has printed: frames of its agent. */
void vpr_remote_hear(struct vpr_job *j, struct vpr_rank *r);
void vpr_remote_signal(const struct vpr_rank *r, int sig);
/* A letter for its agent. */
void vpr_remote_say(const struct vpr_rank *r, char letter);
/* Ends its remote shell by force; its pipes are closed. */
void vpr_remote_cut(struct vpr_rank *r);
/* Gives up those that have not come in time, and pipes of those that have ended; ms until the next would be, or -1. */
int64_t vpr_remote_late(struct vpr_job *j);

/* vpr_ranks.c: a rank as a child of this process, its pipes in r: XK_OK, 1 in the rank, or an error. */
struct vpr_place { unsigned rank, ranks, place, places; const char *job, *peers, *key; };
int  vpr_rank_begin(struct vpr_job *j, struct vpr_rank *r, const struct vpr_place *at);

#endif
