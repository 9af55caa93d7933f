/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_wait.c - waiting for requests of ncs and, meanwhile, for notes of other ranks.
 *
 * A synchronous send ends when its message has met a receive.  Its sender asks: is the n-th that I sent you with
 * this tag received?  Messages of one tag meet receives in their order, and a sender that waits sends nothing
 * else, so the receiver answers when it has counted n.
 */
#include "tests/interop/mpi/mpi_priv.h"

#include <endian.h>
#include <stdlib.h>

#define SLICE 1000000u                   /* ns; operations of groups are waited for in slices, and notes between */

/* ---- counts and notes --------------------------------------------------------------------- */

struct mpi_tally *mpi_tally(struct mpi_peer *p, int tag)
{
	struct mpi_tally *more;

	for (unsigned i = 0; i < p->ntally; i++)
		if (p->tally[i].tag == tag)
			return &p->tally[i];
	more = realloc(p->tally, (p->ntally + 1) * sizeof *more);
	if (more == NULL)
		mpi_die("out of memory");
	p->tally = more;
	more[p->ntally] = (struct mpi_tally){ .tag = tag };
	return &more[p->ntally++];
}

void mpi_note(unsigned to, uint32_t kind, int tag, uint64_t number)
{
	struct mpi_note n = { htobe32(kind), htobe32((uint32_t)tag), htobe64(number) };
	int err = xk_ncs_send(mpi.peer[to].way[MPI_NOTES], 0, &n, sizeof n, XK_NCS_FOREVER);

	if (err != XK_OK)
		mpi_die("rank %u: %s", to, xk_strerror(err));
}

/* A rank that has said goodbye may go when others have, too; until then it answers. */
static void may_be_gone(struct mpi_peer *p, int err)
{
	p->gone = err != XK_OK;
	if (p->gone && !p->bye)
		mpi_die("rank %u is lost: %s", (unsigned)(p - mpi.peer), xk_strerror(err));
}

void mpi_hear_from(struct mpi_peer *p)
{
	may_be_gone(p, xk_ncs_irecv(p->way[MPI_NOTES], XK_NCS_ANY, &p->note, sizeof p->note, &p->heard));
}

static void heard(struct mpi_peer *p)
{
	struct mpi_note n = { be32toh(p->note.kind), be32toh(p->note.tag), be64toh(p->note.number) };

	if (p->heard.st.len != sizeof n || n.kind < NOTE_ASK || n.kind > NOTE_BYE)
		mpi_die("rank %u: an unknown note", (unsigned)(p - mpi.peer));
	if (n.kind == NOTE_ASK)
		p->ask = n;
	mpi.taken |= n.kind == NOTE_TAKEN;
	p->bye |= n.kind == NOTE_BYE;
}

static void hear(struct mpi_peer *p)
{
	int err;

	while (!p->gone && (err = xk_ncs_test(&p->heard)) != XK_E_INPROGRESS) {
		if (err == XK_OK)
			heard(p);
		may_be_gone(p, err);
		if (!p->gone)
			mpi_hear_from(p);
	}
}

static void hear_all(void)
{
	for (unsigned i = 0; i < mpi.size; i++)
		if (i != mpi.rank)
			hear(&mpi.peer[i]);
}

/* ---- receives ---------------------------------------------------------------------------------- */

void mpi_receive_begun(struct mpi_req *q)
{
	q->next = mpi.receives;
	mpi.receives = q;
	mpi.nreceives++;
}

void mpi_receive_over(struct mpi_req *q)
{
	struct mpi_req **at = &mpi.receives;

	while (*at != q)
		at = &(*at)->next;
	*at = q->next;
	mpi.nreceives--;
}

bool mpi_done(struct mpi_req *q)
{
	int err = xk_ncs_test(&q->r);

	if (err != XK_E_INPROGRESS && q->receives && !q->counted) {
		if (err == XK_OK)                /* else who waits for it says so */
			mpi_tally(&mpi.peer[q->r.st.rank], q->r.st.tag)->got++;
		q->counted = true;
	}
	return err != XK_E_INPROGRESS;
}

static void answer_all(void)
{
	for (unsigned i = 0; i < mpi.size; i++) {
		struct mpi_note *a = &mpi.peer[i].ask;

		if (a->kind == 0)
			continue;
		for (struct mpi_req *q = mpi.receives; q != NULL; q = q->next)
			(void)mpi_done(q);
		if (mpi_tally(&mpi.peer[i], (int)a->tag)->got < a->number)
			continue;
		a->kind = 0;
		mpi_note(i, NOTE_TAKEN, (int)a->tag, a->number);
	}
}

/* ---- waiting ------------------------------------------------------------------------------------- */

static bool asked(void)
{
	for (unsigned i = 0; i < mpi.size; i++)
		if (mpi.peer[i].ask.kind != 0)
			return true;
	return false;
}

/* Until something of it may have happened: q, a note, or a receive that somebody asks for. */
static void sleep_for(struct mpi_req *q)
{
	unsigned n = 0, most = mpi.size + 1 + mpi.nreceives;

	if (mpi.nwaits < most) {
		struct xk_ncs_req **more = realloc(mpi.waits, most * sizeof(*more));

		if (more == NULL)
			mpi_die("out of memory");
		mpi.waits = more;
		mpi.nwaits = most;
	}
	if (q != NULL)
		mpi.waits[n++] = &q->r;
	for (unsigned i = 0; i < mpi.size; i++)
		if (i != mpi.rank && !mpi.peer[i].gone)
			mpi.waits[n++] = &mpi.peer[i].heard;
	for (struct mpi_req *k = asked() ? mpi.receives : NULL; k != NULL; k = k->next)
		if (!k->counted && k != q)
			mpi.waits[n++] = &k->r;
	if (n == 0)
		mpi_die("waits for what nobody can send");
	(void)xk_ncs_waitany(mpi.waits, n, XK_NCS_FOREVER);
}

void mpi_progress(void)
{
	hear_all();
	answer_all();
}

void mpi_wait_for(struct mpi_req *q)
{
	for (;;) {
		bool done = mpi_done(q);

		mpi_progress();
		if (done)
			return;
		sleep_for(q);
	}
}

void mpi_wait_taken(void)
{
	for (mpi_progress(); !mpi.taken; mpi_progress())
		sleep_for(NULL);
	mpi.taken = false;
}

void mpi_wait_group(void)
{
	int err;

	do {
		mpi_progress();
		err = xk_ncs_group_wait(mpi.all, SLICE);
	} while (err == XK_E_AGAIN);
	if (err != XK_OK)
		mpi_die("rank %d is lost: %s", xk_ncs_group_lost(mpi.all), xk_strerror(err));
}

static bool all_gone(void)
{
	for (unsigned i = 0; i < mpi.size; i++)
		if (i != mpi.rank && !mpi.peer[i].bye)
			return false;
	return true;
}

void mpi_wait_byes(void)
{
	for (mpi_progress(); !all_gone(); mpi_progress())
		sleep_for(NULL);
}
