/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpc_web.h - what the files of vp-ctl web share.
 */
#ifndef VPC_WEB_H
#define VPC_WEB_H

#include "tools/vp-ctl/vpc_http.h"

#define WEB_TOKEN  32u           /* hexadecimal digits: 128 bits */
#define WEB_PLACES 64u           /* connections at once */
#define WEB_ASKS   4u            /* requests that wait for the graph at once */

struct web_ask;

struct web_place {
	struct MHD_Connection *c;        /* NULL: nobody's */
	int   fd;                        /* libmicrohttpd's */
	xk_ns since;
	bool  known, cut;                /* it has shown the token; it is to go */
};

struct web {
	const struct vpc  *o;
	struct ctl_view   *v;            /* NULL: it could not be had any more */
	struct MHD_Daemon *d;
	struct web_ask    *asks;         /* that wait */
	unsigned           nasks;
	bool               ended;        /* the graph has */
	char               token[WEB_TOKEN + 1];
	struct web_place   place[WEB_PLACES];
};

/* Headers of every answer. */
extern const char *const web_headers[];

/* vpc_web_places.c: libmicrohttpd tells of connections that come and go; arg is a struct web. */
void web_place(void *arg, struct MHD_Connection *c, void **place, enum MHD_ConnectionNotificationCode what);
void web_known(struct MHD_Connection *c);

/* vpc_web_ask.c: a request of the page to the graph, from its head on.  NULL: out of memory. */
struct web_ask *web_ask_new(struct web *w, struct MHD_Connection *c);
/* A piece of its body. */
void web_ask_body(struct web_ask *a, const char *body, size_t n);
/* The body is whole, or the graph has answered: it is asked, or what it said goes out. */
enum MHD_Result web_ask_go(struct web_ask *a);
void web_ask_free(struct web_ask *a);
/* What to wait for, into p; how many. */
#define WEB_POLLS (2 * WEB_ASKS)
unsigned web_asks_poll(const struct web *w, struct pollfd *p);
/* How long at most. */
xk_ns web_asks_patience(const struct web *w, xk_ns now, xk_ns most);
/* After waiting; true: libmicrohttpd has answers to send, of which its poll does not tell. */
bool web_asks_look(struct web *w, xk_ns now);
/* The graph has ended: all of them are told so. */
void web_asks_end(struct web *w);

#endif
