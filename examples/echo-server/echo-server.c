/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * echo-server.c - sockets of a program over a graph: a server thread accepts and echoes, a client talks to it.
 *
 * Both hosts are in the graph, joined by a cable in memory, so it needs no rights and no device.  Over a TAP or AF_XDP
 * driver the server's half is the same.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <xk/graph.h>
#include <xk/sock.h>

#define SERVER 0x0a000002                /* 10.0.0.2 */

/* Until the graph is freed: then accept says XK_E_SHUTDOWN. */
static void *serve(void *arg)
{
	char buf[4096];
	int listener = *(int *)arg, fd;
	ssize_t n;

	while ((fd = xk_sock_accept(listener, NULL, 0)) >= 0) {
		while ((n = xk_sock_read(fd, buf, sizeof buf)) > 0)
			if (xk_sock_write(fd, buf, (size_t)n) != n)
				break;
		xk_sock_close(fd);
	}
	return NULL;
}

static int listen_on(struct xk_node *n, uint16_t port)
{
	int fd = xk_sock_socket(n, XK_SOCK_STREAM), err;

	if (fd < 0)
		return fd;
	err = xk_sock_bind(fd, &(struct xk_sock_addr){ XK_SOCK_ANY, port });
	if (err == XK_OK)
		err = xk_sock_listen(fd, 16);
	return err == XK_OK ? fd : err;
}

/* Says `text` and prints what comes back; an XK_E_* or XK_OK. */
static int talk(struct xk_node *n, const char *text)
{
	char buf[256];
	int fd = xk_sock_socket(n, XK_SOCK_STREAM), err;
	ssize_t got = 0;

	if (fd < 0)
		return fd;
	err = xk_sock_connect(fd, &(struct xk_sock_addr){ SERVER, 7 });
	if (err == XK_OK && (got = xk_sock_write(fd, text, strlen(text))) > 0)
		got = xk_sock_recv(fd, buf, strlen(text), XK_SOCK_WAITALL);
	if (err == XK_OK && got >= 0)
		printf("echoed: %.*s\n", (int)got, buf);
	else if (err == XK_OK)
		err = (int)got;
	xk_sock_close(fd);
	return err;
}

int main(void)
{
	struct xk_embed *g = xk_embed_new("echo-server");
	pthread_t server;
	uint64_t accepted = 0;
	int listener, err;

	if (g == NULL || xk_embed_load(g, "hosts.lua", NULL, 0) != XK_OK || xk_embed_start(g) != XK_OK) {
		fputs(g != NULL ? xk_embed_errors(g) : "out of memory\n", stderr);
		return 1;
	}
	listener = listen_on(xk_embed_find(g, "server"), 7);
	if (listener < 0 || pthread_create(&server, NULL, serve, &listener) != 0) {
		fprintf(stderr, "no server: %s\n", xk_strerror(listener));
		return 1;
	}
	err = talk(xk_embed_find(g, "client"), "hello, graph");
	if (err == XK_OK)
		err = talk(xk_embed_find(g, "client"), "and once more");
	if (err != XK_OK)
		fprintf(stderr, "the client: %s\n", xk_strerror(err));
	xk_embed_count(g, "server", "accepted", &accepted);
	printf("accepted: %llu\n", (unsigned long long)accepted);
	xk_sock_stop(xk_embed_find(g, "server"));        /* accept ends, and so does the thread */
	pthread_join(server, NULL);
	printf("left over: %llu\n", (unsigned long long)xk_embed_free(g));
	return err != XK_OK;
}
