/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * echo_mpi.c - an echo between two ranks of MPI, blocking calls; rank 0 measures.  SYSTEM: what it is compiled for.
 *
 * Usage: mpirun -n 2 echo-SYSTEM BYTES WARMUP_NS MEASURED_NS
 */
#include <mpi.h>

#include "echo.h"

enum { ECHO = 1, END };

static void once(struct echo *e)
{
	MPI_Send(e->out, e->size, MPI_BYTE, 1, ECHO, MPI_COMM_WORLD);
	MPI_Recv(e->in, e->size, MPI_BYTE, 1, ECHO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void serve(struct echo *e)
{
	MPI_Status st;

	for (;;) {
		MPI_Recv(e->in, e->size, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
		if (st.MPI_TAG == END)
			return;
		MPI_Send(e->in, e->size, MPI_BYTE, 0, ECHO, MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	struct echo e;
	int rank, ranks;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (!echo_options(&e, SYSTEM, argc, argv) || ranks != 2)
		MPI_Abort(MPI_COMM_WORLD, 2);
	if (rank == 0) {
		echo_run(&e, once);
		MPI_Send(e.out, 0, MPI_BYTE, 1, END, MPI_COMM_WORLD);
	} else {
		serve(&e);
	}
	MPI_Finalize();
	return 0;
}
