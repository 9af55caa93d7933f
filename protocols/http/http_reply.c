/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * http_reply.c - the heads of answers, and the bodies of those without a file.
 *
 * Text is appended to a buffer that is large enough by construction: the longest
 * thing a client can put into it is its own target, in a Location.
 * Invariant: every answer says how long its body is, or has none by its status.
 */
#include "protocols/http/http_priv.h"

#include <stdarg.h>
#include <string.h>

static const struct { unsigned status; const char *name, *why; } statuses[] = {
	{ 200, "OK", "" },
	{ 206, "Partial Content", "" },
	{ 301, "Moved Permanently", "This is a directory: its name ends with a slash." },
	{ 304, "Not Modified", "" },
	{ 400, "Bad Request", "The request is not HTTP as RFC 9112 has it." },
	{ 403, "Forbidden", "This is not for you to see." },
	{ 404, "Not Found", "There is nothing of that name here." },
	{ 405, "Method Not Allowed", "Only GET and HEAD are." },
	{ 408, "Request Timeout", "The request took too long to arrive." },
	{ 412, "Precondition Failed", "The file is not the one that the request speaks of." },
	{ 413, "Content Too Large", "The request has too large a body." },
	{ 414, "URI Too Long", "The request's target is too long." },
	{ 416, "Range Not Satisfiable", "The file has no such bytes." },
	{ 431, "Request Header Fields Too Large", "The request's fields are too long." },
	{ 500, "Internal Server Error", "The file cannot be read." },
	{ 501, "Not Implemented", "The request needs something that this server does not know." },
	{ 503, "Service Unavailable", "Too much is going on: try again later." },
	{ 505, "HTTP Version Not Supported", "This server speaks HTTP/1.1." },
};

static unsigned row_of(unsigned status)
{
	for (unsigned i = 0; i < XK_ARRAY_LEN(statuses); i++)
		if (statuses[i].status == status)
			return i;
	return row_of(500);
}

void http_add(struct http_text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->p + t->n, t->cap - t->n, fmt, ap);
	va_end(ap);
	xk_assert(n >= 0 && (size_t)n < t->cap - t->n);
	t->n += (size_t)n;
}

void http_put(struct http_text *t, const char *text, size_t n)
{
	xk_assert(n < t->cap - t->n);
	memcpy(t->p + t->n, text, n);
	t->n += n;
}

static void put(struct http_text *t, const char *text)
{
	http_put(t, text, strlen(text));
}

/* Every answer has it, so nothing is formatted here. */
void http_head(struct http_text *t, unsigned status, const char *date, bool keep, bool http11)
{
	const char number[] = { (char)('0' + status / 100 % 10), (char)('0' + status / 10 % 10), (char)('0' + status % 10), ' ', 0 };

	put(t, "HTTP/1.1 ");
	put(t, number);
	put(t, statuses[row_of(status)].name);
	put(t, "\r\nDate: ");
	put(t, date);
	put(t, keep ? http11 ? "\r\n" : "\r\nConnection: keep-alive\r\n" : "\r\nConnection: close\r\n");
}

void http_plain(struct http_text *t, unsigned status, const struct http_req *q, bool head_only)
{
	const char *name = statuses[row_of(status)].name, *why = statuses[row_of(status)].why;

	if (status == 301)
		http_add(t, "Location: %s/%s\r\n", q->raw, q->query);
	if (status == 405)
		http_add(t, "Allow: GET, HEAD\r\n");
	http_add(t, "Content-Type: text/plain; charset=utf-8\r\nContent-Length: %zu\r\n\r\n",
		 strlen(name) + strlen(why) + 6);        /* number, space, line ends */
	if (!head_only)
		http_add(t, "%u %s\n%s\n", status % 1000, name, why);
}

void http_of_file(struct http_text *t, unsigned status, const struct http_file *f, const struct http_range *r)
{
	char date[HTTP_DATE];

	http_add(t, "ETag: %s\r\nLast-Modified: %s\r\nAccept-Ranges: bytes\r\n", f->etag, http_date(date, f->mtime));
	if (status == 206)
		http_add(t, "Content-Range: bytes %llu-%llu/%llu\r\n", (unsigned long long)r->first,
			 (unsigned long long)(r->first + r->n - 1), (unsigned long long)f->size);
	if (status == 416)
		http_add(t, "Content-Range: bytes */%llu\r\n", (unsigned long long)f->size);
	if (status == 200 || status == 206)
		http_add(t, "Content-Type: %s\r\nContent-Length: %llu\r\n\r\n", f->type, (unsigned long long)r->n);
	else if (status == 304)
		http_add(t, "\r\n");
}
