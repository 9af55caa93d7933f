/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_calibrate_queue.c - what it takes to have a message that another thread has put into a queue.
 *
 * No probe measures that alone: a run on one processor of a preset whose threads pass messages on takes longer than the
 * same run simulated with all else that the machine file says, and the difference is the queue's.  How often a message
 * is in one a second simulated run says, in which that costs TRIAL.
 * Invariant: simulated runs are of a file that is removed again.
 */
#include "tools/vp-bench/bench_calibrate.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/compose/xk_home.h"
#include "tools/vp-bench/bench.h"

#define TRIAL 0.1                /* us */

/* The machine file's key, and the preset whose threads have such a queue between them. */
static const struct { const char *key, *preset; } queues[CALIBRATE_QUEUES] = { { "hop", "lp" }, { "pooled", "mp" } };

/* ns of processor that a message of a run of preset takes; below 0: none, and why. */
static double run_one(struct calibrate *c, const char *preset, const char *const *more, unsigned nmore, char *why, size_t n)
{
	char file[4096], chosen[40];
	const char *argv[24] = { bench_child_program(c->vp_run), file, "--json", "count=0", "conns=8", "window=32", chosen };
	unsigned at = 7;
	double messages, ns;
	json_t *j;

	xk_near_graphs("udp-presets.lua", file, sizeof file);
	snprintf(chosen, sizeof chosen, "preset=%s", preset);
	for (unsigned i = 0; i < nmore; i++)
		argv[at++] = more[i];
	j = bench_child_json(argv, 4 * (double)c->duration / 1e9 + 60, &c->interrupted, why, n);
	if (j == NULL)
		return -1;
	messages = bench_number_of(j, "messages");
	ns = json_is_true(json_object_get(j, "virtual")) ? bench_number_of(j, "measured_ns") : calibrate_cpu_of(j);
	json_decref(j);
	if (messages <= 0)
		snprintf(why, n, "preset %s passed no message", preset);
	return messages > 0 ? ns / messages : -1;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

json_t *calibrate_queues_run(struct calibrate *c, char *why, size_t n)
{
	char processor[40], duration[40], warmup[40];
	const char *more[] = { processor, duration, warmup };
	double *ns = calloc(c->runs, sizeof *ns);
	json_t *out = json_object();

	bench_child_cpus(1, processor, sizeof processor);
	snprintf(duration, sizeof duration, "--duration=%lluns", (unsigned long long)c->duration);
	snprintf(warmup, sizeof warmup, "--warmup=%lluns", (unsigned long long)c->duration / 4);
	for (unsigned q = 0; ns != NULL && q < CALIBRATE_QUEUES; q++) {
		unsigned got = 0;

		for (unsigned i = 0; i < c->runs && !c->interrupted; i++) {
			ns[got] = run_one(c, queues[q].preset, more, XK_ARRAY_LEN(more), why, n);
			got += ns[got] > 0;
		}
		qsort(ns, got, sizeof *ns, by_size);
		json_object_set_new(out, queues[q].key, json_pack("{s:s, s:f, s:f, s:s}", "preset", queues[q].preset, "measured",
				    got != 0 ? ns[got / 2] : 0.0, "us", 0.0, "why", got != 0 ? "" : why));
	}
	free(ns);
	return out;
}

/* ns of a simulated message with text as the machine file. */
static double simulate(struct calibrate *c, const char *preset, const char *text, char *why, size_t n)
{
	const char *tmp = getenv("TMPDIR");
	char path[4096], machine[4200];
	const char *more[] = { "--virtual", "--processors=1", "--duration=5ms", "--warmup=1ms", "--seed=1", machine };
	double ns;
	int fd;

	snprintf(path, sizeof path, "%.3900s/vp-bench-XXXXXX.lua", tmp != NULL && tmp[0] != '\0' ? tmp : "/tmp");
	fd = mkstemps(path, 4);
	if (fd < 0) {
		snprintf(why, n, "no file can be made in %.200s", path);
		return -1;
	}
	close(fd);
	snprintf(machine, sizeof machine, "--machine=%s", path);
	ns = bench_text_save(text, path, why, n) == BENCH_OK ? run_one(c, preset, more, XK_ARRAY_LEN(more), why, n) : -1;
	(void)unlink(path);
	return ns;
}

/* The same with what queue o costs. */
static double simulate_with(struct calibrate *c, json_t *o, double us, calibrate_text *text, void *arg, char *why, size_t n)
{
	char *t;
	double ns;

	json_object_set_new(o, "us", json_real(us));
	t = text(arg, why, n);
	ns = t != NULL ? simulate(c, json_string_value(json_object_get(o, "preset")), t, why, n) : -1;
	free(t);
	return ns;
}

static void fit(struct calibrate *c, json_t *o, calibrate_text *text, void *arg)
{
	char why[300] = "";
	double measured = bench_number_of(o, "measured");
	double without = simulate_with(c, o, 0, text, arg, why, sizeof why);
	double with = without > 0 ? simulate_with(c, o, TRIAL, text, arg, why, sizeof why) : -1;
	double us = with > without ? TRIAL * (measured - without) / (with - without) : 0;

	json_object_set_new(o, "us", json_real(us > 0 ? us : 0));
	json_object_set_new(o, "without", json_real(without));
	if (with > 0 && with <= without)
		snprintf(why, sizeof why, "a simulated message takes %.0f ns with it and without", without);
	json_object_set_new(o, "why", json_string(why));
}

void calibrate_queues_fit(struct calibrate *c, json_t *of, calibrate_text *text, void *arg)
{
	for (unsigned q = 0; q < CALIBRATE_QUEUES; q++) {
		json_t *o = json_object_get(of, queues[q].key);

		if (!c->interrupted && json_string_length(json_object_get(o, "why")) == 0)
			fit(c, o, text, arg);
	}
}
