/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * http_parse.c - the bytes of a request's head -> struct http_req (RFC 9112 2 to 7).
 *
 * A pure function over one buffer: tokens are cut in place.  It is strict where
 * leniency has let requests be smuggled: no space before a colon, no folded lines, no
 * bare CR, one Host, one length.  A single LF ends a line (2.2).
 * Invariant: reads only [buf, buf + n), writes only [buf, buf + 2n + 2).
 */
#include "protocols/http/http_priv.h"

#include <string.h>
#include <strings.h>

/* token of RFC 9110 5.6.2 */
static bool is_token(int c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c != 0 && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool all_token(const char *s)
{
	if (*s == 0)
		return false;
	for (; *s != 0; s++)
		if (!is_token((unsigned char)*s))
			return false;
	return true;
}

static int hex(int c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The next line, cut; NULL: it holds a NUL or a CR of its own, or there is none. */
static char *next_line(char **at, char *end)
{
	char *s = *at, *nl = memchr(s, '\n', (size_t)(end - s));

	if (nl == NULL)
		return NULL;
	*at = nl + 1;
	*nl = 0;
	if (nl > s && nl[-1] == '\r')
		*--nl = 0;
	return strlen(s) == (size_t)(nl - s) && strchr(s, '\r') == NULL ? s : NULL;
}

/* ---- the request line ------------------------------------------------------------- */

static unsigned method_of(const char *s, struct http_req *q)
{
	static const char *const known[] = {
		"POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", NULL
	};

	q->method = HTTP_OTHER;
	if (strcmp(s, "GET") == 0)
		q->method = HTTP_GET;
	else if (strcmp(s, "HEAD") == 0)
		q->method = HTTP_HEAD;
	if (q->method != HTTP_OTHER)
		return 0;
	for (unsigned i = 0; known[i] != NULL; i++)
		if (strcmp(s, known[i]) == 0)
			return 405;
	return 501;
}

static unsigned version_of(const char *s, struct http_req *q)
{
	if (strncmp(s, "HTTP/", 5) != 0 || s[5] < '0' || s[5] > '9' || s[6] != '.' || s[7] < '0' ||
	    s[7] > '9' || s[8] != 0)
		return 400;
	if (s[5] != '1')
		return 505;
	q->http11 = s[7] != '0';
	q->keep = q->http11;
	return 0;
}

/* Decodes [s, end) over itself and drops empty and single-dot segments. */
static unsigned decode_path(char *s, char *end, struct http_req *q)
{
	char *out = s, *seg = s;

	q->path = s;
	q->dir = true;
	for (char *p = s + 1; p <= end; p++) {
		int c = p < end ? (unsigned char)*p : '/';

		if (p < end && c == '%') {
			if (end - p < 3 || hex(p[1]) < 0 || hex(p[2]) < 0)
				return 400;
			c = hex(p[1]) << 4 | hex(p[2]);
			p += 2;
			if (c == 0 || c == '/')
				return 400;      /* neither can be part of a name */
			*out++ = (char)c;
			continue;
		}
		if (c != '/') {
			*out++ = (char)c;
			continue;
		}
		if (out - seg == 2 && seg[0] == '.' && seg[1] == '.')
			return 400;              /* clients resolve these (RFC 3986 5.2.4) */
		q->dir = out == seg || (out - seg == 1 && seg[0] == '.');
		if (q->dir)
			out = seg;
		else if (p < end)
			*out++ = '/';
		seg = out;
	}
	if (out > s && out[-1] == '/')
		out--;
	*out = 0;
	return 0;
}

/* `copy` has room for the target once more: the path is decoded there. */
static unsigned target_of(char *s, char *copy, struct http_req *q)
{
	char *mark;

	for (const char *p = s; *p != 0; p++)
		if ((unsigned char)*p <= ' ' || (unsigned char)*p >= 0x7f)
			return 400;
	if (strncasecmp(s, "http://", 7) == 0 || strncasecmp(s, "https://", 8) == 0) {
		s = strchr(strchr(s, ':') + 3, '/');
		if (s == NULL) {
			q->raw = "/";
			q->path = q->query = "";
			q->dir = true;
			return 0;
		}
	}
	if (*s != '/')
		return 400;
	if ((mark = strchr(s, '#')) != NULL)
		*mark = 0;
	strcpy(copy, s);
	q->raw = copy;
	q->query = "";
	mark = strchr(copy, '?');
	if (mark != NULL)
		q->query = s + (mark - copy);
	/* The query keeps its place in s; the path is decoded in front of it, shrinking only. */
	if (mark != NULL)
		*mark = 0;
	while (copy[1] == '/')
		q->raw = ++copy;
	return decode_path(s, s + strcspn(s, "?"), q);
}

static unsigned request_line(char *line, char *copy, struct http_req *q)
{
	char *target = strchr(line, ' '), *version;
	unsigned status, unknown;

	if (target == NULL)
		return 400;
	*target++ = 0;
	version = strchr(target, ' ');
	if (version == NULL || !all_token(line))
		return 400;
	*version++ = 0;
	status = version_of(version, q);
	if (status != 0)
		return status;
	unknown = method_of(line, q);
	status = unknown != 0 ? 0 : target_of(target, copy, q);
	return status != 0 ? status : unknown;
}

/* ---- fields ------------------------------------------------------------------------------ */

/* Is `word` in the comma-separated list? */
static bool lists(const char *v, const char *word)
{
	size_t n = strlen(word);

	while (*v != 0) {
		v += strspn(v, " \t,");
		if (strncasecmp(v, word, n) == 0 && (v[n] == 0 || strchr(" \t,", v[n]) != NULL))
			return true;
		v += strcspn(v, ",");
	}
	return false;
}

static unsigned length_of(const char *v, struct http_req *q)
{
	uint64_t n = 0;

	if (*v == 0)
		return 400;
	for (; *v != 0; v++) {
		if (*v < '0' || *v > '9')
			return 400;
		n = n > UINT64_MAX / 20 ? n : n * 10 + (uint64_t)(*v - '0');
	}
	q->body = n;
	return 0;
}

static unsigned coding_of(const char *v, struct http_req *q)
{
	q->chunked = true;
	if (strcasecmp(v, "chunked") == 0)
		return 0;
	return 501;
}

struct seen { bool length, coding; };

static unsigned field(const char *name, const char *v, struct http_req *q, struct seen *seen)
{
	static const struct { const char *name; size_t at; } kept[] = {
		{ "range", offsetof(struct http_req, range) },
		{ "if-range", offsetof(struct http_req, if_range) },
		{ "if-match", offsetof(struct http_req, if_match) },
		{ "if-none-match", offsetof(struct http_req, if_none_match) },
		{ "if-modified-since", offsetof(struct http_req, if_modified) },
		{ "if-unmodified-since", offsetof(struct http_req, if_unmodified) },
	};

	if (strcasecmp(name, "host") == 0) {
		if (q->host != NULL || strpbrk(v, " \t,/") != NULL)
			return 400;
		q->host = v;
	} else if (strcasecmp(name, "connection") == 0) {
		q->keep = lists(v, "close") ? false : lists(v, "keep-alive") ? true : q->keep;
	} else if (strcasecmp(name, "content-length") == 0) {
		if (seen->length)
			return 400;
		seen->length = true;
		return length_of(v, q);
	} else if (strcasecmp(name, "transfer-encoding") == 0) {
		if (seen->coding)
			return 400;
		seen->coding = true;
		return coding_of(v, q);
	} else if (strcasecmp(name, "expect") == 0) {
		q->expect = true;
	}
	for (unsigned i = 0; i < XK_ARRAY_LEN(kept); i++)
		if (strcasecmp(name, kept[i].name) == 0)
			memcpy((char *)q + kept[i].at, &v, sizeof v);
	return 0;
}

static unsigned field_line(char *line, struct http_req *q, struct seen *seen)
{
	char *v = strchr(line, ':'), *end;

	if (v == NULL)
		return 400;
	*v++ = 0;
	if (!all_token(line))            /* also a folded line, and a space before the colon */
		return 400;
	v += strspn(v, " \t");
	end = v + strlen(v);
	while (end > v && (end[-1] == ' ' || end[-1] == '\t'))
		*--end = 0;
	for (const char *p = v; *p != 0; p++)
		if (((unsigned char)*p < ' ' && *p != '\t') || *p == 0x7f)
			return 400;
	return field(line, v, q, seen);
}

static unsigned fields(char *at, char *end, struct http_req *q)
{
	struct seen seen = { false, false };
	unsigned status = 0, s;
	char *line;

	for (;;) {
		line = next_line(&at, end);
		if (line == NULL)
			return 400;
		if (*line == 0)
			break;
		s = field_line(line, q, &seen);
		if (s == 400)
			return 400;
		status = s != 0 ? s : status;
	}
	/* RFC 9112 6.3, 3.2: what else requests are smuggled with. */
	if (seen.coding && (seen.length || !q->http11))
		return 400;
	if (q->http11 && q->host == NULL)
		return 400;
	return status;
}

unsigned http_parse(char *buf, uint32_t n, struct http_req *q)
{
	char *at = buf, *end = buf + n, *line, *copy;
	unsigned first, rest;

	memset(q, 0, sizeof *q);
	q->raw = q->path = q->query = "";
	while (at < end && (*at == '\r' || *at == '\n'))
		at++;                    /* RFC 9112 2.2: blank lines in front */
	line = next_line(&at, end);
	if (line == NULL)
		return 400;
	copy = end + 1;
	first = request_line(line, copy, q);
	if (first == 400 || first == 505) {
		q->keep = false;
		return first;
	}
	rest = fields(at, end, q);
	if (rest == 400 || rest == 501)
		q->keep = false;
	return rest != 0 ? rest : first;
}
