/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_goals_sides.c - one value of one side: runs vp-run or a peer's harness
 * and takes the number out of its JSON.
 *
 * Times per message are processor time of the workers, as the harnesses take
 * theirs: what else runs on the machine is nobody's fault.  Only where two
 * processors are compared with one the wall clock counts.
 */
#include "tools/vp-bench/bench.h"
#include "tools/vp-bench/bench_goals.h"

#include <math.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOPS_FEW  2u
#define HOPS_MANY 10u
#define PER_BYTES 4096.0     /* of a side with bytes of a message */
#define SLACK_S   120.0
#define SHARE_LEAST 0.95     /* of its processors, or the wall clock measures somebody else */

/* ---- vp-run ------------------------------------------------------------------------- */

struct call { const char *argv[GOAL_ARGS + 10]; char text[5][GOAL_TEXT + 40]; unsigned n; };

static void compose(struct call *c, const struct goals *g, const struct goal_side *s, xk_ns time, const char *more)
{
	c->n = 0;
	c->argv[c->n++] = g->vp_run;
	snprintf(c->text[0], sizeof c->text[0], "%s/%s", g->graphs, s->graph);
	snprintf(c->text[1], sizeof c->text[1], "--duration=%lluns", (unsigned long long)time);
	snprintf(c->text[2], sizeof c->text[2], "--warmup=%lluns",
		 (unsigned long long)(s->warmup > 0 ? s->warmup * 1e9 : (double)time / 4));
	for (unsigned i = 0; i < 3; i++)
		c->argv[c->n++] = c->text[i];
	c->argv[c->n++] = "--json";
	for (unsigned i = 0; i < GOAL_ARGS && s->arg[i] != NULL; i++)
		c->argv[c->n++] = s->arg[i];
	if (s->workers != 0) {
		snprintf(c->text[3], sizeof c->text[3], "workers=%u", s->workers);
		snprintf(c->text[4], sizeof c->text[4], s->workers > 1 ? "--cpus=%d,%d" : "--cpus=%d", g->cpu[0], g->cpu[1]);
		c->argv[c->n++] = c->text[3];
		c->argv[c->n++] = c->text[4];
	}
	if (more != NULL)
		c->argv[c->n++] = more;
	c->argv[c->n] = NULL;
}

json_t *goal_run(struct goals *g, const struct goal_side *s, xk_ns time, const char *more, char *why)
{
	char text[GOAL_TEXT - 32] = "";
	struct call c;
	json_t *j;

	compose(&c, g, s, time, more);
	j = bench_child_json(c.argv, 2.5 * (double)time / 1e9 + s->warmup + SLACK_S, &g->interrupted, text, sizeof text);
	if (j == NULL)
		snprintf(why, GOAL_TEXT, "vp-run %s: %s", s->graph, text);
	return j;
}

/* Sum over the workers; NAN when one does not say. */
static double of_workers(const json_t *j, const char *key)
{
	const json_t *w, *v;
	double sum = 0;
	size_t i;

	json_array_foreach(json_object_get(j, "workers"), i, w) {
		v = json_object_get(w, key);
		sum += json_is_number(v) ? json_number_value(v) : NAN;
	}
	return sum;
}

static enum goal_fault noise(char *why, const char *text)
{
	snprintf(why, GOAL_TEXT, "%s", text);
	return SIDE_NOISE;
}

/* A machine that runs it for none of the time is given a longer one. */
static enum goal_fault time_of(struct goals *g, const struct goal_side *s, const char *more, double *v, char *why)
{
	double messages = 0, cpu = 0;

	for (unsigned times = 1; times <= 16 && !(messages > 0 && cpu > 0); times *= 4) {
		json_t *j = goal_run(g, s, times * g->time, more, why);

		if (j == NULL)
			return SIDE_FAILED;
		messages = bench_number_of(j, "messages");
		cpu = of_workers(j, "cpu_ns");
		json_decref(j);
	}
	if (!(messages > 0 && cpu > 0))
		return noise(why, "the machine was too busy for one message in the time given: use a longer --time");
	*v = cpu / messages;
	return SIDE_OK;
}

enum goal_fault side_time(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	enum goal_fault err = time_of(g, s, NULL, v, why);

	if (s->per != 0)
		*v *= PER_BYTES / s->per;
	return err;
}

enum goal_fault side_hop(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	unsigned from = s->many != 0 ? s->few : HOPS_FEW, to = s->many != 0 ? s->many : HOPS_MANY;
	enum goal_fault err;
	double few, many;
	char text[2][24];

	snprintf(text[0], sizeof text[0], "hops=%u", from);
	snprintf(text[1], sizeof text[1], "hops=%u", to);
	err = time_of(g, s, text[0], &few, why);
	if (err == SIDE_OK)
		err = time_of(g, s, text[1], &many, why);
	if (err != SIDE_OK)
		return err;
	if (many <= few)
		return noise(why, "more hops took no longer than fewer: the machine is too busy, or --time too short");
	*v = (many - few) / (to - from);
	return SIDE_OK;
}

enum goal_fault side_rate(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	json_t *j = goal_run(g, s, g->time, NULL, why);
	double rate = bench_number_of(j, "messages_per_s");
	double share = of_workers(j, "cpu_ns") / (bench_number_of(j, "measured_ns") * (s->workers ? s->workers : 1));

	json_decref(j);
	if (j == NULL)
		return SIDE_FAILED;
	if (share < SHARE_LEAST) {
		snprintf(why, GOAL_TEXT, "the workers had only %.0f %% of their processors: the machine is busy",
			 100 * share);
		return SIDE_NOISE;
	}
	if (!(rate > 0))
		return noise(why, "not one message in the time given: use a longer --time");
	*v = rate;
	return SIDE_OK;
}

#define OTHERS_MOST 0.10     /* of the two processors */

static enum goal_fault alone(const struct goal_busy *b, char *why)
{
	double others = goal_busy_others(b);

	if (others <= OTHERS_MOST)
		return SIDE_OK;
	snprintf(why, GOAL_TEXT, "other programs had %.0f %% of the two processors: the machine is busy", 100 * others);
	return SIDE_NOISE;
}

/* Layers sleep and wait for one another: that they had less than their processors says nothing, but what others had does. */
enum goal_fault side_wall_rate(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	struct goal_beside beside;
	struct goal_busy busy;
	char cpus[40];
	json_t *j;

	snprintf(cpus, sizeof cpus, "--cpus=%d,%d", g->cpu[0], g->cpu[1]);
	goal_busy_begin(&busy, g->cpu[0], g->cpu[1]);
	goal_beside_begin(&beside, s->beside);
	j = goal_run(g, s, g->time, cpus, why);
	goal_beside_end(&beside);
	*v = bench_number_of(j, "messages_per_s");
	json_decref(j);
	if (j == NULL)
		return SIDE_FAILED;
	if (alone(&busy, why) != SIDE_OK)
		return SIDE_NOISE;
	return *v > 0 ? SIDE_OK : noise(why, "not one message in the time given: use a longer --time");
}

/* Node `name`, NULL: there is none; its counters are those of the time measured alone. */
static const json_t *node_named(const json_t *j, const char *name)
{
	const json_t *n;
	size_t i;

	json_array_foreach(json_object_get(j, "nodes"), i, n)
		if (strcmp(json_string_value(json_object_get(n, "name")), name) == 0)
			return n;
	return NULL;
}

double goal_node_number(const json_t *j, const char *name, const char *table, const char *key)
{
	return bench_number_of(json_object_get(node_named(j, name), table), key);
}

/* The silent ones must all stand, or it was something else that was measured. */
static json_t *run_idle(struct goals *g, const struct goal_side *s, unsigned idle, bool *stand, char *why)
{
	char more[32];
	json_t *j;

	snprintf(more, sizeof more, "idle=%u", idle);
	j = goal_run(g, s, g->time, more, why);
	*stand = bench_number_of(node_named(j, "tcp"), "sessions") >= idle;
	return j;
}

enum goal_fault side_active(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	json_t *j = goal_run(g, s, g->time, NULL, why);
	double messages = bench_number_of(j, "messages"), cpu = of_workers(j, "cpu_ns");
	double late = goal_node_number(j, "load", "counters", "opened") + goal_node_number(j, "tcp", "counters", "timeouts") +
		goal_node_number(j, "tcp", "counters", "challenge_acks");

	json_decref(j);
	if (j == NULL)
		return SIDE_FAILED;
	if (late > 0 || !(messages > 0 && cpu > 0))
		return noise(why, "not all connections stood in time: the machine is too busy");
	*v = cpu / messages;
	return SIDE_OK;
}

static enum goal_fault not_all(char *why)
{
	return noise(why, "not all silent connections stood in time: the machine is too busy");
}

enum goal_fault side_idle(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	bool stand;
	json_t *j = run_idle(g, s, s->idle, &stand, why);
	double messages = bench_number_of(j, "messages"), cpu = of_workers(j, "cpu_ns");

	json_decref(j);
	if (j == NULL)
		return SIDE_FAILED;
	if (!stand || !(messages > 0 && cpu > 0))
		return not_all(why);
	*v = cpu / messages;
	return SIDE_OK;
}

/* Resident bytes with them less resident bytes without, over their number. */
enum goal_fault side_rest(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	bool stand, none;
	json_t *with = run_idle(g, s, s->idle, &stand, why), *without = with != NULL ? run_idle(g, s, 0, &none, why) : NULL;
	double bytes = bench_number_of(with, "resident_bytes") - bench_number_of(without, "resident_bytes");
	bool both = with != NULL && without != NULL;

	json_decref(with);
	json_decref(without);
	if (!both)
		return SIDE_FAILED;
	if (!stand || !(bytes > 0))
		return not_all(why);
	*v = bytes / s->idle;
	return SIDE_OK;
}

/* A second, unless the whole is a mere try. */
static xk_ns fair_time(const struct goals *g)
{
	return g->time < 100 * XK_MS ? g->time : g->time > XK_SEC ? g->time : XK_SEC;
}

enum goal_fault side_fair(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	json_t *j = goal_run(g, s, fair_time(g), "--connections", why);
	double lo = INFINITY, hi = 0, n;
	const json_t *c;
	size_t i;

	json_array_foreach(json_object_get(j, "connections"), i, c) {
		n = bench_number_of(c, "messages");
		lo = n < lo ? n : lo;
		hi = n > hi ? n : hi;
	}
	json_decref(j);
	if (j == NULL)
		return SIDE_FAILED;
	if (!(lo > 0 && hi > 0))
		return noise(why, "some connection sent nothing in the time given: use a longer --time");
	*v = hi / lo;
	return SIDE_OK;
}

enum goal_fault side_locked(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	struct goals counting = *g;
	double messages, atomics;
	json_t *j;

	counting.vp_run = g->counting;
	j = goal_run(&counting, s, g->time, NULL, why);
	messages = bench_number_of(j, "messages");
	atomics = of_workers(j, "atomics");
	g->interrupted = counting.interrupted;
	json_decref(j);
	if (j == NULL)
		return SIDE_FAILED;
	if (isnan(atomics)) {
		snprintf(why, GOAL_TEXT, "%.300s does not count: configure --enable-count-atomics", g->counting);
		return SIDE_FAILED;
	}
	if (!(messages > 0))
		return noise(why, "not one message in the time given: use a longer --time");
	*v = atomics / messages;
	return SIDE_OK;
}

/* A reference that is a plain 1: what a value is compared with. */
enum goal_fault side_one(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	(void)g;
	(void)s;
	(void)why;
	*v = 1;
	return SIDE_OK;
}

/* ---- peers ------------------------------------------------------------------------------ */

#define NO_LWIP "no lwIP here: tools/peers/build DIR lwip (it needs the package dpkg-dev, to unpack lwIP's sources), " \
	"then --peers DIR"

#define NO_RANKS "no Open MPI here: install the packages openmpi-bin and libopenmpi-dev, tools/peers/build DIR openmpi, " \
	"then --peers DIR"

#define NO_PROGRAMS "the harness is not built: tools/peers/build DIR programs, then --peers DIR"

static const struct { const char *program, *hint; } peers[] = {
	[PEER_LWIP] = { "lwip-udp", NO_LWIP },
	[PEER_LWIP_TCP] = { "lwip-tcp", NO_LWIP },
	[PEER_LWIP_MANY] = { "lwip-tcp-many", NO_LWIP },
	[PEER_LWIP_TCP_1500] = { "lwip-tcp-1500", NO_LWIP },
	[PEER_LWIP_MANY_1500] = { "lwip-tcp-many-1500", NO_LWIP },
	[PEER_KERNEL] = { "kernel-udp", "the harness is not built: tools/peers/build DIR kernel, then --peers DIR" },
	[PEER_SMOLTCP] = { "smoltcp-tcp", "no smoltcp here: tools/peers/build DIR smoltcp (it needs cargo and rustc), "
			   "then --peers DIR" },
	[PEER_KERNEL_TCP] = { "kernel-tcp", "the harness is not built: tools/peers/build DIR kernel, then --peers DIR" },
	[PEER_KERNEL_MEM] = { "kernel-mem", "the harness is not built: tools/peers/build DIR kernel, then --peers DIR" },
	[PEER_DPDK] = { "dpdk-graph", "no DPDK here: install the package libdpdk-dev, tools/peers/build DIR dpdk, "
			"then --peers DIR" },
	[PEER_DPDK_HASH] = { "dpdk-hash", "no rte_hash here: install the package libdpdk-dev, tools/peers/build DIR dpdk, "
			     "then --peers DIR" },
	[PEER_URCU_HASH] = { "urcu-hash", "no rculfhash here: install the package liburcu-dev, tools/peers/build DIR urcu, "
			     "then --peers DIR" },
	[PEER_WIRE] = { "wire", "the harness is not built: tools/peers/build DIR kernel, then --peers DIR" },
	[PEER_RANKS_NCS] = { "ranks-ncs", NO_RANKS },
	[PEER_RANKS_OPENMPI] = { "ranks-openmpi", NO_RANKS },
	[PEER_PROGRAMS_EXEC] = { "programs-exec", NO_PROGRAMS },
	[PEER_PROGRAMS_KERNEL] = { "programs-kernel", NO_PROGRAMS },
	[PEER_ACE] = { "ace-stream", "no ACE here: install the package libace-dev, tools/peers/build DIR ace, then --peers DIR" },
};

bool goal_peer_of(const char *program, enum goal_peer *peer)
{
	for (unsigned i = 0; program != NULL && i < XK_ARRAY_LEN(peers); i++)
		if (strcmp(peers[i].program, program) == 0) {
			*peer = (enum goal_peer)i;
			return true;
		}
	return false;
}

const char *goal_peer_hint(enum goal_peer peer)
{
	return peers[peer].hint;
}

static const char *in_folder(const char *dir, enum goal_peer peer)
{
	static char path[PATH_MAX];

	if (dir == NULL)
		return NULL;
	snprintf(path, sizeof path, "%s/%s", dir, peers[peer].program);
	return access(path, X_OK) == 0 ? path : NULL;
}

const char *goal_peer_path(const struct goals *g, enum goal_peer peer)
{
	const char *places[] = { getenv("XK_PEERS"), "peers", "tools/peers/out" }, *path;

	if (g->peers != NULL)
		return in_folder(g->peers, peer);
	for (unsigned i = 0; i < XK_ARRAY_LEN(places); i++) {
		path = in_folder(places[i], peer);
		if (path != NULL)
			return path;
	}
	return NULL;
}

static enum goal_fault peer_value(struct goals *g, const struct goal_side *s, enum goal_peer peer, const char *key,
				  double *v, char *why)
{
	char ms[32], text[GOAL_TEXT - 64] = "";
	const char *argv[GOAL_ARGS + 4] = { goal_peer_path(g, peer), s->peer_arg, ms };
	json_t *j;

	for (unsigned i = 0; i < GOAL_ARGS && s->arg[i] != NULL; i++)
		argv[3 + i] = s->arg[i];
	snprintf(ms, sizeof ms, "%.3f", (double)g->time / 1e6);
	setenv("VP_RUN", g->vp_run, 1);          /* ranks-ncs, programs-exec: of its build is what they run */
	j = bench_child_json(argv, 2.5 * (double)g->time / 1e9 + SLACK_S, &g->interrupted, text, sizeof text);
	*v = bench_number_of(j, key);
	json_decref(j);
	if (j != NULL && *v > 0)
		return SIDE_OK;
	snprintf(why, GOAL_TEXT, "%s: %s", peers[peer].program, j ? "no value in what it printed" : text);
	return j ? SIDE_NOISE : SIDE_FAILED;
}

enum goal_fault side_peer_bytes(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	return peer_value(g, s, s->peer, "bytes", v, why);
}

enum goal_fault side_peer_rate(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	struct goal_beside beside;
	struct goal_busy busy;
	enum goal_fault err;

	goal_busy_begin(&busy, g->cpu[0], g->cpu[1]);
	goal_beside_begin(&beside, s->beside);
	err = peer_value(g, s, s->peer, "rate", v, why);
	goal_beside_end(&beside);
	return err == SIDE_OK ? alone(&busy, why) : err;
}

enum goal_fault side_peer(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	return peer_value(g, s, s->peer, "ns", v, why);
}

enum goal_fault side_best(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	enum goal_fault err = peer_value(g, s, s->peer, "ns", v, why);
	double other;

	if (err == SIDE_OK)
		err = peer_value(g, s, s->other, "ns", &other, why);
	if (err == SIDE_OK && other < *v)
		*v = other;
	return err;
}
