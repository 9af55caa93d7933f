/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_batch.c - batches whose frames do not all go up through one session, or go on one by one.
 *
 * A layer whose receiver takes no batches, or is watched, ends the batch for it: each
 * descriptor is materialised just before its message goes up, so that whatever stops half-way
 * leaves the others untouched.
 */
#include "runtime/upi/upi_priv.h"

unsigned xk_batch_pass_each(struct xk_sess *s, const struct xk_batch *f)
{
	const struct xk_run *run = f->run;
	const struct xk_rep *r = s->rep;
	struct xk_up *up = s->up;
	unsigned i, of = 0;              /* the run, those of it that have gone */

	for (i = 0; i < f->n && s->rep == r && s->rcnt > 0 && s->up == up; i++) {
		xk_batch_materialise(f, run, f->m[i]);
		xk_count(s->rep->npop);
		if (++of == run->n) {
			run++;
			of = 0;
		}
		up->demux(up, s, f->m[i]);
	}
	return i;
}

/* Messages of f's first runs that may go up to one receiver at once, which is what is above
 * *sess; *at: behind the last of them. */
static inline unsigned pass_together(struct xk_sess *const *sess, const struct xk_batch *f, struct xk_sess *const **at)
{
	const struct xk_rep *r = (*sess)->up->rep;
	const xk_demux_fn own = r->ops->batch_self ? NULL : r->ops->demux;
	const struct xk_run *run = f->run;
	unsigned n = 0;

	do {
		n += f->apart ? 1 : xk_run_left(run++, f->n - n);
		sess++;
	} while (n < f->n && (*sess)->up->rep == r && ((*sess)->up->demux == own || own == NULL));
	*at = sess;
	return n;
}

/* The same of runs of one session. */
static inline unsigned pass_alike(struct xk_sess *const *sess, const struct xk_batch *f, struct xk_sess *const **at)
{
	const struct xk_sess *s = *sess;
	const struct xk_run *run = f->run;
	unsigned n = 0;

	do {
		n += xk_run_left(run++, f->n - n);
		sess++;
	} while (n < f->n && *sess == s);
	*at = sess;
	return n;
}

static unsigned pass_one(struct xk_sess *s, const struct xk_batch *f)
{
	struct xk_up *up = s->up;

	xk_batch_materialise(f, f->run, f->m[0]);
	xk_count(s->rep->npop);
	up->demux(up, s, f->m[0]);
	return 1;
}

/* The first messages of f, f->n of them become those that were to go; how many went? */
static inline unsigned pass_first(struct xk_sess *const *sess, struct xk_batch *f, struct xk_sess *const **at)
{
	struct xk_sess *s = *sess;
	struct xk_up *up = s->up;
	struct xk_rep *r = s->rep;
	unsigned done;

	xk_sess_check(s);
	f->sess = NULL;
	if (XK_LIKELY(up->rep->ops->batch_many && xk_takes_batches(up))) {
		f->n = pass_together(sess, f, at);
		f->sess = (struct xk_sess **)(uintptr_t)sess;
		done = up->rep->ops->demux_batch(up, s, f);
		xk_count_add(r->npop, done);
		if (XK_LIKELY(done != 0))
			return done;
		f->sess = NULL;
	}
	f->n = pass_alike(sess, f, at);
	return f->n == 1 ? pass_one(s, f) : xk_pass_batch(s, f);
}

unsigned xk_batch_pass(struct xk_sess *const *sess, const struct xk_batch *f)
{
	const struct xk_rep *r = (*sess)->rep;
	struct xk_batch rest = *f;
	unsigned done = 0;

	while (done < f->n && (*sess)->rep == r && (*sess)->rcnt > 0) {
		struct xk_sess *const *at = sess;
		unsigned n;

		rest.m = f->m + done;
		rest.n = f->n - done;
		n = pass_first(sess, &rest, &at);
		done += n;
		if (XK_UNLIKELY(n < rest.n))
			break;
		rest.run += at - sess;
		sess = at;
	}
	return done;
}
