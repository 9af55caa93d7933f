/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpc_web_ask.c - requests of the page to the graph: each goes over a connection of its own to the control socket, and
 * nobody waits for it but its browser.
 *
 * A browser may ask for what a page shows and changes, and for nothing that writes files, loads code or ends the run.
 * Traces come back as ladders.  Whoever goes takes its request along.
 * Invariant: a request is in web.asks exactly as long as its connection is suspended.
 */
#include "tools/vp-ctl/vpc.h"

#ifdef XK_HAVE_MICROHTTPD

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/vp-ctl/vpc_web.h"

#define BODY_MAX   8192u
#define TOO_LARGE  413u
#define ANSWER_MAX (4u << 20)    /* bytes of all lines of an answer */
#define LOST       (3 * XK_SEC)  /* until a lost connection is not the graph's end */
#define TRACE_MAX  (60 * XK_SEC) /* a trace beside the time for an answer */

enum state { READING, WAITING, DONE };

struct web_ask {
	struct web_ask        *next;     /* in web.asks */
	struct web            *w;
	struct MHD_Connection *c;
	enum state             state;
	char                   body[BODY_MAX];
	size_t                 n;
	bool                   too_long;
	struct vpc             o;        /* the connection to the graph */
	size_t                 heard;    /* bytes of lines taken out of it */
	bool                   trace;
	json_t                *ways;     /* its ladders */
	xk_ns                  until;
	struct vpc_answer      answer;   /* DONE; no text: the browser has gone */
};

static void hang_up(struct web_ask *a)
{
	if (a->o.fd >= 0)
		close(a->o.fd);
	a->o.fd = -1;
}

/* ---- answers ----------------------------------------------------------------------------------- */

static void settle(struct web_ask *a, unsigned status, const char *type, char *text)
{
	a->state = DONE;
	a->answer = (struct vpc_answer){ status, type, text, text != NULL ? strlen(text) : 0, true, web_headers };
}

/* A refusal in the words of the control socket. */
static void refuse(struct web_ask *a, unsigned status, const char *code, const char *why)
{
	json_t *j = json_pack("{s:b, s:{s:s, s:s}}", "ok", 0, "error", "code", code, "message", why);

	settle(a, status, "application/json", json_dumps(j, JSON_COMPACT));
	json_decref(j);
}

static char *pictures_of(const json_t *ways)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	if (f == NULL)
		return NULL;
	vpc_ladder_pictures(f, ways);
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}

static void conclude(struct web_ask *a, const json_t *line)
{
	if (a->trace && json_is_true(json_object_get(line, "ok")))
		settle(a, MHD_HTTP_OK, "text/html; charset=utf-8", pictures_of(a->ways));
	else
		settle(a, MHD_HTTP_OK, "application/json", json_dumps(line, JSON_COMPACT));
}

/* ---- asking -------------------------------------------------------------------------------------- */

/* The request of the body, or NULL: refused. */
static json_t *read_request(struct web_ask *a)
{
	static const char *const may[] = { "show", "get", "set", "trace" };
	json_error_t bad;
	json_t *req = json_loadb(a->body, a->n, JSON_REJECT_DUPLICATES, &bad);
	const char *cmd = json_string_value(json_object_get(req, "cmd"));

	for (unsigned i = 0; cmd != NULL && i < XK_ARRAY_LEN(may); i++)
		if (strcmp(cmd, may[i]) == 0)
			return req;
	if (cmd == NULL)
		refuse(a, MHD_HTTP_BAD_REQUEST, "syntax", "a request is an object with \"cmd\"");
	else
		refuse(a, MHD_HTTP_FORBIDDEN, "refused", "a page may ask show, get, set and trace");
	json_decref(req);
	return NULL;
}

static void ask(struct web_ask *a, json_t *req)
{
	struct web *w = a->w;
	char why[256];

	a->o.fd = ctl_connect_now(w->o->path, why, sizeof why);
	if (a->o.fd < 0 || vpc_send(&a->o, json_incref(req)) != VPC_OK) {
		refuse(a, MHD_HTTP_SERVICE_UNAVAILABLE, "failed", a->o.fd < 0 ? why : "the request was not taken");
		return;
	}
	a->trace = strcmp(json_string_value(json_object_get(req, "cmd")), "trace") == 0;
	a->ways = json_object();
	a->until = xk_clock_host() + w->o->timeout + (a->trace ? TRACE_MAX : 0);
	a->state = WAITING;
	a->next = w->asks;
	w->asks = a;
	w->nasks++;
	MHD_suspend_connection(a->c);
}

static void begin(struct web_ask *a)
{
	json_t *req;

	if (a->too_long)
		refuse(a, TOO_LARGE, "too-long", "a request of a page has at most 8192 bytes");
	else if (a->w->ended)
		refuse(a, MHD_HTTP_GONE, "ended", "the graph has ended");
	else if (a->w->nasks == WEB_ASKS)
		refuse(a, MHD_HTTP_SERVICE_UNAVAILABLE, "busy", "the graph is asked too much at once: try again");
	else if ((req = read_request(a)) != NULL) {
		ask(a, req);
		json_decref(req);
	}
}

struct web_ask *web_ask_new(struct web *w, struct MHD_Connection *c)
{
	struct web_ask *a = calloc(1, sizeof *a);

	if (a == NULL)
		return NULL;
	a->w = w;
	a->c = c;
	a->o = (struct vpc){ .fd = -1, .passed = -1 };
	memcpy(a->o.path, w->o->path, sizeof a->o.path);
	return a;
}

void web_ask_body(struct web_ask *a, const char *body, size_t n)
{
	a->too_long = a->too_long || n > sizeof a->body - a->n;
	if (a->too_long)
		return;
	memcpy(a->body + a->n, body, n);
	a->n += n;
}

enum MHD_Result web_ask_go(struct web_ask *a)
{
	enum MHD_Result res;

	if (a->state == READING)
		begin(a);
	if (a->state == WAITING)
		return MHD_YES;
	if (a->answer.text == NULL)
		return MHD_NO;
	res = vpc_http_answer(a->c, &a->answer);
	a->answer.text = NULL;           /* the answer's, or freed */
	return res;
}

void web_ask_free(struct web_ask *a)
{
	hang_up(a);
	if (a->o.passed >= 0)
		close(a->o.passed);
	free(a->o.in);
	free(a->answer.text);
	json_decref(a->ways);
	free(a);
}

/* ---- waiting --------------------------------------------------------------------------------------- */

static int browser(const struct web_ask *a)
{
	return MHD_get_connection_info(a->c, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

unsigned web_asks_poll(const struct web *w, struct pollfd *p)
{
	unsigned n = 0;

	for (const struct web_ask *a = w->asks; a != NULL; a = a->next) {
		p[n++] = (struct pollfd){ .fd = a->o.fd, .events = POLLIN };
		p[n++] = (struct pollfd){ .fd = browser(a), .events = POLLRDHUP };
	}
	return n;
}

xk_ns web_asks_patience(const struct web *w, xk_ns now, xk_ns most)
{
	for (const struct web_ask *a = w->asks; a != NULL; a = a->next) {
		xk_ns left = a->until > now ? a->until - now : 0;

		most = left < most ? left : most;
	}
	return most;
}

/* A line of what the graph says; false: out of memory. */
static bool take_line(struct web_ask *a, const json_t *line)
{
	const json_t *event = json_object_get(line, "event");

	if (event == NULL)
		conclude(a, line);
	else if (a->trace && vpc_is_step(event))
		return vpc_ladder_add(a->ways, event);
	return true;
}

/* The graph has let us go; most likely it ends, of which web.o hears in a moment. */
static void lose(struct web_ask *a, xk_ns now)
{
	hang_up(a);
	a->until = now + LOST < a->until ? now + LOST : a->until;
}

static void hear(struct web_ask *a, xk_ns now)
{
	size_t before = a->o.nin;
	bool there = vpc_more(&a->o), found = true;

	a->heard += a->o.nin - before;
	while (a->state == WAITING && found) {
		json_t *line = vpc_taken(&a->o, &found);

		if (found && line == NULL)
			refuse(a, MHD_HTTP_BAD_GATEWAY, "failed", "what listens there does not speak our language");
		else if (found && !take_line(a, line))
			refuse(a, MHD_HTTP_INTERNAL_SERVER_ERROR, "no-memory", "out of memory");
		json_decref(line);
	}
	if (a->state == WAITING && a->heard > ANSWER_MAX)
		refuse(a, MHD_HTTP_BAD_GATEWAY, "too-long", "the answer is longer than a page should be: ask for less, or vp-ctl");
	else if (a->state == WAITING && !there)
		lose(a, now);
}

static bool is_ready(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	return poll(&p, 1, 0) > 0;
}

static void look(struct web_ask *a, xk_ns now)
{
	if (is_ready(a->o.fd, POLLIN))
		hear(a, now);
	else if (is_ready(browser(a), POLLRDHUP))
		settle(a, 0, NULL, NULL);
	else if (now >= a->until && a->o.fd < 0)
		refuse(a, MHD_HTTP_BAD_GATEWAY, "failed", "the graph let us go");
	else if (now >= a->until)
		refuse(a, MHD_HTTP_GATEWAY_TIMEOUT, "failed", "no answer in time: the graph is stopped, or too busy");
}

/* Out of the list; libmicrohttpd comes back with it (web_ask_go). */
static void resume(struct web *w, struct web_ask **at)
{
	struct web_ask *a = *at;

	*at = a->next;
	w->nasks--;
	hang_up(a);                      /* a trace ends with that */
	MHD_resume_connection(a->c);
}

bool web_asks_look(struct web *w, xk_ns now)
{
	bool any = false;

	for (struct web_ask **at = &w->asks; *at != NULL;) {
		look(*at, now);
		if ((*at)->state == DONE) {
			resume(w, at);
			any = true;
		} else {
			at = &(*at)->next;
		}
	}
	return any;
}

void web_asks_end(struct web *w)
{
	while (w->asks != NULL) {
		refuse(w->asks, MHD_HTTP_GONE, "ended", "the graph has ended");
		resume(w, &w->asks);
	}
}

#endif
