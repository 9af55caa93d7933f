/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * http_priv.h - what the files of the HTTP server share.
 *
 *   http.c        connections: what they wait for, what they send; descriptor
 *   http_parse.c  the bytes of a request -> struct http_req, a pure function
 *   http_file.c   the path of a request -> an open file below the root
 *   http_shelf.c  small files that are kept in memory
 *   http_match.c  conditions, ranges, dates: also pure
 *   http_reply.c  the head of an answer
 *
 * A request points into the buffer that was parsed; it lives as long as the call
 * that answers it.
 * Invariant: nothing of a request reaches the file system or an answer's head that
 * http_parse has not checked byte by byte.
 */
#ifndef HTTP_PRIV_H
#define HTTP_PRIV_H

#include "runtime/base/xk_base.h"

#include <stdio.h>
#include <time.h>

enum http_method { HTTP_GET, HTTP_HEAD, HTTP_OTHER };
struct http_req {
	enum http_method method;
	bool        http11;              /* 1.1 or a later 1.x */
	bool        keep;                /* the client wants the connection to stay */
	bool        chunked;             /* a body of unknown length follows */
	bool        expect;              /* it may wait for 100 (Continue) */
	bool        dir;                 /* the path ends with a slash */
	uint64_t    body;                /* bytes that follow */
	const char *path;                /* decoded, without dots, no slash in front; "" is the root */
	const char *raw, *query;         /* as sent, for a Location; query with its '?', or "" */
	/* Values of fields, or NULL. */
	const char *host, *range, *if_range, *if_match, *if_none_match, *if_modified, *if_unmodified;
};
/* Parses the n bytes of a head, blank line included, in place; buf has room for 2n + 2,
 * overwritten.  0, or the status that refuses it: q then says only whether the
 * connection may stay. */
unsigned http_parse(char *buf, uint32_t n, struct http_req *q);

struct http_root { int fd; bool follow, walk; };
/* Opens the directory; follow: links that stay below it are followed. */
int  http_root_open(struct http_root *r, const char *path, bool follow);
void http_root_close(struct http_root *r);

struct http_file {
	int         fd;
	uint64_t    size;
	int64_t     mtime;
	char        etag[40];            /* with its quotes */
	const char *type;
};
/* 200 and an open file; or 301, 403, 404, 414, 500, 503. */
unsigned http_file_open(const struct http_root *r, const struct http_req *q, struct http_file *f);
const char *http_type(const char *path);

/* A small file in memory, with the head of an answer that carries all of it, from behind Date on. */
struct http_small {
	struct http_file f;              /* fd is -1 */
	size_t   size;                   /* of all this, bytes */
	unsigned refs;
	bool     dir;                    /* as the request's */
	char    *path;                   /* as the request has it */
	xk_ns    until;                  /* then it is looked at again */
	size_t   nhead;
	char     head[256];
	uint8_t  bytes[];
};
#define HTTP_SMALL  16384u           /* longest file that is kept */
#define HTTP_PLACES 64u
/* Of one VP; all zero: empty. */
struct http_shelf { struct http_small *place[HTTP_PLACES]; uint64_t bytes, most; xk_ns fresh; };
/* What was kept for q's path, or NULL; one reference, the caller's. */
struct http_small *http_shelf_find(struct http_shelf *sh, const struct http_req *q, xk_ns now);
/* Reads the open f whole, to be kept for q's path; one reference.  NULL: too long, no memory, not to be read. */
struct http_small *http_shelf_put(struct http_shelf *sh, const struct http_req *q, const struct http_file *f, xk_ns now);
void http_small_drop(struct http_small *s);
void http_shelf_clear(struct http_shelf *sh);

struct http_range { uint64_t first, n; };
/* What a request asks of a file that is there: 200, 206, 304, 412 or 416; *r is what to send. */
unsigned http_match(const struct http_req *q, const struct http_file *f, struct http_range *r);
/* All three forms of RFC 9110 5.6.7; -1: none of them. */
int64_t http_date_parse(const char *s);
#define HTTP_DATE 32
const char *http_date(char buf[HTTP_DATE], int64_t t);

/* The text of an answer's head (or all of it), never longer than the buffer. */
struct http_text { char *p; size_t n, cap; };
void http_add(struct http_text *t, const char *fmt, ...) XK_PRINTF(2, 3);
void http_put(struct http_text *t, const char *text, size_t n);
/* Status line, Date, and what every answer has. */
void http_head(struct http_text *t, unsigned status, const char *date, bool keep, bool http11);
/* The rest of an answer without a file: its body is a line of text, left out for HEAD. */
void http_plain(struct http_text *t, unsigned status, const struct http_req *q, bool head_only);
/* The rest of the head of one with a file. */
void http_of_file(struct http_text *t, unsigned status, const struct http_file *f, const struct http_range *r);

#endif
