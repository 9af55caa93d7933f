/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_goals_rows.c - the table of goals: what each row measures, and where
 * its bar is.  A new goal is a new row.
 */
#include "tools/vp-bench/bench.h"
#include "tools/vp-bench/bench_goals.h"

static const char *lacks_peer(struct goals *g, const struct goal *r)
{
	return goal_peer_path(g, r->reference.peer) ? NULL : goal_peer_hint(r->reference.peer);
}

static const char *lacks_either(struct goals *g, const struct goal *r)
{
	const char *hint = lacks_peer(g, r);

	return hint != NULL || goal_peer_path(g, r->reference.other) ? hint : goal_peer_hint(r->reference.other);
}

static const char *lacks_counting(struct goals *g, const struct goal *r)
{
	(void)r;
	return g->counting ? NULL : "needs a build that counts: configure --enable-count-atomics, then "
		"--counting=THAT/vp-run";
}

static const char *lacks_cores(struct goals *g, const struct goal *r)
{
	(void)r;
	return g->cpu[1] >= 0 ? NULL : "needs two processors";
}

static const char *lacks_fastclick(struct goals *g, const struct goal *r)
{
	(void)g;
	(void)r;
	return "FastClick is in no package registry, so there is no reference here; ours is our receive half";
}

#define RUN(fn, file, ...)  { .measure = fn, .graph = file, .arg = { __VA_ARGS__ } }
#define PEER(which, text)   { .measure = side_peer, .peer = which, .peer_arg = text }
#define BEST(a, b, text)    { .measure = side_best, .peer = a, .other = b, .peer_arg = text }
#define ONE                 { .measure = side_one }
#define CORES(n, ...)       { .measure = side_rate, .graph = "udp-down.lua", .workers = n, \
			      .arg = { "vps=0", "conns=96", "burst=16", __VA_ARGS__ } }
#define MANY(fn, ...)       RUN(fn, "udp-down.lua", "vps=384", "conns=3072", __VA_ARGS__)
#define TCP_CORES(n, ...)   { .measure = side_rate, .graph = "tcp-down.lua", .workers = n, \
			      .arg = { "vps=0", "conns=96", "burst=16", __VA_ARGS__ } }
#define IDLE(fn, n, ...)    { .measure = fn, .graph = "tcp-idle.lua", .idle = n, .warmup = n > 1000 ? 15 : 0, \
			      .arg = { __VA_ARGS__ } }
#define RATE(which, text)   { .measure = side_peer_rate, .peer = which, .peer_arg = text }
#define LAYERS(...)         { .measure = side_wall_rate, .graph = "layers.lua", .arg = { __VA_ARGS__ } }
#define LOAD(fn, reason, ...) { .measure = fn, .graph = "overload.lua", .peer_arg = reason, .arg = { __VA_ARGS__ } }
#define TCP_MANY(fn, ...)   RUN(fn, "tcp-down.lua", "vps=384", "conns=3072", __VA_ARGS__)

const struct goal goal_rows[] = {
	{ .id = "udp/lwip", .what = "UDP 64 B send+receive, checksum and copies / lwIP", .unit = "ns",
	  .sense = GOAL_TIME, .bar = 2.5, .stretch = 4, .lacks_reference = lacks_peer,
	  .ours = RUN(side_time, "udp-both.lua", "size=64", "burst=32"), .reference = PEER(PEER_LWIP, "64") },
	{ .id = "udp/kernel", .what = "UDP 64 B send+receive, checksum and copies / kernel loopback", .unit = "ns",
	  .sense = GOAL_TIME, .bar = 40, .stretch = 90, .lacks_reference = lacks_peer,
	  .ours = RUN(side_time, "udp-both.lua", "size=64", "burst=32"), .reference = PEER(PEER_KERNEL, "64") },
	{ .id = "tcp/kernel", .what = "TCP 64 B send+receive, checksum and copies / kernel loopback", .unit = "ns",
	  .sense = GOAL_TIME, .bar = 40, .stretch = 90, .lacks_reference = lacks_peer,
	  .note = "a write and a read of 64 B each in the kernel, a message of 64 B in the stream here",
	  .ours = RUN(side_time, "tcp-both.lua", "size=64", "burst=32"), .reference = PEER(PEER_KERNEL_TCP, "64") },
	{ .id = "tcp-bulk/1", .what = "TCP bulk, MTU 4352, both ends on one core, 1 connection / best of lwIP and smoltcp",
	  .unit = "ns/4KiB", .sense = GOAL_TIME, .bar = 2, .stretch = 3, .lacks_reference = lacks_either,
	  .note = "buffers of 256 KiB, as lwIP has",
	  .ours = RUN(side_time, "tcp-both.lua", "conns=1", "buffer=256KiB"), .reference = BEST(PEER_LWIP_TCP, PEER_SMOLTCP, "1") },
	{ .id = "tcp-bulk/3072", .what = "the same, 3072 connections", .unit = "ns/4KiB",
	  .sense = GOAL_TIME, .bar = 20, .stretch = 30, .lacks_reference = lacks_either,
	  .ours = RUN(side_time, "tcp-both.lua", "conns=3072", "buffer=256KiB"), .reference = BEST(PEER_LWIP_MANY, PEER_SMOLTCP, "3072") },
	{ .id = "memcpy/send", .what = "TCP 4 KiB down, share of plain memcpy, hot", .unit = "ns",
	  .sense = GOAL_TIME, .bar = 0.40, .stretch = 0.55,
	  .note = "one direction: payload copied in, checksum, every second segment acknowledged by a simulated receiver",
	  .ours = RUN(side_time, "tcp-down.lua", "size=4KiB"), .reference = { .measure = side_memcpy } },
	{ .id = "memcpy/receive", .what = "TCP 4 KiB up, share of plain memcpy, data from memory", .unit = "ns",
	  .sense = GOAL_TIME, .bar = 0.50, .stretch = 0.65,
	  .note = "one direction: receive buffers twice the second-level cache, checksum, payload copied out",
	  .ours = RUN(side_time, "tcp-up.lua", "size=4KiB", "rxbuf=cold", "touch=copy"),
	  .reference = { .measure = side_memcpy_cold } },
	{ .id = "hop/1", .what = "one graph hop / rte_graph hop, vector 1", .unit = "ns",
	  .sense = GOAL_TIME, .bar = 10, .stretch = 17, .lacks_reference = lacks_peer,
	  .note = "a hop is demux, a look at the first byte, and pop of one protocol on the way up, from the slope of 2 to 10 of them",
	  .ours = RUN(side_hop, "udp-up.lua", "burst=1", "checksum=none"), .reference = PEER(PEER_DPDK, "1") },
	{ .id = "hop/32", .what = "one graph hop / rte_graph hop, vector 32", .unit = "ns",
	  .sense = GOAL_TIME, .bar = 1.6, .stretch = 2.2, .lacks_reference = lacks_peer,
	  .note = "a hop as in hop/1",
	  .ours = RUN(side_hop, "udp-up.lua", "burst=32", "checksum=good"), .reference = PEER(PEER_DPDK, "32") },
	{ .id = "demux/rte", .what = "1 M flows, a burst of 32 keys to verified sessions / rte_hash, bulk 32", .unit = "ns",
	  .sense = GOAL_TIME, .bar = 1.6, .stretch = 2, .lacks_reference = lacks_peer,
	  .note = "keys of 16 bytes in random order, all of both sides in huge pages, the session's first line read",
	  .ours = { .measure = side_demux }, .reference = PEER(PEER_DPDK_HASH, "bulk") },
	{ .id = "demux/rcu", .what = "the same / rculfhash, one message after the other", .unit = "ns",
	  .sense = GOAL_TIME, .bar = 40, .stretch = 60, .lacks_reference = lacks_peer,
	  .note = "rculfhash has no lookup of many: its next begins at the session of the one before",
	  .ours = { .measure = side_demux }, .reference = PEER(PEER_URCU_HASH, "chained") },
	{ .id = "demux/rcu-burst", .what = "the same / rculfhash in a loop over a burst", .unit = "ns",
	  .sense = GOAL_TIME, .bar = 40, .stretch = 60, .lacks_reference = lacks_peer,
	  .note = "its lookups of a burst do not wait for one another",
	  .ours = { .measure = side_demux }, .reference = PEER(PEER_URCU_HASH, "loop") },
	{ .id = "connections/3072", .what = "TCP send 4 KiB, 3072 connections over 384", .unit = "ns",
	  .sense = GOAL_TIME, .bar = 0.98, .stretch = 0.995,
	  .ours = RUN(side_time, "tcp-down.lua", "conns=3072"), .reference = RUN(side_time, "tcp-down.lua", "conns=384") },
	{ .id = "connections/1M", .what = "TCP send 4 KiB on 384 connections, beside 1 M silent ones over alone", .unit = "ns",
	  .sense = GOAL_TIME, .bar = 0.80, .stretch = 0.90,
	  .ours = IDLE(side_idle, 1000000, "conns=384"), .reference = IDLE(side_idle, 0, "conns=384") },
	{ .id = "memory", .what = "memory of an established idle connection, the kernel's over ours", .unit = "bytes",
	  .sense = GOAL_TIME, .bar = 12, .stretch = 17, .lacks_reference = lacks_peer,
	  .note = "resident bytes of 1 M connections of one end; the kernel's slabs of one end",
	  .ours = IDLE(side_rest, 1000000, "conns=0"),
	  .reference = { .measure = side_peer_bytes, .peer = PEER_KERNEL_MEM, .peer_arg = "5000" } },
	{ .id = "policies/udp", .what = "VPPC on one VP / null policies, UDP 64 B up", .unit = "ns",
	  .sense = GOAL_TIME, .bar = 0.97, .stretch = 0.99,
	  .ours = RUN(side_time, "udp-up.lua", "null=false"), .reference = RUN(side_time, "udp-up.lua", "null=true") },
	{ .id = "locked/udp", .what = "locked operations per message after classification", .unit = "operations",
	  .sense = GOAL_VALUE, .bar = 0, .stretch = 0, .lacks_ours = lacks_counting,
	  .ours = RUN(side_locked, "udp-up.lua", "null=false"), .reference = ONE },
	{ .id = "policies/tcp", .what = "VPPC on one VP / null policies, TCP 64 B up", .unit = "ns",
	  .sense = GOAL_TIME, .bar = 0.97, .stretch = 0.99,
	  .ours = RUN(side_time, "tcp-up.lua", "null=false"), .reference = RUN(side_time, "tcp-up.lua", "null=true") },
	{ .id = "locked/tcp", .what = "locked operations per segment after classification, TCP", .unit = "operations",
	  .sense = GOAL_VALUE, .bar = 0, .stretch = 0, .lacks_ours = lacks_counting,
	  .ours = RUN(side_locked, "tcp-up.lua", "null=false"), .reference = ONE },
	{ .id = "cores/udp/64", .what = "two cores / one, connection-parallel UDP 64 B", .unit = "messages/s",
	  .sense = GOAL_RATE, .bar = 1.90, .stretch = 1.97, .two_cores = true, .lacks_ours = lacks_cores,
	  .ours = CORES(2, "size=64"), .reference = CORES(1, "size=64") },
	{ .id = "cores/udp/4096", .what = "two cores / one, connection-parallel UDP 4 KiB", .unit = "messages/s",
	  .sense = GOAL_RATE, .bar = 1.90, .stretch = 1.97, .two_cores = true, .lacks_ours = lacks_cores,
	  .ours = CORES(2, "size=4KiB"), .reference = CORES(1, "size=4KiB") },
	{ .id = "cores/tcp/64", .what = "two cores / one, connection-parallel TCP 64 B", .unit = "messages/s",
	  .sense = GOAL_RATE, .bar = 1.90, .stretch = 1.97, .two_cores = true, .lacks_ours = lacks_cores,
	  .ours = TCP_CORES(2, "size=64"), .reference = TCP_CORES(1, "size=64") },
	{ .id = "cores/tcp/4096", .what = "two cores / one, connection-parallel TCP 4 KiB", .unit = "messages/s",
	  .sense = GOAL_RATE, .bar = 1.90, .stretch = 1.97, .two_cores = true, .lacks_ours = lacks_cores,
	  .ours = TCP_CORES(2, "size=4KiB"), .reference = TCP_CORES(1, "size=4KiB") },
	{ .id = "bursts/udp/4096", .what = "384 VPs: burst 1 / burst 16, UDP 4 KiB", .unit = "ns",
	  .sense = GOAL_TIME, .bar = 0.90, .stretch = 0.95,
	  .ours = MANY(side_time, "size=4KiB", "burst=1"), .reference = MANY(side_time, "size=4KiB", "burst=16") },
	{ .id = "bursts/udp/64", .what = "384 VPs: burst 1 / burst 16, UDP 64 B", .unit = "ns",
	  .sense = GOAL_TIME, .bar = 0.80, .stretch = 0.88,
	  .ours = MANY(side_time, "size=64", "burst=1"), .reference = MANY(side_time, "size=64", "burst=16") },
	{ .id = "bursts/udp/fair", .what = "384 VPs, burst 16, 3072 connections, 4 KiB: most / fewest messages in 1 s",
	  .unit = "max/min", .sense = GOAL_VALUE, .bar = 1.05, .stretch = 1.01,
	  .note = "burst 16 is the fastest of bursts",
	  .ours = MANY(side_fair, "size=4KiB", "burst=16"), .reference = ONE },
	{ .id = "bursts/tcp/4096", .what = "384 VPs: burst 1 / burst 16, TCP 4 KiB", .unit = "ns",
	  .sense = GOAL_TIME, .bar = 0.90, .stretch = 0.95,
	  .ours = TCP_MANY(side_time, "size=4KiB", "burst=1"), .reference = TCP_MANY(side_time, "size=4KiB", "burst=16") },
	{ .id = "bursts/tcp/64", .what = "384 VPs: burst 1 / burst 16, TCP 64 B", .unit = "ns",
	  .sense = GOAL_TIME, .bar = 0.80, .stretch = 0.88,
	  .ours = TCP_MANY(side_time, "size=64", "burst=1"), .reference = TCP_MANY(side_time, "size=64", "burst=16") },
	{ .id = "bursts/tcp/fair", .what = "384 VPs, burst 16, 3072 TCP connections, 4 KiB: most / fewest messages in 1 s",
	  .unit = "max/min", .sense = GOAL_VALUE, .bar = 1.05, .stretch = 1.01,
	  .ours = TCP_MANY(side_fair, "size=4KiB", "burst=16"), .reference = ONE },
	{ .id = "classify/native", .what = "the native classifier, a frame to its flow / bpf_filter", .unit = "ns",
	  .sense = GOAL_TIME, .bar = 8, .stretch = 15,
	  .note = "bursts of 32 frames of one connection, each to its flow; bpf_filter says of each whether it is that connection's",
	  .ours = { .measure = side_native }, .reference = { .measure = side_bpf_filter } },
	{ .id = "classify/mixed", .what = "the same, every frame of a burst of another connection", .unit = "ns",
	  .sense = GOAL_TIME, .bar = 8, .stretch = 15,
	  .note = "32 connections, a lookup for each frame; bpf_filter knows one of them",
	  .ours = { .measure = side_native_mixed }, .reference = { .measure = side_bpf_filter } },
	{ .id = "classify/cbpf", .what = "a classic BPF program of 17 instructions, our engine / bpf_filter", .unit = "ns",
	  .sense = GOAL_TIME, .bar = 3, .stretch = 5,
	  .note = "a filter of addresses, protocol and ports on frames of 64 B, the best of short stretches",
	  .ours = { .measure = side_cbpf }, .reference = { .measure = side_bpf_filter } },
	{ .id = "classify/filters", .what = "one filter for each of 1024 users / one filter", .unit = "ns",
	  .sense = GOAL_TIME, .bar = 0.67, .stretch = 0.83,
	  .note = "filters as in classify/cbpf merged by mask, each frame for another user; at most 1.5 times one's cost",
	  .ours = { .measure = side_many_filters }, .reference = { .measure = side_one_filter } },
	{ .id = "classify/arena", .what = "a verdict of a program in the kernel, 256 in an arena / XDP test run for each", .unit = "ns",
	  .sense = GOAL_TIME, .bar = 200, .stretch = 300, .lacks_ours = goal_lacks_arena, .lacks_reference = goal_lacks_arena,
	  .note = "ours with headers going in and verdicts coming out",
	  .ours = { .measure = side_arena }, .reference = { .measure = side_xdp_run } },
	{ .id = "checksum-copy", .what = "copy fused with checksum / memcpy, 4 KiB hot", .unit = "ns",
	  .sense = GOAL_TIME, .bar = 0.95, .stretch = 1.0,
	  .ours = { .measure = side_csum_copy }, .reference = { .measure = side_memcpy } },
	{ .id = "overload/device", .what = "goodput at 4 times the load that saturates / peak, what is too much missed by the device",
	  .unit = "ns", .sense = GOAL_TIME, .bar = 0.95, .stretch = 0.98,
	  .note = "processor time of a message that arrived; a ring of 16384 frames, which come whether they are taken or not",
	  .ours = LOAD(side_overload, "missed", "where=device"), .reference = LOAD(side_peak, "missed", "where=device") },
	{ .id = "overload/inbox", .what = "the same, what is too much dropped at the classifier by the thread that reads the device",
	  .unit = "ns", .sense = GOAL_TIME, .bar = 0.95, .stretch = 0.98, .lacks_ours = lacks_cores,
	  .note = "of the thread that the connections are on",
	  .ours = LOAD(side_overload, NULL, "where=classifier"), .reference = LOAD(side_peak, NULL, "where=classifier") },
	{ .id = "timers", .what = "1 M armed timers at a tick of 1 ms, per cent of a processor", .unit = "%",
	  .sense = GOAL_VALUE, .bar = 0.5, .stretch = 0.2,
	  .note = "set for up to 120 s, each again when it fires; two slots of the third level",
	  .ours = { .measure = side_timers }, .reference = ONE },
	{ .id = "fastclick", .what = "UDP 64 B receive half, checksum verified / FastClick", .unit = "ns",
	  .sense = GOAL_TIME, .bar = 1.3, .stretch = 1.8, .lacks_reference = lacks_fastclick,
	  .ours = RUN(side_time, "udp-up.lua", "burst=32", "checksum=good"), .reference = ONE },
	{ .id = "layers", .what = "layer parallelism, 4 layers, 4 KiB, two processors / ACE's streams, a thread for each module",
	  .unit = "messages/s", .sense = GOAL_RATE, .bar = 5, .stretch = 10, .two_cores = true, .lacks_ours = lacks_cores,
	  .lacks_reference = lacks_peer,
	  .note = "the receive half of UDP, the payload not looked at; messages by the wall clock; ours: four layers with their queues, run by two threads",
	  .ours = LAYERS("checksum=none", "threads=2", "burst=128"), .reference = RATE(PEER_ACE, "4096") },
	{ .id = "layers/threads", .what = "the same, ours with a thread for each layer, too",
	  .unit = "messages/s", .sense = GOAL_RATE, .bar = 5, .stretch = 10, .two_cores = true, .lacks_ours = lacks_cores,
	  .lacks_reference = lacks_peer,
	  .ours = LAYERS("checksum=none"), .reference = RATE(PEER_ACE, "4096") },
	{ .id = "layers/sum", .what = "the same, the payload summed by the transport", .unit = "messages/s",
	  .sense = GOAL_RATE, .bar = 5, .stretch = 10, .two_cores = true, .lacks_ours = lacks_cores, .lacks_reference = lacks_peer,
	  .ours = LAYERS("checksum=compute-ignore", "threads=2", "burst=128"), .reference = RATE(PEER_ACE, "4096+sum") },
	{ .id = "lock-times", .what = "UDP 64 B receive half, a lock for each message: its times not measured / measured", .unit = "ns",
	  .sense = GOAL_TIME, .bar = 0.97, .stretch = 0.99,
	  .note = "every lock is counted; of 64 that are taken one's time is measured",
	  .ours = RUN(side_time, "udp-up.lua", "burst=1", "entry=lock"),
	  .reference = RUN(side_time, "udp-up.lua", "burst=1", "entry=lock", "lock_times=false") },
	{ .id = NULL },
};
