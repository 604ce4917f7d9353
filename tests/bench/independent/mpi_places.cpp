// How much MPI_Allreduce's time depends on the process, on where its buffers lie, and on the moment:
// mpirun -n 2 mpi_places BYTES PLACES VISITS SECONDS. Every place is a pair of buffers of its own, mapped anew, at another
// offset within its pages; the places are visited in turn, and each visit prints the median of stamps of
// about 40 us over SECONDS: place visit microseconds. Contains nothing of the suite.
#include <mpi.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Place {
  float* send;
  float* recv;
};

// Pages of their own, at another line of the first page for each place.
float* buffer(std::size_t bytes, int place) {
  const std::size_t shift = static_cast<std::size_t>(place) * 576 % 4096;
  void* const pages =
      mmap(nullptr, bytes + 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) std::exit(2);
  auto* const at = reinterpret_cast<float*>(static_cast<char*>(pages) + shift);
  std::fill_n(at, bytes / sizeof(float), 1.0F);
  return at;
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const std::size_t bytes = std::strtoull(argv[1], nullptr, 10);
  const int visits = std::atoi(argv[3]);
  const double seconds = std::atof(argv[4]);
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<Place> places;
  for (int p = 0; p < std::atoi(argv[2]); ++p)
    places.push_back({buffer(bytes, p), buffer(bytes, p)});
  const auto calls_at = [&](const Place& place, int calls) {
    for (int k = 0; k < calls; ++k)
      MPI_Allreduce(place.send, place.recv, static_cast<int>(bytes / sizeof(float)), MPI_FLOAT,
                    MPI_SUM, MPI_COMM_WORLD);
  };
  double took = 0;
  int trial = 1;
  for (; took < 0.05; trial *= 2) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    calls_at(places[0], trial);
    took = MPI_Wtime() - start;
    MPI_Bcast(&took, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
  const double each = took / (trial / 2);
  int calls = 1;
  while (each * calls < 40e-6) calls *= 2;
  auto stamps = static_cast<std::size_t>(seconds / (each * calls)) + 1;
  MPI_Bcast(&stamps, sizeof stamps, MPI_BYTE, 0, MPI_COMM_WORLD);
  MPI_Bcast(&calls, 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::vector<double> times(stamps);
  for (int visit = 0; visit < visits; ++visit) {
    for (std::size_t p = 0; p < places.size(); ++p) {
      MPI_Barrier(MPI_COMM_WORLD);
      calls_at(places[p], std::max(20, static_cast<int>(2e-3 / each)));
      double last = MPI_Wtime();
      for (double& time : times) {
        calls_at(places[p], calls);
        const double now = MPI_Wtime();
        time = (now - last) / calls;
        last = now;
      }
      std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
      if (rank == 0) std::printf("%zu %d %.6f\n", p, visit, 1e6 * times[times.size() / 2]);
    }
  }
  MPI_Finalize();
}
