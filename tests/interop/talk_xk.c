/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * talk_xk.c - our stack: a graph of sockets over TCP over a TAP device or another one, with the
 * impaired link between when there is a loss.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "protocols/sock/xk_sock.h"
#include "runtime/compose/xk_compose.h"
#include "runtime/sync/xk_sync.h"
#include "tests/interop/talk.h"

static struct { struct xk_errs *e; struct xk_spec *s; struct xk_graph *g; uint64_t live; } run;
static struct xk_node *node;

static int xk_text(char *to, size_t n, const struct talk_opts *o)
{
	char bad[128] = "dev", kernel[64] = "", dev[256];

	if (o->loss != NULL)
		snprintf(bad, sizeof bad, "impair { loss = '%s', over = dev }", o->loss);
	if (o->kernel != NULL)
		snprintf(kernel, sizeof kernel, ", addr = '%s'", o->kernel);
	snprintf(dev, sizeof dev, "tap { ifname = '%s'%s, mac = '02:00:00:00:78:6b' }", o->ifname, kernel);
	return snprintf(to, n,
		"local dev = %s\n"
		"local net = ip { addr = '%s', over = arp { over = eth { over = %s } } }\n"
		"icmp { over = net }\n"
		"sock { name = 'sock', over = tcp { over = net, %s } }\n"
		"return graph 'talk' { threading = %s }\n", o->device != NULL ? o->device : dev, o->addr, bad, o->tcp, o->threading);
}

static int xk_up_all(const struct talk_opts *o)
{
	struct xk_compose_opts co = { .path = NULL };
	char text[2048];
	int n = xk_text(text, sizeof text, o);

	xk_rcu_register();
	run.live = xk_alloc_live();
	run.e = xk_errs_new();
	if (n >= (int)sizeof text)
		return -ENAMETOOLONG;
	if (xk_spec_load_text(&run.s, "talk.lua", text, (size_t)n, &co, run.e) != XK_OK ||
	    xk_spec_check(run.s, run.e, NULL) != XK_OK || xk_spec_build(run.s, &run.g, run.e) != XK_OK ||
	    xk_graph_up(run.g, run.e) != XK_OK || xk_graph_run(run.g, run.e) != XK_OK) {
		xk_spec_print_errors(stderr, run.s, run.e, NULL);
		return -EINVAL;
	}
	node = xk_graph_find(run.g, "sock");
	return 0;
}

static int xk_down_all(void)
{
	unsigned long kept = 0;

	if (node != NULL)
		xk_sock_stop(node);
	if (run.g != NULL)
		kept = (unsigned long)xk_graph_free(run.g);
	if (run.s != NULL)
		xk_spec_free(run.s);
	xk_errs_free(run.e);
	xk_rcu_barrier();
	kept += xk_alloc_live() != run.live;
	xk_rcu_unregister();
	return kept != 0 ? -1 : 0;
}

static int xk_connect(uint32_t host, uint16_t port)
{
	struct xk_sock_addr a = { host, port };
	int fd = xk_sock_socket(node, XK_SOCK_STREAM), err;

	if (fd < 0)
		return fd;
	err = xk_sock_connect(fd, &a);
	if (err == XK_OK)
		return fd;
	xk_sock_close(fd);
	return err;
}

static int xk_listen(uint16_t port)
{
	struct xk_sock_addr a = { XK_SOCK_ANY, port };
	int fd = xk_sock_socket(node, XK_SOCK_STREAM), err;

	if (fd < 0)
		return fd;
	err = xk_sock_bind(fd, &a);
	if (err == XK_OK)
		err = xk_sock_listen(fd, 16);
	return err == XK_OK ? fd : err;
}

static int xk_accept(int fd) { return xk_sock_accept(fd, NULL, XK_SOCK_NONBLOCK); }

static int xk_wait(int fd, int events, int ms)
{
	struct pollfd p = { .fd = fd };
	int r;

	p.events = (short)((events & TALK_IN ? POLLIN : 0) | (events & TALK_OUT ? POLLOUT : 0));
	r = xk_sock_poll(&p, 1, (uint64_t)ms * 1000000u);
	if (r <= 0)
		return r;
	return (p.revents & ~POLLOUT ? TALK_IN : 0) | (p.revents & POLLOUT ? TALK_OUT : 0);
}

static ssize_t xk_send(int fd, const void *buf, size_t n) { return xk_sock_send(fd, buf, n, XK_SOCK_DONTWAIT); }
static ssize_t xk_recv(int fd, void *buf, size_t n) { return xk_sock_recv(fd, buf, n, XK_SOCK_DONTWAIT); }
static int xk_end(int fd) { return xk_sock_shutdown(fd, XK_SHUT_WR); }
static int xk_close_fd(int fd) { return xk_sock_close(fd); }

const struct talk_stack talk_stack = {
	.name = "xk", .up = xk_up_all, .down = xk_down_all,
	.connect = xk_connect, .listen = xk_listen, .accept = xk_accept, .wait = xk_wait,
	.send = xk_send, .recv = xk_recv, .end = xk_end, .close = xk_close_fd,
};
