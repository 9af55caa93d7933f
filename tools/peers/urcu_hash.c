/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * urcu_hash.c - liburcu's rculfhash on the job of demux.h: it has no lookup of
 * many, so the 32 keys of a burst follow one another.
 *
 * The node and the key lie in the session's first line.  Its own memory comes
 * from malloc, which is told to use huge pages (glibc reads that when a program
 * starts, so this one starts itself again).  Hashes are CRC-32C, as ours.
 * Usage: urcu-hash loop|chained MILLISECONDS [small]     small: pages of 4 KiB
 */
#define _GNU_SOURCE
#include "demux.h"
#include "peer.h"

#include <nmmintrin.h>
#include <unistd.h>
#include <urcu/urcu-memb.h>
#include <urcu/rculfhash.h>

struct session {
	struct demux_key     key;
	struct cds_lfht_node node;
	uint64_t             no;
	unsigned char        rest[DEMUX_SESSION - 8 - sizeof(struct demux_key) - sizeof(struct cds_lfht_node)];
};

static struct cds_lfht *table;
static struct session *session;

static void die(const char *what)
{
	fprintf(stderr, "urcu-hash: %s\n", what);
	exit(1);
}

static unsigned long hash(const struct demux_key *k)
{
	return _mm_crc32_u64(_mm_crc32_u64(0x9e3779b9u, k->w[0]), k->w[1]);
}

static int match(struct cds_lfht_node *node, const void *key)
{
	const struct demux_key *a = &caa_container_of(node, struct session, node)->key, *b = key;

	return ((a->w[0] ^ b->w[0]) | (a->w[1] ^ b->w[1])) == 0;
}

static void fill(int small)
{
	session = small ? malloc(DEMUX_FLOWS * sizeof *session) : demux_memory(DEMUX_FLOWS * sizeof *session);
	table = cds_lfht_new_flavor(2 * DEMUX_FLOWS, 2 * DEMUX_FLOWS, 2 * DEMUX_FLOWS, 0, &urcu_memb_flavor, NULL);
	if (table == NULL || session == NULL)
		die("no memory for the table");
	urcu_memb_read_lock();
	for (uint32_t i = 0; i < DEMUX_FLOWS; i++) {
		session[i].key = demux_key(i);
		session[i].no = i;
		cds_lfht_node_init(&session[i].node);
		cds_lfht_add(table, hash(&session[i].key), &session[i].node);
	}
	urcu_memb_read_unlock();
}

static uint64_t lookup(uint32_t at)
{
	struct demux_key k = demux_key(at);
	struct cds_lfht_iter it;

	cds_lfht_lookup(table, hash(&k), match, &k, &it);
	return caa_container_of(cds_lfht_iter_get_node(&it), struct session, node)->no;
}

/* chained: which key is next depends on the session before it. */
static double run(int chained, double ms)
{
	double t0 = peer_now(), t, n = 0;
	uint64_t sum = 0, want = 0, no = 0;
	uint32_t x = 1, at;

	do {
		for (unsigned i = 0; i < DEMUX_ROUND; i++) {
			urcu_memb_read_lock();
			for (unsigned j = 0; j < DEMUX_BURST; j++) {
				at = demux_next(&x);
				at = chained ? (at + (uint32_t)no) % DEMUX_FLOWS : at;
				no = lookup(at);
				sum += no;
				want += at;
			}
			urcu_memb_read_unlock();
		}
		n += DEMUX_ROUND * DEMUX_BURST;
		t = peer_now() - t0;
	} while (t < ms * 1e6);
	demux_check(sum, want);
	return t / n;
}

int main(int argc, char **argv)
{
	int chained = argc > 1 && strcmp(argv[1], "chained") == 0, small = argc > 3;
	double ms = argc > 2 ? atof(argv[2]) : 200;

	if (!small && getenv("GLIBC_TUNABLES") == NULL) {
		setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", 1);
		execv("/proc/self/exe", argv);
		die("cannot start again");
	}
	urcu_memb_register_thread();
	fill(small);
	run(chained, ms / 4);
	peer_report("rculfhash", chained ? "demux-chained" : "demux-loop", run(chained, ms));
	urcu_memb_unregister_thread();
	return 0;
}
