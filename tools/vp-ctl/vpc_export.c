/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpc_export.c - export: metrics over HTTP at a port of the loopback interface, until the graph ends.
 *
 * A scrape reads the counters in shared memory; the graph does nothing for it.  HTTP is libmicrohttpd's, driven
 * from the one loop here, which waits for requests and for the graph's end.
 * Invariant: nothing but 127.0.0.1 is listened at.
 */
#include "tools/vp-ctl/vpc.h"

#ifdef XK_HAVE_MICROHTTPD

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT    9464u            /* where exporters of this format listen unless told otherwise */
#define AT_ONCE 32u              /* connections */
#define SILENT  10u              /* s that one may say nothing */

struct exporter { const struct vpc *o; struct ctl_view *v; }; /* v NULL: it could not be had any more */

static enum MHD_Result answer(struct MHD_Connection *c, unsigned status, const char *type, char *text, size_t n,
			      enum MHD_ResponseMemoryMode whose)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(n, text, whose);
	enum MHD_Result res = MHD_NO;

	if (r == NULL)
		return MHD_NO;
	if (MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type) == MHD_YES &&
	    (status != MHD_HTTP_METHOD_NOT_ALLOWED || MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD") == MHD_YES))
		res = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return res;
}

static enum MHD_Result plain(struct MHD_Connection *c, unsigned status, const char *text)
{
	return answer(c, status, "text/plain; charset=utf-8", (char *)(uintptr_t)text, strlen(text), MHD_RESPMEM_PERSISTENT);
}

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
	struct exporter *x = arg;
	char *text;
	size_t n;

	(void)version;
	(void)body;
	(void)nbody;
	(void)own;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return plain(c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
	if (strcmp(url, "/") == 0)
		return plain(c, MHD_HTTP_OK, "the counters of a graph are at /metrics\n");
	if (strcmp(url, "/metrics") != 0)
		return plain(c, MHD_HTTP_NOT_FOUND, "there is only /metrics\n");
	text = counters(x, &n);
	if (text == NULL)
		return plain(c, MHD_HTTP_INTERNAL_SERVER_ERROR, x->v != NULL ? "out of memory\n" : "the counters are gone\n");
	return answer(c, MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8", text, n, MHD_RESPMEM_MUST_FREE);
}

/* A socket that listens, with its port; negative: said why not. */
static int listen_at(uint16_t *port)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(*port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1;
	socklen_t len = sizeof at;

	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
	    bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, SOMAXCONN) == 0 &&
	    getsockname(fd, (struct sockaddr *)&at, &len) == 0) {
		*port = ntohs(at.sin_port);
		return fd;
	}
	fprintf(stderr, "vp-ctl: cannot listen at 127.0.0.1:%u: %s\n", *port, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool read_port(const struct vpc *o, uint16_t *port)
{
	const char *text = o->nwords > 1 ? o->word[1] : NULL;
	unsigned long n;
	char *end;

	*port = PORT;
	if (text == NULL)
		return true;
	n = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 65536;
	*port = (uint16_t)n;
	if (n <= 65535 && *end == '\0')
		return true;
	fprintf(stderr, "vp-ctl: export needs a port from 0 (any that is free) to 65535, not '%s'\n", text);
	return false;
}

static void serve(const struct exporter *x, struct MHD_Daemon *d)
{
	const struct vpc *o = x->o;
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(d, MHD_DAEMON_INFO_EPOLL_FD);
	struct pollfd p[2] = { { .fd = info->epoll_fd, .events = POLLIN }, { .fd = o->fd, .events = POLLIN } };

	while (x->v != NULL && !vpc_gone(o)) {
		MHD_UNSIGNED_LONG_LONG ms;
		int wait = MHD_get_timeout(d, &ms) == MHD_YES ? (int)(ms < 60000 ? ms : 60000) : -1;

		(void)poll(p, 2, wait);
		MHD_run(d);
	}
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

	if (!read_port(o, &port))
		return VPC_USAGE;
	v = vpc_view(o, &code);
	if (v == NULL)
		return code;
	x.v = v;
	fd = listen_at(&port);
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
