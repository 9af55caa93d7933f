/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpc_http.c - a port of the loopback interface, and answers over HTTP, which is libmicrohttpd's.
 *
 * Invariant: nothing but 127.0.0.1 is listened at.
 */
#include "tools/vp-ctl/vpc.h"

#ifdef XK_HAVE_MICROHTTPD

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/vp-ctl/vpc_http.h"

enum MHD_Result vpc_http_answer(struct MHD_Connection *c, const struct vpc_answer *a)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(a->n, a->text, a->own ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
	enum MHD_Result res;

	if (r == NULL) {
		if (a->own)
			free(a->text);
		return MHD_NO;
	}
	res = MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, a->type);
	for (const char *const *h = a->headers; h != NULL && *h != NULL && res == MHD_YES; h += 2)
		res = MHD_add_response_header(r, h[0], h[1]);
	if (res == MHD_YES)
		res = MHD_queue_response(c, a->status, r);
	MHD_destroy_response(r);
	return res;
}

enum MHD_Result vpc_http_plain(struct MHD_Connection *c, unsigned status, const char *text, const char *const *headers)
{
	return vpc_http_answer(c, &(struct vpc_answer){ status, "text/plain; charset=utf-8", (char *)(uintptr_t)text, strlen(text),
							false, headers });
}

bool vpc_http_port(const char *text, uint16_t *port)
{
	char *end = NULL;
	unsigned long n = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 65536;

	*port = (uint16_t)n;
	if (n <= 65535 && *end == '\0')
		return true;
	fprintf(stderr, "vp-ctl: a port is a number from 0 (any that is free) to 65535, not '%s'\n", text);
	return false;
}

int vpc_http_listen(uint16_t *port)
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

void vpc_http_turn(struct MHD_Daemon *d, struct pollfd *p, unsigned n, xk_ns most)
{
	MHD_UNSIGNED_LONG_LONG ms;
	int wait = (int)(most / XK_MS + (most % XK_MS != 0));

	if (MHD_get_timeout(d, &ms) == MHD_YES && ms < (unsigned)wait)
		wait = (int)ms;
	p[0] = (struct pollfd){ .fd = MHD_get_daemon_info(d, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd, .events = POLLIN };
	(void)poll(p, n, wait);
	MHD_run(d);
}

#endif
