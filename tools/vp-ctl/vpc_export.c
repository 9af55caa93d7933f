/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpc_export.c - export: metrics over HTTP at a port of the loopback interface, until the graph ends.
 *
 * A scrape reads the counters in shared memory; the graph does nothing for it.  The one loop here waits for requests and
 * for the graph's end.
 */
#include "tools/vp-ctl/vpc.h"

#ifdef XK_HAVE_MICROHTTPD

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/vp-ctl/vpc_http.h"

#define PORT    "9464"           /* where exporters of this format listen unless told otherwise */
#define AT_ONCE 32u              /* connections */
#define SILENT  10u              /* s that one may say nothing */

struct exporter { const struct vpc *o; struct ctl_view *v; }; /* v NULL: it could not be had any more */

/* All counters of one moment's nodes; NULL: out of memory, or there are none to be had. */
static char *counters(struct exporter *x, size_t *n)
{
	int code;

	while (x->v != NULL) {
		char *text = ctl_metrics(x->v, x->o->per_vp, n);

		if (text == NULL || vpc_held(x->o, &x->v, &code))
			return text;
		free(text);
	}
	return NULL;
}

/* A body that comes with a request is not read: the answer closes the connection then. */
static enum MHD_Result request(void *arg, struct MHD_Connection *c, const char *url, const char *method,
			       const char *version, const char *body, size_t *nbody, void **own)
{
	static const char *const allow[] = { MHD_HTTP_HEADER_ALLOW, "GET, HEAD", NULL };
	struct exporter *x = arg;
	char *text;
	size_t n;

	(void)version;
	(void)body;
	(void)nbody;
	(void)own;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return vpc_http_plain(c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n", allow);
	if (strcmp(url, "/") == 0)
		return vpc_http_plain(c, MHD_HTTP_OK, "the counters of a graph are at /metrics\n", NULL);
	if (strcmp(url, "/metrics") != 0)
		return vpc_http_plain(c, MHD_HTTP_NOT_FOUND, "there is only /metrics\n", NULL);
	text = counters(x, &n);
	if (text == NULL)
		return vpc_http_plain(c, MHD_HTTP_INTERNAL_SERVER_ERROR, x->v != NULL ? "out of memory\n" : "the counters are gone\n",
				      NULL);
	return vpc_http_answer(c, &(struct vpc_answer){ MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8", text, n, true, NULL });
}

static void serve(const struct exporter *x, struct MHD_Daemon *d)
{
	const struct vpc *o = x->o;
	struct pollfd p[2] = { [1] = { .fd = o->fd, .events = POLLIN } };

	while (x->v != NULL && !vpc_gone(o))
		vpc_http_turn(d, p, 2, 60 * XK_SEC);
	if (x->v != NULL)
		fprintf(stderr, "vp-ctl: the graph has ended\n");
}

int vpc_export(struct vpc *o)
{
	struct exporter x = { .o = o };
	struct MHD_Daemon *d;
	int code = VPC_OK, fd;
	struct ctl_view *v;
	uint16_t port;

	if (!vpc_http_port(o->nwords > 1 ? o->word[1] : o->port != NULL ? o->port : PORT, &port))
		return VPC_USAGE;
	v = vpc_view(o, &code);
	if (v == NULL)
		return code;
	x.v = v;
	fd = vpc_http_listen(&port);
	d = fd < 0 ? NULL : MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, request, &x, MHD_OPTION_LISTEN_SOCKET, fd,
					     MHD_OPTION_CONNECTION_LIMIT, AT_ONCE, MHD_OPTION_CONNECTION_TIMEOUT, SILENT,
					     MHD_OPTION_END);
	if (d == NULL && fd >= 0) {
		fprintf(stderr, "vp-ctl: libmicrohttpd does not start: %s\n", strerror(errno));
		close(fd);
	}
	if (d != NULL) {
		printf("http://127.0.0.1:%u/metrics\n", port);
		fflush(stdout);
		serve(&x, d);
		MHD_stop_daemon(d);      /* and the socket */
	}
	ctl_view_free(x.v);
	return d != NULL ? VPC_OK : VPC_REFUSED;
}

#else

int vpc_export(struct vpc *o)
{
	(void)o;
	fprintf(stderr, "vp-ctl: export is not in this build: install libmicrohttpd-dev, configure again; "
		"vp-ctl metrics prints the same text\n");
	return VPC_REFUSED;
}

#endif
