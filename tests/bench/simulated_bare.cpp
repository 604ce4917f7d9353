// The MPI calls that all_reduce_perf --sizes 8,65536 -n 1 makes on the library under test, and
// nothing else: what simulating them costs without the harness. Its buffers are as long as the
// longest message.
#include <mpi.h>

#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::vector<float> send(16384, 1), recv(16384, 0);
  for (const int count : {2, 16384}) {
    for (const bool in_place : {false, true}) {
      for (int call = 0; call < 3; ++call)  // warm-up, checked, timed
        MPI_Allreduce(in_place ? MPI_IN_PLACE : send.data(), recv.data(), count, MPI_FLOAT, MPI_SUM,
                      MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  return 0;
}
