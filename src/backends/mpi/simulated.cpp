#include "src/backends/mpi/simulated.hpp"

#include <algorithm>

#include "src/backends/mpi/library.hpp"

extern "C" const ccl::Backend* ccl_module_backend();  // of module.cpp, linked in

namespace ccl::mpi_module {
namespace {

class MpiBootstrap : public Bootstrap {
 public:
  MpiBootstrap() {
    check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(MPI_COMM_WORLD, &ranks_), "MPI_Comm_size");
  }
  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }

  // Padded to the longest: SMPI 3.32 divides by zero in an allgatherv of nothing.
  std::vector<std::string> exchange(std::string_view bytes, double /*limit_s*/) override {
    const auto n = static_cast<std::size_t>(ranks_);
    const int mine = static_cast<int>(bytes.size());
    std::vector<int> sizes(n);
    check(MPI_Allgather(&mine, 1, MPI_INT, sizes.data(), 1, MPI_INT, MPI_COMM_WORLD),
          "MPI_Allgather");
    const int longest = *std::max_element(sizes.begin(), sizes.end());
    std::string padded(bytes);
    padded.resize(static_cast<std::size_t>(longest));
    std::string all(n * padded.size(), '\0');
    if (longest > 0)
      check(MPI_Allgather(padded.data(), longest, MPI_BYTE, all.data(), longest, MPI_BYTE,
                          MPI_COMM_WORLD),
            "MPI_Allgather");
    std::vector<std::string> result;
    for (std::size_t r = 0; r < n; ++r)
      result.push_back(all.substr(r * padded.size(), static_cast<std::size_t>(sizes[r])));
    return result;
  }

 private:
  int rank_ = 0, ranks_ = 1;
};

}  // namespace

const Backend& simulated_backend() { return *ccl_module_backend(); }

std::unique_ptr<Bootstrap> simulated_bootstrap() {
  start();
  return std::make_unique<MpiBootstrap>();
}

}  // namespace ccl::mpi_module
