// MPI_Allreduce of floats in a loop, as one writes it to see how long a call takes:
// mpirun -n 2 mpi_loop BYTES SECONDS [BEFORE]. BEFORE: bytes of one call before the loop, as a program makes that goes over
// many sizes: what a library keeps from it may change what smaller calls cost. Contains nothing of the suite.
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "tests/bench/independent/stamps.hpp"

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::size_t before = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0;
  const std::size_t bytes = std::strtoull(argv[1], nullptr, 10);
  const double seconds = std::atof(argv[2]);
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int count = static_cast<int>(bytes / sizeof(float));
  float* const send = floats_at_page(std::max(bytes, before), 1);
  float* const recv = floats_at_page(std::max(bytes, before), 0);
  if (before > 0)
    MPI_Allreduce(send, recv, static_cast<int>(before / sizeof(float)), MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
  const auto call = [&] { MPI_Allreduce(send, recv, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); };
  // How many calls are 0.1 s, so that all ranks make the same number of them later.
  int trial = 1;
  double took = 0;
  for (; took < 0.1; trial *= 2) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int k = 0; k < trial; ++k) call();
    took = MPI_Wtime() - start;
    MPI_Bcast(&took, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
  const double each = took / (trial / 2);
  int calls = 1;  // of a stamp
  while (each * calls < 40e-6) calls *= 2;
  auto stamps = static_cast<std::size_t>(seconds / (each * calls)) + 1;
  MPI_Bcast(&stamps, sizeof stamps, MPI_BYTE, 0, MPI_COMM_WORLD);
  MPI_Bcast(&calls, 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::vector<double> readings(stamps + 1);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int k = 0; k < 100; ++k) call();
  readings[0] = MPI_Wtime();
  for (std::size_t i = 1; i <= stamps; ++i) {
    for (int k = 0; k < calls; ++k) call();
    readings[i] = MPI_Wtime();
  }
  if (rank == 0) print_stamps("mpi", bytes, readings, calls);
  std::free(send);
  std::free(recv);
  MPI_Finalize();
}
