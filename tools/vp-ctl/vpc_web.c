/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpc_web.c - web: a page for a browser, at a port of the loopback interface, until the graph ends.
 *
 * The page's address has a token that is drawn anew each time: whoever has it may do what the page does, nobody else
 * anything.  A request has to name this machine (Host), so that no other site's name leads here; one that changes
 * something has to have the token in a header, too, which no other site's form or link has.  The page is made of files
 * under web/, asks nobody else for anything, and may run no script but its own.
 * Invariant: nothing of the graph is said before the token was seen.
 */
#include "tools/vp-ctl/vpc.h"

#ifdef XK_HAVE_MICROHTTPD

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>

#include "tools/vp-ctl/vpc_web.h"
#include "tools/vp-ctl/vpc_web_text.h"

#define SILENT 10u               /* s that a connection may say, or take, nothing */
#define LINGER (3 * XK_SEC)      /* after the graph's end, so that open pages hear of it */

const char *const web_headers[] = {
	MHD_HTTP_HEADER_CACHE_CONTROL, "no-store",
	"Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types ladder",
	"Cross-Origin-Resource-Policy", "same-origin",
	"Referrer-Policy", "no-referrer",
	"X-Content-Type-Options", "nosniff",
	NULL
};

/* ---- who may ask ------------------------------------------------------------------------------------ */

/* Takes as long wherever they differ. */
static bool is_token(const struct web *w, const char *text)
{
	unsigned differ = 0;

	if (text == NULL || strnlen(text, WEB_TOKEN) < WEB_TOKEN)
		return false;
	for (unsigned i = 0; i < WEB_TOKEN; i++)
		differ |= (unsigned char)text[i] ^ (unsigned char)w->token[i];
	return differ == 0;
}

/* Any port: it may be forwarded from another machine's. */
static bool is_here(const char *host)
{
	static const char *const names[] = { "127.0.0.1", "localhost" };

	for (unsigned i = 0; host != NULL && i < XK_ARRAY_LEN(names); i++) {
		size_t n = strlen(names[i]);

		if (strncasecmp(host, names[i], n) == 0 &&
		    (host[n] == '\0' || (host[n] == ':' && strspn(host + n + 1, "0123456789") == strlen(host + n + 1))))
			return true;
	}
	return false;
}

/* ---- what is answered -------------------------------------------------------------------------------- */

static enum MHD_Result plain(struct MHD_Connection *c, unsigned status, const char *text)
{
	return vpc_http_plain(c, status, text, web_headers);
}

static enum MHD_Result counters(struct web *w, struct MHD_Connection *c)
{
	char *text = NULL;
	int code;

	while (w->v != NULL && !w->ended) {
		json_t *j = ctl_snapshot(w->v, false);

		free(text);
		text = json_dumps(j, JSON_COMPACT);
		json_decref(j);
		if (vpc_held(w->o, &w->v, &code))
			break;
	}
	if (w->v == NULL || w->ended) {
		free(text);
		return plain(c, MHD_HTTP_GONE, "the graph has ended\n");
	}
	if (text == NULL)
		return plain(c, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n");
	return vpc_http_answer(c, &(struct vpc_answer){ MHD_HTTP_OK, "application/json", text, strlen(text), true, web_headers });
}

static enum MHD_Result file(struct MHD_Connection *c, const char *name)
{
	static const char *const types[][2] = {
		{ ".html", "text/html; charset=utf-8" }, { ".css", "text/css; charset=utf-8" }, { ".js", "text/javascript; charset=utf-8" },
	};
	const char *end;

	if (*name == '\0')
		name = "page.html";
	end = strrchr(name, '.');
	for (unsigned i = 0; end != NULL && i < XK_ARRAY_LEN(web_text); i++)
		for (unsigned k = 0; k < XK_ARRAY_LEN(types); k++)
			if (strcmp(name, web_text[i].name) == 0 && strcmp(end, types[k][0]) == 0)
				return vpc_http_answer(c, &(struct vpc_answer){ MHD_HTTP_OK, types[k][1], (char *)(uintptr_t)web_text[i].text,
										web_text[i].n, false, web_headers });
	return plain(c, MHD_HTTP_NOT_FOUND, "the page has no such part\n");
}

static enum MHD_Result wrong_method(struct MHD_Connection *c)
{
	return plain(c, MHD_HTTP_METHOD_NOT_ALLOWED, "GET and HEAD, and POST of what is asked\n");
}

/* The head of a POST; its body comes with later calls. */
static enum MHD_Result post(struct web *w, struct MHD_Connection *c, const char *name, void **own)
{
	if (strcmp(name, "ask") != 0)
		return wrong_method(c);
	if (!is_token(w, MHD_lookup_connection_value(c, MHD_HEADER_KIND, "X-VP-Token")))
		return plain(c, MHD_HTTP_FORBIDDEN, "X-VP-Token is not this page's\n");
	*own = web_ask_new(w, c);
	return *own != NULL ? MHD_YES : MHD_NO;
}

static enum MHD_Result head(struct web *w, struct MHD_Connection *c, const char *url, const char *method, void **own)
{
	const char *name;

	if (!is_here(MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST)))
		return plain(c, MHD_HTTP_FORBIDDEN, "Host is not this machine\n");
	if (url[0] != '/' || !is_token(w, url + 1) || url[1 + WEB_TOKEN] != '/')
		return plain(c, MHD_HTTP_FORBIDDEN, "the address is the one that vp-ctl web has printed\n");
	web_known(c);
	name = url + 1 + WEB_TOKEN + 1;
	if (strcmp(method, MHD_HTTP_METHOD_POST) == 0)
		return post(w, c, name, own);
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return wrong_method(c);
	return strcmp(name, "snapshot") == 0 ? counters(w, c) : file(c, name);
}

static enum MHD_Result request(void *arg, struct MHD_Connection *c, const char *url, const char *method,
			       const char *version, const char *body, size_t *nbody, void **own)
{
	(void)version;
	if (*own == NULL)
		return head(arg, c, url, method, own);
	if (*nbody == 0)
		return web_ask_go(*own);
	web_ask_body(*own, body, *nbody);
	*nbody = 0;
	return MHD_YES;
}

static void request_over(void *arg, struct MHD_Connection *c, void **own, enum MHD_RequestTerminationCode why)
{
	(void)arg;
	(void)c;
	(void)why;
	if (*own != NULL)
		web_ask_free(*own);
	*own = NULL;
}

/* ---- the daemon ----------------------------------------------------------------------------------------- */

static bool draw_token(struct web *w)
{
	unsigned char b[WEB_TOKEN / 2];

	if (getrandom(b, sizeof b, 0) != (ssize_t)sizeof b) {
		fprintf(stderr, "vp-ctl: no random bytes for a token: %s\n", strerror(errno));
		return false;
	}
	for (unsigned i = 0; i < sizeof b; i++)
		snprintf(w->token + 2 * i, 3, "%02x", b[i]);
	return true;
}

/* Once around, in at most `most`. */
static void turn(struct web *w, xk_ns most)
{
	struct pollfd p[2 + WEB_POLLS] = { [1] = { .fd = w->ended ? -1 : w->o->fd, .events = POLLIN } };
	unsigned n = 2 + web_asks_poll(w, p + 2);

	vpc_http_turn(w->d, p, n, web_asks_patience(w, xk_clock_host(), most));
	if (web_asks_look(w, xk_clock_host()))
		MHD_run(w->d);
}

static void serve(struct web *w)
{
	xk_ns now, until;

	while (w->v != NULL && !vpc_gone(w->o))
		turn(w, 60 * XK_SEC);
	if (w->v != NULL)
		fprintf(stderr, "vp-ctl: the graph has ended\n");
	w->ended = true;
	web_asks_end(w);
	MHD_run(w->d);
	until = xk_clock_host() + LINGER;
	while ((now = xk_clock_host()) < until)
		turn(w, until - now);
}

static bool start(struct web *w, uint16_t port)
{
	int fd = vpc_http_listen(&port);

	if (fd < 0)
		return false;
	w->d = MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, request, w, MHD_OPTION_LISTEN_SOCKET, fd,
				MHD_OPTION_CONNECTION_LIMIT, WEB_PLACES, MHD_OPTION_CONNECTION_TIMEOUT, SILENT,
				MHD_OPTION_NOTIFY_COMPLETED, request_over, NULL, MHD_OPTION_NOTIFY_CONNECTION, web_place, w, MHD_OPTION_END);
	if (w->d == NULL) {
		fprintf(stderr, "vp-ctl: libmicrohttpd does not start: %s\n", strerror(errno));
		close(fd);
		return false;
	}
	printf("http://127.0.0.1:%u/%s/\n", port, w->token);
	fflush(stdout);
	return true;
}

int vpc_web(struct vpc *o)
{
	struct web w = { .o = o };
	int code = VPC_OK;
	uint16_t port;

	if (!vpc_http_port(o->port != NULL ? o->port : "0", &port))
		return VPC_USAGE;
	w.v = vpc_view(o, &code);
	if (w.v == NULL)
		return code;
	if (draw_token(&w) && start(&w, port)) {
		serve(&w);
		MHD_stop_daemon(w.d);
	} else {
		code = VPC_REFUSED;
	}
	ctl_view_free(w.v);
	return code;
}

#else

int vpc_web(struct vpc *o)
{
	(void)o;
	fprintf(stderr, "vp-ctl: web is not in this build: install libmicrohttpd-dev, configure again; "
		"vp-ctl top and dot show the same\n");
	return VPC_REFUSED;
}

#endif
