/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dpdk_hash.c - DPDK's rte_hash on the job of demux.h: lookups of 32 keys at
 * once, CRC hash, from key to session.
 *
 * Its memory is a heap of huge pages that we give it, so that none need to be
 * reserved beforehand, nor any privilege.  The table has twice the room it
 * needs, as ours has at this size.  Usage: dpdk-hash bulk|single MILLISECONDS
 */
#define _GNU_SOURCE
#include "demux.h"
#include "peer.h"

#include <rte_eal.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_malloc.h>

#define HEAP  ((size_t)512 << 20)

struct session { uint64_t no; unsigned char rest[DEMUX_SESSION - 8]; };

static struct rte_hash *table;
static struct session *session;

static void die(const char *what)
{
	fprintf(stderr, "dpdk-hash: %s\n", what);
	exit(1);
}

/* The number by which DPDK knows our heap. */
static int heap(void)
{
	void *p = demux_memory(HEAP);

	if (p == NULL || rte_malloc_heap_create("huge") != 0 ||
	    rte_malloc_heap_memory_add("huge", p, HEAP, NULL, 0, DEMUX_HUGE) != 0)
		die("no heap");
	return rte_malloc_heap_get_socket("huge");
}

static void fill(void)
{
	struct rte_hash_parameters p = { .name = "demux", .entries = 2 * DEMUX_FLOWS, .hash_func = rte_hash_crc,
		.key_len = sizeof(struct demux_key), .socket_id = heap() };

	table = rte_hash_create(&p);
	session = demux_memory(DEMUX_FLOWS * sizeof *session);
	if (table == NULL || session == NULL)
		die("no memory for the table");
	for (uint32_t i = 0; i < DEMUX_FLOWS; i++) {
		struct demux_key k = demux_key(i);

		session[i].no = i;
		if (rte_hash_add_key_data(table, &k, &session[i]) != 0)
			die("a key was refused");
	}
}

static void burst_bulk(const uint32_t *at, uint64_t *sum)
{
	struct demux_key k[DEMUX_BURST];
	const void *ref[DEMUX_BURST];
	void *out[DEMUX_BURST];
	uint64_t hits;

	for (unsigned j = 0; j < DEMUX_BURST; j++) {
		k[j] = demux_key(at[j]);
		ref[j] = &k[j];
	}
	rte_hash_lookup_bulk_data(table, ref, DEMUX_BURST, &hits, out);
	/* All sessions are fetched before the first is read. */
	for (unsigned j = 0; j < DEMUX_BURST; j++)
		__builtin_prefetch(out[j]);
	for (unsigned j = 0; j < DEMUX_BURST; j++)
		*sum += ((const struct session *)out[j])->no;
}

static void burst_single(const uint32_t *at, uint64_t *sum)
{
	for (unsigned j = 0; j < DEMUX_BURST; j++) {
		struct demux_key k = demux_key(at[j]);
		void *out;

		if (rte_hash_lookup_data(table, &k, &out) < 0)
			die("a key was not found");
		*sum += ((const struct session *)out)->no;
	}
}

static double run(void (*burst)(const uint32_t *, uint64_t *), double ms)
{
	double t0 = peer_now(), t, n = 0;
	uint64_t sum = 0, want = 0;
	uint32_t x = 1, at[DEMUX_BURST];

	do {
		for (unsigned i = 0; i < DEMUX_ROUND; i++) {
			for (unsigned j = 0; j < DEMUX_BURST; j++)
				want += at[j] = demux_next(&x);
			burst(at, &sum);
		}
		n += DEMUX_ROUND * DEMUX_BURST;
		t = peer_now() - t0;
	} while (t < ms * 1e6);
	demux_check(sum, want);
	return t / n;
}

int main(int argc, char **argv)
{
	static char *eal[] = { "dpdk-hash", "--no-huge", "--no-pci", "-m", "64", "--no-telemetry",
			       "--no-shconf", "--log-level=error", "-l", "0", NULL };
	int single = argc > 1 && strcmp(argv[1], "single") == 0;
	double ms = argc > 2 ? atof(argv[2]) : 200;

	if (rte_eal_init((int)(sizeof eal / sizeof eal[0]) - 1, eal) < 0)
		die("cannot start DPDK");
	fill();
	run(single ? burst_single : burst_bulk, ms / 4);
	peer_report("rte_hash", single ? "demux-single" : "demux-bulk",
		    run(single ? burst_single : burst_bulk, ms));
	return 0;
}
