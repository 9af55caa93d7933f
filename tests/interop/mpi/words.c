/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * words.c - a program of MPI for the shim (mpi_shim.c): what each of its functions promises, between three ranks.
 *
 * usage: words                 all of it; the exit code is 0 when every rank found everything right
 *        words truncate        rank 0 receives less than was sent
 *        words abort           rank 0 calls MPI_Abort with 3; the others wait for it
 *        words unwaited        rank 0 ends with a receive that nobody waited for
 */
#include "tests/interop/mpi/mpi_openmpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST   100000
#define ROUNDS 50

static int me, all, bad;
static unsigned char in[MOST], out[MOST];
static const int sizes[] = { 0, 1, 52, 1000, 65536, MOST };

#define CHECK(what) ((what) ? (void)0 : (void)(bad++, fprintf(stderr, "rank %d: line %d: %s\n", me, __LINE__, #what)))

static void fill(unsigned char *b, int n, int from)
{
	for (int i = 0; i < n; i++)
		b[i] = (unsigned char)(i * 7 + n + from * 31);
}

static int filled(const unsigned char *b, int n, int from)
{
	for (int i = 0; i < n; i++)
		if (b[i] != (unsigned char)(i * 7 + n + from * 31))
			return 0;
	return 1;
}

/* Each to the next, around. */
static void every_size_goes_around(void)
{
	int next = (me + 1) % all, last = (me + all - 1) % all, n;
	MPI_Request r, s;
	MPI_Status st;

	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		memset(in, 0, sizeof in);
		fill(out, sizes[i], me);
		MPI_Irecv(in, MOST, MPI_BYTE, i % 2 != 0 ? last : MPI_ANY_SOURCE, (int)i, MPI_COMM_WORLD, &r);
		MPI_Isend(out, sizes[i], MPI_BYTE, next, (int)i, MPI_COMM_WORLD, &s);
		MPI_Wait(&r, &st);
		MPI_Wait(&s, MPI_STATUS_IGNORE);
		MPI_Get_count(&st, MPI_BYTE, &n);
		CHECK(n == sizes[i] && st.MPI_SOURCE == last && st.MPI_TAG == (int)i && st.MPI_ERROR == MPI_SUCCESS);
		CHECK(filled(in, n, last));
		CHECK(r == MPI_REQUEST_NULL && s == MPI_REQUEST_NULL);
		MPI_Get_count(&st, MPI_DOUBLE, &n);
		CHECK(n == (sizes[i] % 8 == 0 ? sizes[i] / 8 : MPI_UNDEFINED));
	}
	MPI_Wait(&r, &st);
	CHECK(st.MPI_SOURCE == MPI_ANY_SOURCE && st.MPI_TAG == MPI_ANY_TAG && st.count == 0);
}

/* Of one tag in their order; a receive of another tag passes them by. */
static void messages_keep_their_order(void)
{
	int v, done = 0;
	MPI_Request r;

	if (me == 0) {
		for (int i = 0; i < ROUNDS; i++)
			MPI_Send(&i, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
		v = -1;
		MPI_Send(&v, 1, MPI_INT, 1, 4, MPI_COMM_WORLD);
	} else if (me == 1) {
		MPI_Recv(&v, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		CHECK(v == -1);
		for (int i = 0; i < ROUNDS; i++) {
			MPI_Irecv(&v, 1, MPI_INT, 0, i % 2 != 0 ? 3 : MPI_ANY_TAG, MPI_COMM_WORLD, &r);
			while (!done)
				MPI_Test(&r, &done, MPI_STATUS_IGNORE);
			CHECK(v == i && r == MPI_REQUEST_NULL);
			done = 0;
		}
	}
}

/* Rank 2 is told by rank 1 before that receives, and by rank 0 when its send has ended. */
static void a_synchronous_send_waits_for_its_receive(void)
{
	int v = 0;
	MPI_Status st;

	for (int i = 0; i < ROUNDS; i++) {
		if (me == 0) {
			MPI_Ssend(&v, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
			MPI_Send(&v, 1, MPI_INT, 2, 7, MPI_COMM_WORLD);
		} else if (me == 1) {
			MPI_Ssend(&v, 1, MPI_INT, 2, 8, MPI_COMM_WORLD);
			MPI_Recv(&v, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else if (me == 2) {
			MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
			CHECK(st.MPI_TAG == 8 && st.MPI_SOURCE == 1);
			MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
			CHECK(st.MPI_TAG == 7 && st.MPI_SOURCE == 0);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

/* Its receive is there, and whoever has it waits for something else. */
static void a_synchronous_send_ends_while_its_receiver_waits_for_others(void)
{
	int v = 0, w = 0;
	MPI_Request r;

	if (me == 0) {
		MPI_Ssend(&v, 1, MPI_INT, 1, 9, MPI_COMM_WORLD);
		MPI_Send(&v, 1, MPI_INT, 1, 10, MPI_COMM_WORLD);
		MPI_Ssend(&v, 1, MPI_INT, 1, 9, MPI_COMM_WORLD);
	} else if (me == 1) {
		MPI_Irecv(&v, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, &r);
		MPI_Recv(&w, 1, MPI_INT, 0, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		MPI_Irecv(&v, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, &r);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (me == 1)
		MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void everybody_gets_and_gives(int root)
{
	int n = 1000 * (root + 1), mine[2] = { me, me * me }, *parts = calloc(2 * (size_t)all, sizeof *parts);

	if (me == root)
		fill(in, n, root);
	else
		memset(in, 0, sizeof in);
	MPI_Bcast(in, n, MPI_CHAR, root, MPI_COMM_WORLD);
	CHECK(filled(in, n, root));
	MPI_Gather(mine, 2, MPI_INT, parts, 2, MPI_INT, root, MPI_COMM_WORLD);
	for (int i = 0; me == root && i < all; i++)
		CHECK(parts[2 * i] == i && parts[2 * i + 1] == i * i);
	free(parts);
}

static void sums_are_the_same_at_all(void)
{
	int i[2] = { me + 1, -me }, isum[2], imin[2];
	long l = 1L << (40 + me), lmax;
	double d = me + 0.5, dsum;

	MPI_Allreduce(i, isum, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Allreduce(i, imin, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	MPI_Allreduce(&l, &lmax, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
	MPI_Allreduce(&d, &dsum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	CHECK(isum[0] == all * (all + 1) / 2 && isum[1] == -all * (all - 1) / 2);
	CHECK(imin[0] == 1 && imin[1] == 1 - all);
	CHECK(lmax == 1L << (40 + all - 1));
	CHECK(dsum == all * all / 2.0);
}

static int all_words(void)
{
	double began = MPI_Wtime();
	int everybody;

	every_size_goes_around();
	messages_keep_their_order();
	a_synchronous_send_waits_for_its_receive();
	a_synchronous_send_ends_while_its_receiver_waits_for_others();
	for (int root = 0; root < all; root++)
		everybody_gets_and_gives(root);
	sums_are_the_same_at_all();
	CHECK(MPI_Wtime() >= began && MPI_Wtime() - began < 3600);
	MPI_Allreduce(&bad, &everybody, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Finalize();
	printf("rank %d of %d: %d wrong\n", me, all, everybody);
	return everybody != 0;
}

/* Rank 0 does it; what follows is not reached. */
static int one_wrong(const char *what)
{
	int v[2] = { 1, 2 };
	MPI_Request r;

	if (strcmp(what, "truncate") == 0 && me == 0)
		MPI_Recv(v, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else if (strcmp(what, "truncate") == 0 && me == 1)
		MPI_Send(v, 2, MPI_INT, 0, 1, MPI_COMM_WORLD);
	else if (strcmp(what, "abort") == 0 && me == 0)
		MPI_Abort(MPI_COMM_WORLD, 3);
	else if (strcmp(what, "unwaited") == 0 && me == 0)
		MPI_Irecv(v, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &r);
	if (me != 0)
		MPI_Recv(v, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Finalize();
	printf("rank %d goes on\n", me);
	return 0;
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &all);
	if (all < 3) {
		fprintf(stderr, "words: three ranks at least\n");
		return 2;
	}
	return argc > 1 ? one_wrong(argv[1]) : all_words();
}
