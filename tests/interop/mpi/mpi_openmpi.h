/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_openmpi.h - the part of MPI that mpi_shim.c offers, with the handles of Open MPI 4's ABI (libmpi.so.40).
 *
 * A handle is the address of an object that the library exports; a program that is not position-independent in
 * its data has a copy of that, so addresses are compared and nothing is read.  The sizes are what such a copy
 * takes.  Source: MPI 3.1; the ABI as nm(1) and a program's relocations show it.
 * Invariant: all names here are MPI's or Open MPI's, and mean the same.
 */
#ifndef MPI_OPENMPI_H
#define MPI_OPENMPI_H

#include <stddef.h>

struct ompi_object;
typedef struct ompi_object *MPI_Comm, *MPI_Datatype, *MPI_Op, *MPI_Request;
typedef struct { int MPI_SOURCE, MPI_TAG, MPI_ERROR, cancelled; size_t count; } MPI_Status;

extern char ompi_mpi_comm_world[512];
extern char ompi_mpi_byte[512], ompi_mpi_char[512], ompi_mpi_int[512], ompi_mpi_long[512], ompi_mpi_double[512];
extern char ompi_mpi_op_sum[2048], ompi_mpi_op_max[2048], ompi_mpi_op_min[2048];
extern char ompi_request_null[256];

#define MPI_COMM_WORLD    ((MPI_Comm)(void *)ompi_mpi_comm_world)
#define MPI_BYTE          ((MPI_Datatype)(void *)ompi_mpi_byte)
#define MPI_CHAR          ((MPI_Datatype)(void *)ompi_mpi_char)
#define MPI_INT           ((MPI_Datatype)(void *)ompi_mpi_int)
#define MPI_LONG          ((MPI_Datatype)(void *)ompi_mpi_long)
#define MPI_DOUBLE        ((MPI_Datatype)(void *)ompi_mpi_double)
#define MPI_SUM           ((MPI_Op)(void *)ompi_mpi_op_sum)
#define MPI_MAX           ((MPI_Op)(void *)ompi_mpi_op_max)
#define MPI_MIN           ((MPI_Op)(void *)ompi_mpi_op_min)
#define MPI_REQUEST_NULL  ((MPI_Request)(void *)ompi_request_null)
#define MPI_STATUS_IGNORE ((MPI_Status *)NULL)

#define MPI_SUCCESS    0
#define MPI_UNDEFINED  (-32766)
#define MPI_ANY_SOURCE (-1)
#define MPI_ANY_TAG    (-1)

int MPI_Init(int *argc, char ***argv);
int MPI_Finalize(void);
int MPI_Abort(MPI_Comm comm, int code);
int MPI_Comm_rank(MPI_Comm comm, int *rank);
int MPI_Comm_size(MPI_Comm comm, int *size);
double MPI_Wtime(void);

int MPI_Send(const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm);
int MPI_Ssend(const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm);
int MPI_Isend(const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *r);
int MPI_Recv(void *buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *st);
int MPI_Irecv(void *buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *r);
int MPI_Wait(MPI_Request *r, MPI_Status *st);
int MPI_Test(MPI_Request *r, int *done, MPI_Status *st);
int MPI_Get_count(const MPI_Status *st, MPI_Datatype type, int *count);

int MPI_Barrier(MPI_Comm comm);
int MPI_Bcast(void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm);
int MPI_Gather(const void *from, int nfrom, MPI_Datatype tfrom, void *to, int nto, MPI_Datatype tto, int root,
	       MPI_Comm comm);
int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);

#endif
