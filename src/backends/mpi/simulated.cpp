#include "src/backends/mpi/simulated.hpp"

#include <algorithm>
#include <array>

#include "src/backends/mpi/library.hpp"

extern "C" const ccl_tests::Backend* ccl_module_backend();  // of module.cpp, linked in

namespace ccl_tests::mpi_module {
namespace {

class MpiBootstrap : public ControlChannel {
 public:
  explicit MpiBootstrap(MPI_Comm comm) : comm_(comm) {
    check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(comm_, &ranks_), "MPI_Comm_size");
  }
  ~MpiBootstrap() override {
    if (comm_ != MPI_COMM_WORLD) MPI_Comm_free(&comm_);
  }
  MpiBootstrap(const MpiBootstrap&) = delete;
  MpiBootstrap& operator=(const MpiBootstrap&) = delete;
  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }

  // Padded to the longest: SMPI 3.32 divides by zero in an allgatherv of nothing.
  std::vector<std::string> all_gather(std::string_view bytes, double /*limit_s*/) override {
    const auto n = static_cast<std::size_t>(ranks_);
    const int mine = static_cast<int>(bytes.size());
    std::vector<int> sizes(n);
    check(MPI_Allgather(&mine, 1, MPI_INT, sizes.data(), 1, MPI_INT, comm_), "MPI_Allgather");
    const int longest = *std::max_element(sizes.begin(), sizes.end());
    std::string padded(bytes);
    padded.resize(static_cast<std::size_t>(longest));
    std::string all(n * padded.size(), '\0');
    if (longest > 0)
      check(MPI_Allgather(padded.data(), longest, MPI_BYTE, all.data(), longest, MPI_BYTE, comm_),
            "MPI_Allgather");
    std::vector<std::string> result;
    for (std::size_t r = 0; r < n; ++r)
      result.push_back(all.substr(r * padded.size(), static_cast<std::size_t>(sizes[r])));
    return result;
  }

  // Rank 0 learns the sizes first: SMPI 3.32 divides by zero in collectives of nothing.
  std::vector<std::string> gather(std::string_view bytes, double /*limit_s*/) override {
    const int mine = static_cast<int>(bytes.size());
    std::vector<int> sizes(rank_ == 0 ? static_cast<std::size_t>(ranks_) : 0);
    check(MPI_Gather(&mine, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, comm_), "MPI_Gather");
    if (rank_ != 0) {
      if (mine > 0) check(MPI_Send(bytes.data(), mine, MPI_BYTE, 0, gather_tag, comm_), "MPI_Send");
      return {};
    }
    std::vector<std::string> all = {std::string(bytes)};
    for (int r = 1; r < ranks_; ++r) {
      const int size = sizes[static_cast<std::size_t>(r)];
      std::string& theirs = all.emplace_back(static_cast<std::size_t>(size), '\0');
      if (size > 0)
        check(MPI_Recv(theirs.data(), size, MPI_BYTE, r, gather_tag, comm_, MPI_STATUS_IGNORE),
              "MPI_Recv");
    }
    return all;
  }

  std::string broadcast(std::string_view bytes, double /*limit_s*/) override {
    int size = static_cast<int>(bytes.size());
    check(MPI_Bcast(&size, 1, MPI_INT, 0, comm_), "MPI_Bcast");
    std::string text(rank_ == 0 ? bytes : std::string_view());
    text.resize(static_cast<std::size_t>(size));
    if (size > 0) check(MPI_Bcast(text.data(), size, MPI_BYTE, 0, comm_), "MPI_Bcast");
    return text;
  }

  std::unique_ptr<ControlChannel> split(int color, int key, double /*limit_s*/) override {
    MPI_Comm group = MPI_COMM_NULL;
    check(MPI_Comm_split(comm_, color < 0 ? MPI_UNDEFINED : color, key, &group), "MPI_Comm_split");
    return group == MPI_COMM_NULL ? nullptr : std::make_unique<MpiBootstrap>(group);
  }

 private:
  static constexpr int gather_tag = 1;
  MPI_Comm comm_;
  int rank_ = 0, ranks_ = 1;
};

}  // namespace

const Backend& simulated_backend() { return *ccl_module_backend(); }

std::unique_ptr<ControlChannel> simulated_channel() {
  start();
  return std::make_unique<MpiBootstrap>(MPI_COMM_WORLD);
}

std::string simulated_host() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  check(MPI_Get_processor_name(name.data(), &length), "MPI_Get_processor_name");
  return {name.data(), static_cast<std::size_t>(length)};
}

}  // namespace ccl_tests::mpi_module
