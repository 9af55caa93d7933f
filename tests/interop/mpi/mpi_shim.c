/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_shim.c - functions of MPI over ncs, so that programs of MPI run on it as they are.
 *
 * MPI_COMM_WORLD and the types and operations of mpi_openmpi.h; no rank sends to itself.  What else a program
 * uses it does not find here, and does not start.
 */
#include "tests/interop/mpi/mpi_openmpi.h"
#include "tests/interop/mpi/mpi_priv.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SHOWN __attribute__((visibility("default")))
SHOWN char ompi_mpi_comm_world[512];
SHOWN char ompi_mpi_byte[512], ompi_mpi_char[512], ompi_mpi_int[512], ompi_mpi_long[512], ompi_mpi_double[512];
SHOWN char ompi_mpi_op_sum[2048], ompi_mpi_op_max[2048], ompi_mpi_op_min[2048];
SHOWN char ompi_request_null[256];

/* ---- what is asked for ------------------------------------------------------------------------ */

static size_t size_of(const char *what, MPI_Datatype t)
{
	if (t == MPI_BYTE || t == MPI_CHAR)
		return 1;
	if (t == MPI_INT)
		return sizeof(int);
	if (t == MPI_LONG)
		return sizeof(long);
	if (t == MPI_DOUBLE)
		return sizeof(double);
	mpi_die("%s: a type that is not offered", what);
}

static size_t bytes_of(const char *what, int count, MPI_Datatype t)
{
	if (count < 0)
		mpi_die("%s: count is %d", what, count);
	return (size_t)count * size_of(what, t);
}

static void check_comm(const char *what, MPI_Comm c)
{
	if (mpi.peer == NULL)
		mpi_die("%s: outside of MPI_Init and MPI_Finalize", what);
	if (c != MPI_COMM_WORLD)
		mpi_die("%s: a communicator that is not offered", what);
}

static struct mpi_peer *peer_of(const char *what, int rank, int tag)
{
	if (rank < 0 || (unsigned)rank >= mpi.size || (unsigned)rank == mpi.rank)
		mpi_die("%s: rank %d is not one of the others", what, rank);
	if (tag < 0)
		mpi_die("%s: tag %d", what, tag);
	return &mpi.peer[rank];
}

static void must(const char *what, int err)
{
	if (err == XK_E_MSGSIZE)
		mpi_die("%s: the message is longer than the buffer", what);
	if (err == XK_E_CONNRESET || err == XK_E_TIMEDOUT)
		mpi_die("%s: the other rank is lost: %s", what, xk_strerror(err));
	if (err != XK_OK)
		mpi_die("%s: %s", what, xk_strerror(err));
}

/* ---- the job -------------------------------------------------------------------------------------- */

SHOWN int MPI_Init(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	if (mpi.peer != NULL)
		mpi_die("MPI_Init: again");
	mpi_job_begin();
	return MPI_SUCCESS;
}

SHOWN int MPI_Finalize(void)
{
	check_comm("MPI_Finalize", MPI_COMM_WORLD);
	if (mpi.receives != NULL)
		mpi_die("MPI_Finalize: a receive that nobody has waited for");
	mpi_job_end();
	mpi = (struct mpi){ .rank = mpi.rank };
	return MPI_SUCCESS;
}

/* The others hear of it as they do of a rank that was killed. */
SHOWN int MPI_Abort(MPI_Comm comm, int code)
{
	(void)comm;
	fflush(stdout);
	fprintf(stderr, "mpi: rank %u: MPI_Abort: code %d\n", mpi.rank, code);
	_Exit(code != 0 ? code : 1);
}

SHOWN int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
	check_comm("MPI_Comm_rank", comm);
	*rank = (int)mpi.rank;
	return MPI_SUCCESS;
}

SHOWN int MPI_Comm_size(MPI_Comm comm, int *size)
{
	check_comm("MPI_Comm_size", comm);
	*size = (int)mpi.size;
	return MPI_SUCCESS;
}

SHOWN double MPI_Wtime(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- messages --------------------------------------------------------------------------------------- */

static void begin_send(const char *what, struct mpi_req *q, const void *buf, size_t n, int to, int tag)
{
	struct mpi_peer *p = peer_of(what, to, tag);

	*q = (struct mpi_req){ .receives = false };
	must(what, xk_ncs_isend(p->way[MPI_DATA], tag, buf, n, &q->r));
	mpi_tally(p, tag)->sent++;
}

static void begin_receive(const char *what, struct mpi_req *q, void *buf, size_t n, int from, int tag)
{
	*q = (struct mpi_req){ .receives = true };
	if (from != MPI_ANY_SOURCE)
		must(what, xk_ncs_irecv(peer_of(what, from, tag == MPI_ANY_TAG ? 0 : tag)->way[MPI_DATA], tag, buf, n, &q->r));
	else
		must(what, xk_ncs_irecv_any(mpi.thread[MPI_DATA], XK_NCS_ANY, tag, buf, n, &q->r));
	mpi_receive_begun(q);
}

/* It is done. */
static void end_request(const char *what, struct mpi_req *q, MPI_Status *st)
{
	if (q->receives)
		mpi_receive_over(q);
	must(what, q->r.err);
	if (st != MPI_STATUS_IGNORE)
		*st = (MPI_Status){ q->r.st.rank, q->r.st.tag, MPI_SUCCESS, 0, q->r.st.len };
}

static void wait_request(const char *what, struct mpi_req *q, MPI_Status *st)
{
	mpi_wait_for(q);
	end_request(what, q, st);
}

static void send_now(const char *what, const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
	struct mpi_req q;

	check_comm(what, comm);
	begin_send(what, &q, buf, bytes_of(what, count, type), to, tag);
	wait_request(what, &q, MPI_STATUS_IGNORE);
}

SHOWN int MPI_Send(const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
	send_now("MPI_Send", buf, count, type, to, tag, comm);
	return MPI_SUCCESS;
}

SHOWN int MPI_Ssend(const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
	send_now("MPI_Ssend", buf, count, type, to, tag, comm);
	mpi_note((unsigned)to, NOTE_ASK, tag, mpi_tally(&mpi.peer[to], tag)->sent);
	mpi_wait_taken();
	return MPI_SUCCESS;
}

SHOWN int MPI_Recv(void *buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *st)
{
	struct mpi_req q;

	check_comm("MPI_Recv", comm);
	begin_receive("MPI_Recv", &q, buf, bytes_of("MPI_Recv", count, type), from, tag);
	wait_request("MPI_Recv", &q, st);
	return MPI_SUCCESS;
}

/* A handle is our request's address. */
static struct mpi_req *new_request(MPI_Request *r)
{
	struct mpi_req *q = malloc(sizeof *q);

	if (q == NULL)
		mpi_die("out of memory");
	*r = (MPI_Request)(void *)q;
	return q;
}

SHOWN int MPI_Isend(const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *r)
{
	check_comm("MPI_Isend", comm);
	begin_send("MPI_Isend", new_request(r), buf, bytes_of("MPI_Isend", count, type), to, tag);
	return MPI_SUCCESS;
}

SHOWN int MPI_Irecv(void *buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *r)
{
	check_comm("MPI_Irecv", comm);
	begin_receive("MPI_Irecv", new_request(r), buf, bytes_of("MPI_Irecv", count, type), from, tag);
	return MPI_SUCCESS;
}

static void free_request(const char *what, MPI_Request *r, MPI_Status *st)
{
	struct mpi_req *q = (void *)*r;

	end_request(what, q, st);
	free(q);
	*r = MPI_REQUEST_NULL;
}

static const MPI_Status nothing = { MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_SUCCESS, 0, 0 };

SHOWN int MPI_Wait(MPI_Request *r, MPI_Status *st)
{
	check_comm("MPI_Wait", MPI_COMM_WORLD);
	if (*r == MPI_REQUEST_NULL && st != MPI_STATUS_IGNORE)
		*st = nothing;
	if (*r == MPI_REQUEST_NULL)
		return MPI_SUCCESS;
	mpi_wait_for((void *)*r);
	free_request("MPI_Wait", r, st);
	return MPI_SUCCESS;
}

SHOWN int MPI_Test(MPI_Request *r, int *done, MPI_Status *st)
{
	check_comm("MPI_Test", MPI_COMM_WORLD);
	*done = *r == MPI_REQUEST_NULL || mpi_done((void *)*r);
	mpi_progress();
	if (*r == MPI_REQUEST_NULL && st != MPI_STATUS_IGNORE)
		*st = nothing;
	else if (*r != MPI_REQUEST_NULL && *done)
		free_request("MPI_Test", r, st);
	return MPI_SUCCESS;
}

SHOWN int MPI_Get_count(const MPI_Status *st, MPI_Datatype type, int *count)
{
	size_t size = size_of("MPI_Get_count", type);

	*count = st->count % size == 0 && st->count / size <= INT_MAX ? (int)(st->count / size) : MPI_UNDEFINED;
	return MPI_SUCCESS;
}

/* ---- all of them ---------------------------------------------------------------------------------------- */

static unsigned root_of(const char *what, int root)
{
	if (root < 0 || (unsigned)root >= mpi.size)
		mpi_die("%s: there is no rank %d", what, root);
	return (unsigned)root;
}

SHOWN int MPI_Barrier(MPI_Comm comm)
{
	check_comm("MPI_Barrier", comm);
	must("MPI_Barrier", xk_ncs_ibarrier(mpi.all));
	mpi_wait_group();
	return MPI_SUCCESS;
}

SHOWN int MPI_Bcast(void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
	check_comm("MPI_Bcast", comm);
	must("MPI_Bcast", xk_ncs_ibcast(mpi.all, root_of("MPI_Bcast", root), buf, bytes_of("MPI_Bcast", count, type)));
	mpi_wait_group();
	return MPI_SUCCESS;
}

static void gather_one(struct mpi_req *q, void *buf, size_t n, unsigned from)
{
	*q = (struct mpi_req){ .receives = false };
	must("MPI_Gather", xk_ncs_irecv(mpi.peer[from].way[MPI_PARTS], 0, buf, n, &q->r));
	wait_request("MPI_Gather", q, MPI_STATUS_IGNORE);
}

/* To the root, each its part. */
SHOWN int MPI_Gather(const void *from, int nfrom, MPI_Datatype tfrom, void *to, int nto, MPI_Datatype tto, int root,
		     MPI_Comm comm)
{
	size_t mine = bytes_of("MPI_Gather", nfrom, tfrom), each;
	struct mpi_req q = { .receives = false };

	check_comm("MPI_Gather", comm);
	if (root_of("MPI_Gather", root) != mpi.rank) {
		must("MPI_Gather", xk_ncs_isend(mpi.peer[root].way[MPI_PARTS], 0, from, mine, &q.r));
		wait_request("MPI_Gather", &q, MPI_STATUS_IGNORE);
		return MPI_SUCCESS;
	}
	each = bytes_of("MPI_Gather", nto, tto);
	if (mine > each)
		mpi_die("MPI_Gather: the message is longer than the buffer");
	memmove((char *)to + mpi.rank * each, from, mine);
	for (unsigned i = 0; i < mpi.size; i++)
		if (i != mpi.rank)
			gather_one(&q, (char *)to + i * each, each, i);
	return MPI_SUCCESS;
}

static enum xk_ncs_type type_of(MPI_Datatype t)
{
	if (t == MPI_DOUBLE)
		return XK_NCS_F64;
	if (t == MPI_INT)
		return XK_NCS_I32;
	if (t == MPI_LONG && sizeof(long) == 8)
		return XK_NCS_I64;
	mpi_die("MPI_Allreduce: a type that is not offered");
}

SHOWN int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
	enum xk_ncs_fold f = op == MPI_SUM ? XK_NCS_SUM : op == MPI_MAX ? XK_NCS_MAX : XK_NCS_MIN;

	check_comm("MPI_Allreduce", comm);
	if (f == XK_NCS_MIN && op != MPI_MIN)
		mpi_die("MPI_Allreduce: an operation that is not offered");
	memmove(to, from, bytes_of("MPI_Allreduce", count, type));
	must("MPI_Allreduce", xk_ncs_iallreduce(mpi.all, f, type_of(type), to, (size_t)count));
	mpi_wait_group();
	return MPI_SUCCESS;
}
