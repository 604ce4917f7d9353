// One result of MPI_Allreduce is wrong: bit 0 of the middle byte, in call SPOIL_CALL (from 0) of rank SPOIL_RANK.
// For LD_PRELOAD; contains nothing of the suite. SPOIL_SAY: a file that gets a line when it was done.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int MPI_Allreduce(const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  static long calls = 0;
  const int result = PMPI_Allreduce(send, recv, count, type, op, comm);
  int rank = 0, width = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Type_size(type, &width);
  const char* const which = getenv("SPOIL_CALL");
  const char* const whom = getenv("SPOIL_RANK");
  if (which == NULL || whom == NULL || rank != atoi(whom) || calls++ != atol(which)) return result;
  ((char*)recv)[(long)count * width / 2] ^= 1;
  FILE* const say = fopen(getenv("SPOIL_SAY"), "a");
  if (say != NULL) {
    fprintf(say, "rank %d, call %s, %d elements\n", rank, which, count);
    fclose(say);
  }
  return result;
}
