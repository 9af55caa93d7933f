/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * echo.h - an echo by a message-passing system, measured as vp-run measures one: a time of warming up, a time of
 * measuring, and what vp-run --json says of it, as far as a peer can tell.
 *
 * A harness gives the two calls of its system; tools/peers/echo starts it.  Nothing here links into the product.
 */
#ifndef XK_PEER_ECHO_H
#define XK_PEER_ECHO_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct echo {
	const char *system;
	int         size;
	double      warmup, measured;    /* ns */
	char       *out, *in;
};

/* "PROGRAM BYTES WARMUP_NS MEASURED_NS" */
static inline int echo_options(struct echo *e, const char *system, int argc, char **argv)
{
	if (argc != 4 || atoi(argv[1]) < 1 || atof(argv[3]) <= 0) {
		fprintf(stderr, "usage: echo-%s BYTES WARMUP_NS MEASURED_NS\n", system);
		return 0;
	}
	*e = (struct echo){ .system = system, .size = atoi(argv[1]), .warmup = atof(argv[2]), .measured = atof(argv[3]) };
	e->out = malloc((size_t)e->size);
	e->in = malloc((size_t)e->size);
	if (e->out == NULL || e->in == NULL)
		return 0;
	for (int i = 0; i < e->size; i++)
		e->out[i] = (char)(i * 7 + 1);
	return 1;
}

static inline double echo_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* once: sends e->out and has the answer in e->in.  The bytes are looked at outside of the time. */
static inline unsigned long echo_for(struct echo *e, double ns, void (*once)(struct echo *), double *took)
{
	double from = echo_now();
	unsigned long n = 0;

	do {
		once(e);
		n++;
		*took = echo_now() - from;
	} while (*took < ns);
	if (memcmp(e->in, e->out, (size_t)e->size) != 0) {
		fprintf(stderr, "echo-%s: the answer is not what was sent\n", e->system);
		exit(1);
	}
	return n;
}

static inline void echo_run(struct echo *e, void (*once)(struct echo *))
{
	double warm = 0, took;
	unsigned long n;

	if (e->warmup > 0)
		(void)echo_for(e, e->warmup, once, &warm);
	memset(e->in, 0, (size_t)e->size);
	n = echo_for(e, e->measured, once, &took);
	printf("{\"schema\": 2, \"graph\": \"echo-%s\", \"end\": \"duration\", \"virtual\": false, \"warmup_ns\": %.0f, "
	       "\"measured_ns\": %.0f, \"wall_ns\": %.0f, \"seed\": 0, \"nvps\": 0, \"messages\": %lu, \"bytes\": %.0f, "
	       "\"nodes\": [], \"workers\": [], \"locks\": [], \"user_threads\": {}, \"record\": {}, \"warnings\": []}\n",
	       e->system, warm, took, warm + took, n, (double)n * e->size);
	fflush(stdout);
}

#endif
