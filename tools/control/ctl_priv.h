/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_priv.h - what the files of the live view share.
 */
#ifndef CTL_PRIV_H
#define CTL_PRIV_H

#include <jansson.h>
#include <stdio.h>

#include "runtime/compose/xk_compose.h"
#include "tools/control/ctl.h"
#include "tools/control/ctl_view.h"

#define CTL_CLIENTS  64u                 /* at once */
#define CTL_LINE     65536u              /* longest request */
#define CTL_OUT_HIGH (1u << 20)          /* so much unread by a client: its next request waits */
#define CTL_OUT_MAX  (64u << 20)         /* so much: it is let go */
#define CTL_PATIENCE (30 * XK_SEC)       /* with one that reads nothing, or ends no line */
#define CTL_SILENT   (10 * XK_SEC)       /* one may be sent away for another one after so long */

struct ctl_job;

struct ctl_client {
	struct ctl_client *next;
	int             fd, pass_fd;     /* pass_fd: goes out with the next bytes, or -1 */
	char           *in, *out;
	size_t          nin, out_at, out_end, out_cap;
	bool            closing, dead;   /* closing: when all is written */
	bool            looks;           /* it has the counters: it says nothing more while it reads them */
	xk_ns           moved;           /* when it last read or wrote something */
	struct ctl_job *job;             /* what answers it for a while */
};

struct ctl {
	struct xk_graph   *g;
	char               path[CTL_PATH_MAX];
	int                listen_fd, lock_fd, wake_fd;   /* wake_fd: an eventfd */
	bool               bound, is_virtual;
	struct xk_thread  *thread;
	uint32_t           stop;
	/* Virtual time: the turn of whoever steps VPs or enters them. */
	struct xk_mutex    turn;
	uint32_t           wanted;       /* by the server's thread */
	xk_ns              rest_until;   /* accept found no descriptor left: looks again then */
	struct ctl_client *clients;
	unsigned           nclients;
	struct ctl_view   *view;         /* NULL: memory ran out for it, and it is tried again when it is asked for */
	bool               has_dir;
	uint64_t           ndirs;        /* made until now */
	void              *dir[2];       /* their texts, where counters are shared; NULL: none */
	size_t             dir_size[2];
	uint64_t           began;        /* xk_clock_host */
	struct ctl_run     run;          /* end NULL: cannot be asked for, or has been */
	bool               to_end;
	uint64_t           lost;         /* xk_json_lost of the server's thread, when it last sent a line */
};

/* ---- requests ---- */

/* One of these for all commands; the schema of each says which it fills. */
struct ctl_args {
	char    *node, *param, *value, *file;
	unsigned what;
	char    *cursor;
	uint64_t limit, count, time;
	char    *args, *plugin;
	bool     per_vp, path, dry_run;
};

struct ctl_call {
	struct ctl        *c;
	struct ctl_client *client;
	json_t            *id;           /* of the request, or NULL */
	const struct ctl_command *cmd;
	struct ctl_args    a;
	json_t            *result;       /* the answer */
	const char        *code;         /* of an error */
	char               why[4096];
	struct ctl_job    *job;          /* the answer comes later */
};

struct ctl_command {
	const char *name, *doc;
	const struct xk_param *args;     /* in the order a command line gives them */
	bool        streams;             /* lines with "event" come before the answer */
	int       (*run)(struct ctl_call *k);    /* XK_OK with result or job, or ctl_fail */
};
extern const struct ctl_command ctl_commands[];          /* NULL-named last */
#define CTL_ARG(t, key, text, ...) \
	{ .name = #key, .type = t, .doc = text, .offset = offsetof(struct ctl_args, key), ##__VA_ARGS__ }

/* ORDER SHOWS: ctl_cmd_show. */
#define CTL_SHOWS "graph", "runtime", "params", "vps", "sessions", "locks", "classifiers", "connections", "affinity", "times"

/* Says why; returns a negative number. */
int  ctl_fail(struct ctl_call *k, const char *code, const char *fmt, ...) XK_PRINTF(3, 4);
/* One request, without its newline: answered, or a job begun. */
void ctl_request(struct ctl *c, struct ctl_client *cl, const char *line, size_t n);
/* An answer's line: {"id":..., "ok":...}; takes over result. */
void ctl_answer(struct ctl *c, struct ctl_client *cl, json_t *id, json_t *result);
void ctl_answer_error(struct ctl *c, struct ctl_client *cl, json_t *id, const char *code, const char *why);
void ctl_event(struct ctl *c, struct ctl_client *cl, json_t *id, json_t *event);
/* The node that a request names; NULL: failed, with a suggestion. */
struct xk_node *ctl_node(struct ctl_call *k, const char *name);

/* ---- clients ---- */

struct ctl_client *ctl_client_new(int fd);
void ctl_client_free(struct ctl_client *cl);
void ctl_client_put(struct ctl_client *cl, const char *bytes, size_t n);
/* Writes what it can. */
void ctl_client_flush(struct ctl_client *cl);
/* Reads what is there and answers what is whole. */
void ctl_client_read(struct ctl *c, struct ctl_client *cl);
void ctl_client_serve(struct ctl *c, struct ctl_client *cl);
/* Who makes room for another one, at `now`, or NULL: of those silent for long the longest, and of those that have the
 * counters only if there is no other. */
struct ctl_client *ctl_client_to_go(const struct ctl *c, xk_ns now);
static inline size_t ctl_client_unread(const struct ctl_client *cl) { return cl->out_end - cl->out_at; }

/* ---- jobs: requests that are answered bit by bit ---- */

struct ctl_job {
	/* Has something happened?  Called after every wake and at least 20 times a second.  True:
	 * it is over, and has answered. */
	bool (*step)(struct ctl_job *j);
	void (*free)(struct ctl_job *j); /* gives everything back; also when the client went away */
	struct ctl        *c;            /* set by who makes it: threads of the graph may read it at once */
	struct ctl_client *client;
	json_t            *id;
	xk_ns              until;        /* host time */
};

/* ---- the rest ---- */

int  ctl_path_open(struct ctl *c, const char *path, char *why, size_t n);
void ctl_path_close(struct ctl *c);
/* The directory of counters as nodes are now, in shared memory where there is some.  XK_E_NOMEM: none holds. */
int  ctl_dir_make(struct ctl *c);
/* What c->view is of, made now if memory was not there before; NULL: failed. */
const struct ctl_view *ctl_dir_view(struct ctl_call *k);

int ctl_cmd_show(struct ctl_call *k);
int ctl_cmd_sessions(struct ctl_call *k);
int ctl_show_params(struct ctl_call *k);
int ctl_cmd_get(struct ctl_call *k);
int ctl_cmd_set(struct ctl_call *k);
int ctl_cmd_apply(struct ctl_call *k);
int ctl_cmd_trace(struct ctl_call *k);
int ctl_cmd_capture(struct ctl_call *k);
int ctl_cmd_inject(struct ctl_call *k);
int ctl_cmd_counters(struct ctl_call *k);
int ctl_cmd_record(struct ctl_call *k);
int ctl_cmd_metrics(struct ctl_call *k);
int ctl_cmd_snapshot(struct ctl_call *k);

/* Names come from files: what is not UTF-8 is not shown as it is. */
static inline json_t *ctl_string(const char *s)
{
	json_t *j = json_string(s != NULL ? s : "");

	return j != NULL ? j : json_string("?");
}

static inline void ctl_put(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(o, key, json_integer((json_int_t)v));
}

#endif
