/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpc.h - what the files of vp-ctl share.
 */
#ifndef VPC_H
#define VPC_H

#include <jansson.h>
#include <stdio.h>

#include "runtime/base/xk_base.h"
#include "runtime/base/xk_clock.h"
#include "tools/control/ctl.h"
#include "tools/control/ctl_view.h"

enum { VPC_OK = 0, VPC_REFUSED = 1, VPC_USAGE = 2, VPC_NOBODY = 3 };

#define VPC_WORDS 64u

struct vpc {
	const char *socket;              /* NULL: find it */
	bool        json, per_vp, ladder, page, dry_run;
	xk_ns       wait, timeout, delay;
	uint64_t    count;               /* of top's tables; 0: until it ends */
	const char *port;                /* of export and web; NULL: each has its own */
	const char *word[VPC_WORDS];     /* the command and its arguments */
	unsigned    nwords;
	/* The connection. */
	int         fd;
	char        path[CTL_PATH_MAX];
	char       *in;
	size_t      nin, cap;
	int         passed;              /* a descriptor that came along, or -1 */
};

/* Fills o; does not return on wrong usage. */
void vpc_options(struct vpc *o, int argc, char **argv);

/* vpc_find.c: every socket of the default folder that answers, one a line. */
int  vpc_list(const struct vpc *o, FILE *f);
/* Connects, VPC_OK; or says why not. */
int  vpc_open(struct vpc *o);

/* vpc_talk.c: what is asked and what comes back.  NULL: said why; *code is the exit code. */
json_t *vpc_ask(struct vpc *o, json_t *request, int *code);
/* The next line; NULL with *code.  patience 0: as long as it takes. */
json_t *vpc_line(struct vpc *o, xk_ns patience, int *code);
/* What has come, read; false: the other side has gone, or the line has no end. */
bool vpc_more(struct vpc *o);
/* The first whole line of it, taken out; NULL: there is none, or, found, it is not JSON. */
json_t *vpc_taken(struct vpc *o, bool *found);
/* Sends it; takes over request. */
int  vpc_send(struct vpc *o, json_t *request);
/* Has the other side gone? */
bool vpc_gone(const struct vpc *o);
/* Shows an answer's error. */
int  vpc_refused(const json_t *answer);
/* The view of the running graph's counters, or NULL with *code. */
struct ctl_view *vpc_view(struct vpc *o, int *code);
/* After reading: false when nodes came or went meanwhile; *v is then of those that are there now, for another
 * reading, or NULL with *code. */
bool vpc_held(const struct vpc *o, struct ctl_view **v, int *code);

/* vpc_show.c */
void vpc_show(FILE *f, const json_t *result);
void vpc_event(FILE *f, const json_t *event);
/* Is an event a step of a traced message?  It, from its node on, with the line's end. */
bool vpc_is_step(const json_t *event);
void vpc_step(FILE *f, const json_t *step);
/* vpc_ladder.c: a step more in ways, an object; false: out of memory.  All ways. */
bool vpc_ladder_add(json_t *ways, const json_t *step);
void vpc_ladders(FILE *f, const json_t *ways);
/* vpc_page.c: the same as a page for a browser. */
void vpc_ladder_page(FILE *f, const json_t *ways);
/* And what is in it, without a head. */
void vpc_ladder_pictures(FILE *f, const json_t *ways);

int  vpc_top(struct vpc *o);
int  vpc_dot(struct vpc *o);
int  vpc_export(struct vpc *o);
int  vpc_web(struct vpc *o);
/* vpc_record.c: a recording of the running graph, shown, or kept in a file; a file's, shown: no graph is needed. */
int  vpc_record(struct vpc *o);
int  vpc_recording(const struct vpc *o);

#endif
