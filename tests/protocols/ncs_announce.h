/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_announce.h - jobs (ncs_job.h) in virtual time for tests of announced messages of ncs.
 */
#ifndef NCS_ANNOUNCE_H
#define NCS_ANNOUNCE_H

#include "tests/protocols/ncs_job.h"

#define LONG 50000u

/* From rank a to rank b; other: b's.  NULL: all that was said of it was lost. */
static inline struct xk_ncs_conn *tried(unsigned a, unsigned b, const struct xk_ncs_choice *ch, struct xk_ncs_conn **other)
{
	struct xk_ncs_conn *c;
	struct xk_ncs_req r;

	CU_ASSERT_EQUAL_FATAL(xk_ncs_iopen(thr[a], &(struct xk_ncs_addr){ .rank = (int)b }, ch, &c, &r), XK_OK);
	for (unsigned i = 0; i < 300 && xk_ncs_test(&r) == XK_E_INPROGRESS; i++)
		job_run(100 * XK_MS);
	if (xk_ncs_test(&r) == XK_E_TIMEDOUT)
		return NULL;
	CU_ASSERT_EQUAL_FATAL(xk_ncs_test(&r), XK_OK);
	CU_ASSERT_EQUAL_FATAL(xk_ncs_accept(thr[b], other, NULL, 0), XK_OK);
	return c;
}

static inline struct xk_ncs_conn *joined(unsigned a, unsigned b, const struct xk_ncs_choice *ch, struct xk_ncs_conn **other)
{
	struct xk_ncs_conn *c = tried(a, b, ch, other);

	CU_ASSERT_PTR_NOT_NULL_FATAL(c);
	return c;
}

/* A job of two that announces what is longer than 1000 bytes, and has no room for a LONG one; joined. */
static inline struct xk_ncs_conn *job_joined(const struct xk_ncs_choice *ch, struct xk_ncs_conn **other)
{
	job_virtual(2, "unexpected = 20000, eager = 1000", "");
	return joined(0, 1, ch, other);
}

/* The line between the two. */
static inline void cut(double loss)
{
	for (unsigned i = 0; i < 2; i++) {
		struct xk_node *f = xk_graph_find(job.g, i == 0 ? "f01" : "f10");
		const struct xk_param *p = f->proto->params;

		while (strcmp(p->name, "loss") != 0)
			p++;
		memcpy((uint8_t *)f->conf + p->offset, &loss, sizeof loss);
	}
}

static inline void is_done(struct xk_ncs_req *r, int err)
{
	for (unsigned i = 0; i < 100 && xk_ncs_test(r) == XK_E_INPROGRESS; i++)
		job_run(100 * XK_MS);
	CU_ASSERT_EQUAL(xk_ncs_test(r), err);
}

#endif
