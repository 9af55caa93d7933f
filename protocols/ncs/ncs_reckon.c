/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_reckon.c - the node `reckon`: a program of several processes that a graph runs, and whose result
 * is compared with that of one process (Park, Lee, Hariri 1998 name such programs as what NCS is for).
 *
 * A thread of its own joins those of the other processes when the workers run.
 */
#include "protocols/ncs/ncs_work.h"

#include "runtime/base/xk_errs.h"
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_node.h"
#include "runtime/upi/xk_vps.h"

#include <stdio.h>

enum { MATRIX, FFT, PICTURE };
struct reckon_conf { unsigned work; uint64_t n, rounds; xk_ns within; };
struct reckon_node { struct xk_ncs_task *task; struct xk_node *n; char why[64]; };
enum { COUNT_ROUNDS, COUNT_WRONG };

static int (*const programs[])(struct work *w, unsigned n, uint64_t seed, uint64_t *wrong) = {
	[MATRIX] = work_matrix, [FFT] = work_fft, [PICTURE] = work_picture,
};

static void reckon_main(void *arg)
{
	struct reckon_node *cn = arg;
	const struct reckon_conf *c = cn->n->conf;
	xk_counter *count = cn->n->rep[0]->count;
	uint64_t wrong = 0;
	struct work w;
	int err = work_join(&w, cn->n->down[0], 0, c->within);

	for (uint64_t i = 0; i < c->rounds && err == XK_OK; i++) {
		err = programs[c->work](&w, (unsigned)c->n, i + 1, &wrong);
		if (err == XK_OK)
			xk_count(count[COUNT_ROUNDS]);
		xk_count_add(count[COUNT_WRONG], wrong);
	}
	if (w.absent >= 0 && err != XK_E_SHUTDOWN) {
		snprintf(cn->why, sizeof cn->why, "rank %d did not come in %.3g s: %s", w.absent, (double)c->within / XK_SEC,
			 err == XK_E_AGAIN ? "it does not answer" : xk_strerror(err));
		xk_node_failed(cn->n, cn->why);
		err = XK_E_SHUTDOWN;
	}
	work_leave(&w);
	if (err != XK_OK && err != XK_E_SHUTDOWN)
		xk_node_failed(cn->n, xk_strerror(err));
	else if (wrong != 0)
		xk_node_failed(cn->n, "the result is not that of one process");
	xk_app_finished(cn->n);
}

static int reckon_init(struct xk_node *n, struct xk_errs *e)
{
	if (xk_node_simulated(n)) {
		xk_node_error(n, e, "has a thread of its own, outside the virtual processors, and a simulated clock would "
			      "not wait for it: clock must be \"real\"");
		return XK_E_NOTSUP;
	}
	((struct reckon_node *)n->state)->n = n;
	xk_app_will_finish(n);
	return XK_OK;
}

static int reckon_run(struct xk_node *n, struct xk_errs *e)
{
	struct reckon_node *cn = n->state;
	int err = xk_ncs_spawn(n->down[0], XK_NCS_KERNEL, 0, reckon_main, cn, &cn->task);

	if (err != XK_OK)
		xk_node_error(n, e, "cannot start its thread: %s", xk_strerror(err));
	return err;
}

static void reckon_halt(struct xk_node *n)
{
	struct reckon_node *cn = n->state;

	xk_ncs_stop(n->down[0]);
	(void)xk_ncs_join(cn->task, XK_NCS_FOREVER);
}

static int reckon_check(const void *conf, char *why, size_t n)
{
	const struct reckon_conf *c = conf;

	if (c->work == FFT && (c->n & (c->n - 1)) != 0)
		snprintf(why, n, "an FFT is of a power of two, not of %llu", (unsigned long long)c->n);
	else if (c->work == PICTURE && c->n % 8 != 0)
		snprintf(why, n, "a picture's side is a multiple of 8, not %llu", (unsigned long long)c->n);
	else
		return XK_OK;
	return XK_E_INVAL;
}

static const char *const works[] = { [MATRIX] = "matrix", [FFT] = "fft", [PICTURE] = "picture", NULL };
#define AT(f) .offset = offsetof(struct reckon_conf, f)
static const struct xk_param reckon_params[] = {
	{ .name = "work", .type = XK_P_ENUM, .choices = works, .def = "matrix", AT(work),
	  .doc = "a product of two matrices, a two-dimensional FFT, or a still picture in three stages" },
	{ .name = "n", .type = XK_P_UINT, .def = "64", .min = "1", .max = "1024", AT(n), .doc = "rows, and columns, or pixels of a side" },
	{ .name = "rounds", .type = XK_P_UINT, .def = "1", .min = "1", AT(rounds), .doc = "how often, each with other numbers" },
	{ .name = "within", .type = XK_P_TIME, .def = "30s", .min = "1ms", .max = "1h", AT(within),
	  .doc = "how long other ranks may take to come; one that does not is told by its number" },
	XK_PARAM_END
};
static const char *const reckon_counts[] = { "rounds", "wrong", NULL };
static const struct xk_ops reckon_ops = { .init = reckon_init, .run = reckon_run, .halt = reckon_halt };

const struct xk_proto xk_proto_reckon = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto),
	.name = "reckon", .doc = "a program of several processes over `process`: matrix product, FFT, still picture",
	.ops = &reckon_ops, .needs = { "job" }, .min_down = 1, .max_down = 1,
	.params = reckon_params, .conf_size = sizeof(struct reckon_conf), .node_size = sizeof(struct reckon_node),
	.counts = reckon_counts, .check = reckon_check,
};
