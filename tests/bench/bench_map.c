/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_map.c - nanoseconds per resolve of an active map, from 1 to 1 Mi
 * entries, beside liburcu's lock-free hash table and, built with XK_HAVE_DPDK
 * and its flags, DPDK's rte_hash in bulks of thirty-two.
 *
 * Keys come in random order.  "chained" makes each key depend on the result
 * before it (the latency), "loop" resolves one key after the other, "bulk"
 * thirty-two at a time.  "flow" looks one key up in the flow table that all VPs
 * share; "frames 32" is the native classifier over bursts of thirty-two frames
 * of different connections, each parsed, hashed and looked up (and its header
 * written, for the bench).  The ways take turns; the median of the rounds counts,
 * in processor time, so that a busy machine costs precision rather than truth.
 * Invariant: every resolve is checked to have found its own object.
 */
#include "runtime/base/xk_bytes.h"
#include "runtime/base/xk_clock.h"
#include "runtime/base/xk_rand.h"
#include "runtime/classify/xk_classify.h"
#include "runtime/map/xk_map.h"
#include "runtime/map/xk_table.h"
#include "tests/runtime/classify/worlds.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <urcu/urcu-memb.h>
#include <urcu/rculfhash.h>

#ifdef XK_HAVE_DPDK
#include <rte_eal.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_memory.h>
#include <sys/mman.h>
#endif

#define ROUNDS 11u
#define OPS    (1u << 18)
#define BULK   32u

struct obj {
	struct xk_mapnode   node;
	uint32_t            no;
	struct cds_lfht_node lf;
};

struct bench {
	struct xk_map    map;
	struct xk_slab   slab;
	struct cds_lfht *lf;
	struct xk_flowtab *flows;
	struct xk_classifier *cls;
	struct xk_flow **flow;
	struct rte_hash *rte;
	struct obj     **obj;
	uint32_t         n;
	xk_ns            worst_bind;
};

static struct xk_key key_of(uint32_t i)
{
	return (struct xk_key){ { 0x0a00000100000000u + i, 0x1100500000u + (i & 0xffff) } };
}

static uint32_t step(uint32_t *x)
{
	*x = *x * 1664525u + 1013904223u;
	return *x >> 8;
}

static void check(const struct bench *b, uint64_t sum, uint64_t want)
{
	if (sum == want)
		return;
	fprintf(stderr, "bench_map: wrong object found among %u\n", b->n);
	exit(1);
}

/* ---- the ways: each resolves OPS keys ------------------------------------------ */

static void way_chained(struct bench *b)
{
	uint64_t sum = 0, want = 0;
	uint32_t x = 1, no = 0;

	for (uint32_t i = 0; i < OPS; i++) {
		uint32_t at = (step(&x) + no) & (b->n - 1);
		struct xk_key k = key_of(at);

		no = xk_container_of(xk_map_lookup(&b->map, &k), struct obj, node)->no;
		sum += no;
		want += at;
	}
	check(b, sum, want);
}

static void way_loop(struct bench *b)
{
	uint64_t sum = 0, want = 0;
	uint32_t x = 1;

	for (uint32_t i = 0; i < OPS; i++) {
		uint32_t at = step(&x) & (b->n - 1);
		struct xk_key k = key_of(at);

		sum += xk_container_of(xk_map_lookup(&b->map, &k), struct obj, node)->no;
		want += at;
	}
	check(b, sum, want);
}

static void way_bulk(struct bench *b)
{
	struct xk_mapnode *out[BULK];
	struct xk_key k[BULK];
	uint64_t sum = 0, want = 0;
	uint32_t x = 1;

	for (uint32_t i = 0; i < OPS; i += BULK) {
		for (unsigned j = 0; j < BULK; j++) {
			uint32_t at = step(&x) & (b->n - 1);

			k[j] = key_of(at);
			want += at;
		}
		xk_map_resolve_bulk(&b->map, k, BULK, out);
		for (unsigned j = 0; j < BULK; j++)
			sum += xk_container_of(out[j], struct obj, node)->no;
	}
	check(b, sum, want);
}

static int lf_match(struct cds_lfht_node *node, const void *key)
{
	return xk_key_eq(&caa_container_of(node, struct obj, lf)->node.key, key);
}

static void way_rculfhash(struct bench *b)
{
	struct cds_lfht_iter it;
	uint64_t sum = 0, want = 0;
	uint32_t x = 1;

	urcu_memb_read_lock();
	for (uint32_t i = 0; i < OPS; i++) {
		uint32_t at = step(&x) & (b->n - 1);
		struct xk_key k = key_of(at);

		cds_lfht_lookup(b->lf, xk_hash_key(&k), lf_match, &k, &it);
		sum += caa_container_of(cds_lfht_iter_get_node(&it), struct obj, lf)->no;
		want += at;
	}
	urcu_memb_read_unlock();
	check(b, sum, want);
}

/* ---- the flow table ------------------------------------------------------------ */

static struct xk_flowkey flowkey_of(uint32_t i)
{
	return (struct xk_flowkey){ .raddr = htobe32(0x0a000000u + (i >> 14)), .laddr = htobe32(0x0b000001u),
				    .rport = htobe16((uint16_t)(20000 + (i & 0x3fff))), .lport = htobe16(9), .proto = 17 };
}

static void way_flow(struct bench *b)
{
	uint64_t sum = 0, want = 0;
	uint32_t x = 1;

	xk_rcu_read_lock();
	for (uint32_t i = 0; i < OPS; i++) {
		uint32_t at = step(&x) & (b->n - 1);
		struct xk_flowkey k = flowkey_of(at);

		sum += xk_slab_handle(xk_flow_find(b->flows, &k));
		want += xk_slab_handle(b->flow[at]);
	}
	xk_rcu_read_unlock();
	check(b, sum, want);
}

static uint8_t frame[BULK][XK_CACHELINE] XK_ALIGNED;
static struct xk_msg message[BULK];

static void frame_address(uint8_t *f, uint32_t i)
{
	struct xk_flowkey k = flowkey_of(i);

	memcpy(f + 26, &k.raddr, 8);
	memcpy(f + 34, &k.rport, 4);
}

static void way_frames(struct bench *b)
{
	struct xk_msg *m[BULK];
	uint64_t sum = 0, want = 0;
	uint32_t x = 1;

	for (unsigned j = 0; j < BULK; j++)
		m[j] = &message[j];
	xk_rcu_read_lock();
	for (uint32_t i = 0; i < OPS; i += BULK) {
		struct xk_run run[BULK];
		uint32_t at[BULK];
		unsigned nruns, first = 0;

		for (unsigned j = 0; j < BULK; j++)
			frame_address(frame[j], at[j] = step(&x) & (b->n - 1));
		nruns = xk_classify_runs(b->cls, m, BULK, run);
		for (unsigned r = 0; r < nruns; first += run[r++].n) {
			sum += (uint64_t)xk_slab_handle(run[r].flow) * run[r].n;
			want += (uint64_t)xk_slab_handle(b->flow[at[first]]) * run[r].n;
		}
	}
	xk_rcu_read_unlock();
	check(b, sum, want);
}

static void frames_make(void)
{
	for (unsigned j = 0; j < BULK; j++) {
		uint8_t *f = frame[j];

		xk_put_be16(f + 12, 0x0800);
		f[14] = 0x45;
		f[23] = 17;
		message[j] = (struct xk_msg){ .data = f, .len = XK_CACHELINE, .tot = XK_CACHELINE };
	}
}

/* ---- DPDK ---------------------------------------------------------------------- */

#ifdef XK_HAVE_DPDK
/* Reserved huge pages when there are enough, as its users would; else the
 * kernel is asked for transparent ones, as for our own memory. */
static bool rte_huge(void)
{
	FILE *f = fopen("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "r");
	unsigned n = 0;

	if (f != NULL) {
		if (fscanf(f, "%u", &n) != 1)
			n = 0;
		fclose(f);
	}
	return n >= 256;
}

static int rte_advise(const struct rte_memseg_list *msl, void *arg)
{
	(void)arg;
	(void)madvise(msl->base_va, msl->len, MADV_HUGEPAGE);
	return 0;
}

static void rte_start(void)
{
	bool huge = rte_huge();
	char *argv[] = { "bench_map", "-l", "0", "-m", "512", "--no-pci", "--no-telemetry",
			 "--log-level=1", huge ? "--in-memory" : "--no-huge", NULL };

	if (rte_eal_init(XK_ARRAY_LEN(argv) - 1, argv) < 0) {
		fprintf(stderr, "bench_map: rte_eal_init failed\n");
		exit(1);
	}
	if (!huge)
		rte_memseg_list_walk(rte_advise, NULL);
	printf("rte_hash in %s pages\n", huge ? "reserved huge" : "ordinary");
}

static void rte_fill(struct bench *b)
{
	struct rte_hash_parameters p = { .name = "bench", .entries = b->n < 16 ? 16 : b->n + b->n / 4,
		.key_len = sizeof(struct xk_key), .hash_func = rte_hash_crc };

	b->rte = rte_hash_create(&p);
	for (uint32_t i = 0; b->rte != NULL && i < b->n; i++)
		if (rte_hash_add_key_data(b->rte, &b->obj[i]->node.key, b->obj[i]) != 0)
			b->rte = NULL;
	if (b->rte == NULL) {
		fprintf(stderr, "bench_map: no memory for rte_hash of %u\n", b->n);
		exit(1);
	}
}

static void rte_empty(struct bench *b)
{
	rte_hash_free(b->rte);
}

static void way_rte_bulk(struct bench *b)
{
	const void *ref[BULK];
	void *out[BULK];
	struct xk_key k[BULK];
	uint64_t sum = 0, want = 0, hits;
	uint32_t x = 1;

	for (uint32_t i = 0; i < OPS; i += BULK) {
		for (unsigned j = 0; j < BULK; j++) {
			uint32_t at = step(&x) & (b->n - 1);

			k[j] = key_of(at);
			ref[j] = &k[j];
			want += at;
		}
		rte_hash_lookup_bulk_data(b->rte, ref, BULK, &hits, out);
		for (unsigned j = 0; j < BULK; j++)
			sum += ((const struct obj *)out[j])->no;
	}
	check(b, sum, want);
}
#else
static void rte_start(void) { }
static void rte_fill(struct bench *b) { (void)b; }
static void rte_empty(struct bench *b) { (void)b; }
#endif

static const struct { const char *name; void (*run)(struct bench *); } way[] = {
	{ "chained", way_chained },
	{ "loop", way_loop },
	{ "bulk 32", way_bulk },
	{ "flow", way_flow },
	{ "frames 32", way_frames },
	{ "rculfhash", way_rculfhash },
#ifdef XK_HAVE_DPDK
	{ "rte bulk", way_rte_bulk },
#endif
};
#define WAYS XK_ARRAY_LEN(way)

/* ---- filling, measuring ------------------------------------------------------------ */

static void *must(void *p)
{
	if (p != NULL)
		return p;
	fprintf(stderr, "bench_map: out of memory\n");
	exit(1);
}

static void flows_fill(struct bench *b)
{
	char why[256];

	b->flow = must(calloc(b->n, sizeof(*b->flow)));
	if (xk_flowtab_new(&b->flows, 1) != XK_OK || worlds_make() != NULL ||
	    xk_classifier_new(&b->cls, "native", &world[WORLD_ETH].pat, b->flows, why, sizeof why) != XK_OK)
		must(NULL);
	for (uint32_t i = 0; i < b->n; i++) {
		struct xk_flowkey k = flowkey_of(i);

		if (xk_flow_bind(b->flows, &k, 0, NULL, &b->flow[i]) != XK_OK)
			must(NULL);
	}
}

static void flows_empty(struct bench *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		xk_flow_unbind(b->flows, b->flow[i]);
	xk_classifier_free(b->cls);
	xk_flowtab_free(b->flows);
	free(b->flow);
}

static void fill(struct bench *b, uint32_t n)
{
	*b = (struct bench){ .n = n };
	flows_fill(b);
	xk_slab_init(&b->slab, sizeof(struct obj));
	xk_map_init(&b->map, offsetof(struct obj, node));
	b->obj = must(calloc(n, sizeof(*b->obj)));
	b->lf = must(cds_lfht_new_flavor(n < 16 ? 16 : n, 1, 0, CDS_LFHT_AUTO_RESIZE, &urcu_memb_flavor, NULL));
	for (uint32_t i = 0; i < n; i++) {
		struct obj *o = b->obj[i] = must(xk_slab_get(&b->slab));
		xk_ns t = xk_clock_host();

		o->no = i;
		o->node.key = key_of(i);
		if (xk_map_bind(&b->map, &o->node) != XK_OK)
			must(NULL);
		t = xk_clock_host() - t;
		b->worst_bind = t > b->worst_bind ? t : b->worst_bind;
		urcu_memb_read_lock();
		cds_lfht_node_init(&o->lf);
		cds_lfht_add(b->lf, o->node.hash, &o->lf);
		urcu_memb_read_unlock();
	}
	rte_fill(b);
}

static void empty(struct bench *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		xk_map_unbind(&b->map, &b->obj[i]->node);
		urcu_memb_read_lock();
		cds_lfht_del(b->lf, &b->obj[i]->lf);
		urcu_memb_read_unlock();
	}
	urcu_memb_synchronize_rcu();
	cds_lfht_destroy(b->lf, NULL);
	rte_empty(b);
	flows_empty(b);
	for (uint32_t i = 0; i < b->n; i++)
		xk_slab_put(&b->slab, b->obj[i]);
	xk_map_fini(&b->map);
	xk_slab_fini(&b->slab);
	free(b->obj);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void measure(struct bench *b, double median[WAYS])
{
	double ns[WAYS][ROUNDS];

	for (unsigned r = 0; r < ROUNDS; r++)
		for (unsigned i = 0; i < WAYS; i++) {
			unsigned w = (i + r) % WAYS;
			double t = cpu_ns();

			way[w].run(b);
			ns[w][r] = (cpu_ns() - t) / OPS;
		}
	for (unsigned w = 0; w < WAYS; w++) {
		qsort(ns[w], ROUNDS, sizeof(double), by_value);
		median[w] = ns[w][ROUNDS / 2];
	}
}

int main(void)
{
	static const uint32_t sizes[] = { 1, 16, 256, 4096, 65536, 1048576 };
	double median[WAYS];
	struct bench b;

	xk_rcu_register();
	rte_start();
	frames_make();
	printf("%9s", "entries");
	for (unsigned w = 0; w < WAYS; w++)
		printf(" %10s", way[w].name);
	printf(" %10s %12s\n", "bytes/each", "longest bind");
	for (unsigned i = 0; i < XK_ARRAY_LEN(sizes); i++) {
		fill(&b, sizes[i]);
		measure(&b, median);
		printf("%9u", sizes[i]);
		for (unsigned w = 0; w < WAYS; w++)
			printf(" %7.2f ns", median[w]);
		printf(" %10.1f %9.1f us\n", (double)xk_table_bytes(&b.map.tab) / sizes[i], (double)b.worst_bind / 1000);
		fflush(stdout);
		empty(&b);
	}
	xk_rcu_barrier();
	xk_rcu_unregister();
	return 0;
}
