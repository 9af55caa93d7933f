/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_machine.h - a machine ledger as the simulated processors are charged by it: what each thing
 * that a graph does costs.
 *
 * Plain numbers, read from a file of graphs/machines (compose) or the one that is built in.  A constant
 * from when a set of VPs is made with it, and as long as that lives.
 */
#ifndef XK_MACHINE_H
#define XK_MACHINE_H

#include "runtime/sync/xk_sim.h"
#include "runtime/vp/xk_cache.h"

/* Picoseconds that an operation of a protocol's node costs: a message by its way, [0] up (demux), [1] down
 * (push), and each byte of it; more where another layer's thread had it before; and of the bus's time, each byte.
 * More for a message whose session's state is out of the first level of the caches, out of both or another
 * processor's; and for one on its way up where another processor ran the node last. */
struct xk_machine_node { const char *proto; uint64_t message[2], byte, moved, bus, l1_cold, memory_cold, protocol_moved; };

/* As it stands in the ledger: a word (text not NULL), or microseconds; bare: a number of something else. */
struct xk_machine_value { const char *key, *source, *text; double value; bool bare; };

struct xk_machine {
	const char         *name, *doc;
	struct xk_sim_costs sync;      /* of locks and waiting */
	xk_ns               message;   /* each message or timer of a unit of work */
	xk_ns               unit;      /* each unit that does anything */
	xk_ns               alone;     /* more, of a message that another VP left or a thread brought: it passes its layers alone */
	xk_ns               pooled;    /* more, of a message that an I/O thread takes from the queue that all of them share */
	xk_ns               unit_moved; /* more, where another processor ran the last one of all */
	xk_ns               vp_moved;  /* more, where another processor ran the last one of the same VP, or brought it messages */
	xk_ns               stack_moved; /* more, of a unit on a thread stack of a pool that another processor used last */
	uint64_t            message_moved, byte_moved; /* picoseconds, an operation on a message that another processor had; by its bytes */
	const struct xk_cache_machine *cache;  /* how sessions' state is displaced; NULL: it is not */
	unsigned            nnodes;    /* 0: nodes cost nothing by themselves */
	const struct xk_machine_node *node;
	unsigned            nvalues;   /* all of the ledger, to be shown with a result */
	const struct xk_machine_value *value;
};

/* 100 ns a message, nothing else: what the virtual clock of one thread has always charged. */
extern const struct xk_machine xk_machine_flat;
/* Does nothing but messages cost?  On one processor it is the same then who runs when. */
bool xk_machine_is_flat(const struct xk_machine *m);
struct xk_vpset;
/* NULL: the ledger has none. */
const struct xk_machine_node *xk_machine_find(const struct xk_machine *m, const char *proto);

/* A unit of work of VP `vp` (its place among all), or messages brought into it: `until` is when it was over, `from` so much
 * earlier as its thread was charged for it, locks included and waiting not. */
struct xk_ran { unsigned processor, thread, vp; uint32_t messages; xk_ns from, until; };
/* Of a set with simulated processors, before it starts: ran is told of each, in the order of their ends on a processor.
 * Threads are numbered as they are first told of; those of a thread do not overlap. */
void xk_vpset_note_ran(struct xk_vpset *set, void (*ran)(void *to, const struct xk_ran *r), void *to);

/* What processor i of a set with simulated ones has spent on what it was charged. */
void xk_vpset_simulated(const struct xk_vpset *set, unsigned i, struct xk_sim_stats *out);
/* Nanoseconds that their bus was in use. */
xk_ns xk_vpset_bus_busy(const struct xk_vpset *set);
/* Of upi: has the message that an operation begins with come from another thread?  Asked once. */
bool xk_vpset_moved(void);
/* Of upi, picoseconds: the calling thread's processor has a message of the session with memory `handle` of node `no`,
 * which costs c.  Did another processor run the node before, whoever asked? */
uint64_t xk_vpset_touch(struct xk_vpset *set, unsigned no, uint32_t handle, const struct xk_machine_node *c);
bool xk_vpset_node_moved(struct xk_vpset *set, unsigned no);
/* Of upi, picoseconds: the calling thread's processor has this message, of so many bytes, which others may have had. */
uint64_t xk_vpset_message_moved(struct xk_vpset *set, const void *message, uint32_t bytes);
/* Of upi: room for the costs of so many nodes, which upi fills and reads; NULL: no memory. */
const struct xk_machine_node **xk_vpset_node_costs(struct xk_vpset *set, unsigned nnodes);

#endif
