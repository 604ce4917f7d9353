// What the module mpi-abi uses of MPI's standard ABI: the values and declarations of MPI 5.0. Every
// library of this ABI (libmpi_abi.so.1) has them, so that the module needs no MPI to be built.
#pragma once

#include <cstdint>

extern "C" {

struct MPI_Status;  // never looked into
using MPI_Aint = std::intptr_t;
using MPI_Count = std::int64_t;
using MPI_Comm = struct MPI_ABI_Comm*;
using MPI_Group = struct MPI_ABI_Group*;
using MPI_Errhandler = struct MPI_ABI_Errhandler*;
using MPI_Request = struct MPI_ABI_Request*;
using MPI_Op = struct MPI_ABI_Op*;
using MPI_Datatype = struct MPI_ABI_Datatype*;
using MPI_User_function = void(void*, void*, int*, MPI_Datatype*);
using MPI_User_function_c = void(void*, void*, MPI_Count*, MPI_Datatype*);

#define MPI_VERSION 5
#define MPI_SUCCESS 0
#define MPI_MAX_ERROR_STRING 512
#define MPI_MAX_LIBRARY_VERSION_STRING 8192
#define MPI_THREAD_SINGLE 0
#define MPI_THREAD_FUNNELED 1024
#define MPI_THREAD_SERIALIZED 2048
#define MPI_THREAD_MULTIPLE 4096
#define MPI_IN_PLACE ((void*)1)
#define MPI_STATUS_IGNORE ((MPI_Status*)0)
#define MPI_STATUSES_IGNORE ((MPI_Status*)0)
#define MPI_COMM_NULL ((MPI_Comm)0x100)
#define MPI_COMM_WORLD ((MPI_Comm)0x101)
#define MPI_GROUP_NULL ((MPI_Group)0x108)
#define MPI_ERRORS_RETURN ((MPI_Errhandler)0x143)
#define MPI_REQUEST_NULL ((MPI_Request)0x180)
#define MPI_OP_NULL ((MPI_Op)0x20)
#define MPI_SUM ((MPI_Op)0x21)
#define MPI_MIN ((MPI_Op)0x22)
#define MPI_MAX ((MPI_Op)0x23)
#define MPI_PROD ((MPI_Op)0x24)
#define MPI_BAND ((MPI_Op)0x28)
#define MPI_BOR ((MPI_Op)0x29)
#define MPI_BXOR ((MPI_Op)0x2a)
#define MPI_DATATYPE_NULL ((MPI_Datatype)0x200)
#define MPI_INT ((MPI_Datatype)0x209)
#define MPI_FLOAT ((MPI_Datatype)0x210)
#define MPI_DOUBLE ((MPI_Datatype)0x214)
#define MPI_INT8_T ((MPI_Datatype)0x240)
#define MPI_UINT8_T ((MPI_Datatype)0x241)
#define MPI_BYTE ((MPI_Datatype)0x247)
#define MPI_INT32_T ((MPI_Datatype)0x250)
#define MPI_UINT32_T ((MPI_Datatype)0x251)
#define MPI_INT64_T ((MPI_Datatype)0x258)
#define MPI_UINT64_T ((MPI_Datatype)0x259)

int MPI_Init(int*, char***);
int MPI_Init_thread(int*, char***, int, int*);
int MPI_Initialized(int*);
int MPI_Finalized(int*);
int MPI_Finalize();
int MPI_Query_thread(int*);
int MPI_Error_string(int, char*, int*);
int MPI_Get_library_version(char*, int*);

int MPI_Comm_rank(MPI_Comm, int*);
int MPI_Comm_size(MPI_Comm, int*);
int MPI_Comm_group(MPI_Comm, MPI_Group*);
int MPI_Comm_create_group(MPI_Comm, MPI_Group, int tag, MPI_Comm*);
int MPI_Comm_free(MPI_Comm*);
int MPI_Comm_set_errhandler(MPI_Comm, MPI_Errhandler);
int MPI_Group_incl(MPI_Group, int, const int*, MPI_Group*);
int MPI_Group_free(MPI_Group*);
int MPI_Type_contiguous(int, MPI_Datatype, MPI_Datatype*);
int MPI_Type_create_struct(int, const int*, const MPI_Aint*, const MPI_Datatype*, MPI_Datatype*);
int MPI_Type_commit(MPI_Datatype*);
int MPI_Type_free(MPI_Datatype*);
int MPI_Op_create(MPI_User_function*, int commutes, MPI_Op*);
int MPI_Op_free(MPI_Op*);

int MPI_Wait(MPI_Request*, MPI_Status*);
int MPI_Waitall(int, MPI_Request*, MPI_Status*);
int MPI_Send(const void*, int, MPI_Datatype, int peer, int tag, MPI_Comm);
int MPI_Recv(void*, int, MPI_Datatype, int peer, int tag, MPI_Comm, MPI_Status*);
int MPI_Isend(const void*, int, MPI_Datatype, int peer, int tag, MPI_Comm, MPI_Request*);
int MPI_Irecv(void*, int, MPI_Datatype, int peer, int tag, MPI_Comm, MPI_Request*);

int MPI_Barrier(MPI_Comm);
int MPI_Bcast(void*, int, MPI_Datatype, int root, MPI_Comm);
int MPI_Allreduce(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
int MPI_Reduce(const void*, void*, int, MPI_Datatype, MPI_Op, int root, MPI_Comm);
int MPI_Reduce_scatter_block(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
int MPI_Reduce_scatter(const void*, void*, const int*, MPI_Datatype, MPI_Op, MPI_Comm);
int MPI_Allgather(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
int MPI_Alltoall(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
int MPI_Gather(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int root, MPI_Comm);
int MPI_Scatter(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int root, MPI_Comm);
int MPI_Allgatherv(const void*, int, MPI_Datatype, void*, const int* counts, const int* offsets,
                   MPI_Datatype, MPI_Comm);
int MPI_Gatherv(const void*, int, MPI_Datatype, void*, const int* counts, const int* offsets,
                MPI_Datatype, int root, MPI_Comm);
int MPI_Scatterv(const void*, const int* counts, const int* offsets, MPI_Datatype, void*, int,
                 MPI_Datatype, int root, MPI_Comm);
int MPI_Alltoallv(const void*, const int* counts, const int* offsets, MPI_Datatype, void*,
                  const int* counts_in, const int* offsets_in, MPI_Datatype, MPI_Comm);
int MPI_Iallreduce(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request*);
int MPI_Ibcast(void*, int, MPI_Datatype, int root, MPI_Comm, MPI_Request*);

}  // extern "C"
