/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * embed.c - graphs in a program: one of a file, with arguments; one built node by node; and one with a fault.
 *
 * Each runs until its client has had its answers; then its counters are read by name.
 */
#include <stdio.h>
#include <xk/graph.h>

static uint64_t count(const struct xk_embed *g, const char *node, const char *counter)
{
	uint64_t n = 0;
	int err = xk_embed_count(g, node, counter, &n);

	if (err != XK_OK)
		fprintf(stderr, "%s of %s: %s\n", counter, node, xk_strerror(err));
	return n;
}

/* What is described runs to its end. */
static int run(struct xk_embed *g, const char *what)
{
	if (xk_embed_start(g) != XK_OK || xk_embed_wait(g, UINT64_MAX) != XK_OK) {
		fputs(xk_embed_errors(g), stderr);
		return 1;
	}
	printf("%s: %s, %llu answers, %llu messages echoed\n", what, xk_embed_ended(g),
	       (unsigned long long)count(g, "load", "answers"), (unsigned long long)count(g, "echo", "messages"));
	return 0;
}

static int of_a_file(struct xk_embed *g)
{
	const char *args[] = { "conns=4", "count=25" };

	if (xk_embed_load(g, "echo.lua", args, 2) == XK_OK)
		return run(g, "of a file");
	fputs(xk_embed_errors(g), stderr);
	return 1;
}

/* A host over one end of the cable: the number of its udp. */
static int host(struct xk_embed *g, const char *addr)
{
	int cable = xk_embed_add(g, "eth_mem", NULL), eth = xk_embed_add(g, "eth", NULL);
	int arp = xk_embed_add(g, "arp", NULL), ip = xk_embed_add(g, "ip", NULL), udp = xk_embed_add(g, "udp", NULL);

	xk_embed_set_text(g, cable, "wire", "cable");
	xk_embed_set_text(g, ip, "addr", addr);
	xk_embed_over(g, eth, cable);
	xk_embed_over(g, arp, eth);
	xk_embed_over(g, ip, arp);
	xk_embed_over(g, udp, ip);
	return udp;
}

static void build(struct xk_embed *g, const char *messages)
{
	int here = host(g, "10.0.0.1/24"), there = host(g, "10.0.0.2/24");
	int echo = xk_embed_add(g, "echo", NULL), load = xk_embed_add(g, "load", NULL);

	xk_embed_over(g, echo, there);
	xk_embed_over(g, load, here);
	xk_embed_set_text(g, load, "to", "10.0.0.2");
	xk_embed_set(g, load, "port", "7");
	xk_embed_set(g, load, "count", messages);
	xk_embed_set(g, load, "window", "1");
	xk_embed_set(g, XK_EMBED_GRAPH, "threading", "vppc { vps = 2 }");
}

int main(void)
{
	struct xk_embed *g = xk_embed_new(NULL);
	int err = g != NULL ? of_a_file(g) : 1;

	xk_embed_free(g);
	g = xk_embed_new("built");
	if (g != NULL)
		build(g, "100");
	err |= g != NULL ? run(g, "built") : 1;
	xk_embed_free(g);
	g = xk_embed_new("wrong");
	if (g != NULL) {
		build(g, "many");
		printf("wrong: %s\n", xk_strerror(xk_embed_start(g)));
		fputs(xk_embed_errors(g), stdout);
	}
	xk_embed_free(g);
	return err;
}
