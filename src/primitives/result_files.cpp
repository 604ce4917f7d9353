// collect_results_by_files.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>

#include "src/core/communicator.hpp"
#include "src/core/host.hpp"
#include "src/core/output_file.hpp"
#include "src/primitives/results.hpp"

namespace ccl_tests::primitives {
namespace {

namespace fs = std::filesystem;

using Name = std::array<char, 512>;  // on the wire, filled up with blanks; all blank: no folder

// The folders of this machine's processes begin so; the process's number follows. Processes of
// other PID namespaces cannot be asked whether they live. Empty: the machine does not tell.
std::string folder_prefix() {
  struct stat space {};
  const std::string machine = machine_id();
  const bool known = !machine.empty() && ::stat("/proc/self/ns/pid", &space) == 0;
  return known ? fmt::format("collect_results.{}-{:x}.", machine, space.st_ino) : "";
}

std::string part_file(const std::string& folder, int rank) {
  return fmt::format("{}/part_{}", folder, rank);
}

void write_file(const std::string& path, Bytes bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file)
    throw Error(fmt::format("cannot write {}: {}", path, std::generic_category().message(errno)));
}

void read_files(const Group& group, const std::string& folder, Objects& parts) {
  parts.clear();
  for (int rank = 0; rank < group.ranks(); ++rank) {
    std::error_code error;
    const auto size = fs::file_size(part_file(folder, rank), error);
    if (error) {
      throw Error(
          fmt::format("the list of rank {} is not in {}: {}; all ranks must share the folder", rank,
                      folder, error.message()));
    }
    parts.sizes.push_back(size);
  }
  std::byte* const storage = parts.storage.room(lay_out_packed(parts.sizes, parts.offsets));
  for (std::size_t r = 0; r < parts.count(); ++r) {
    const std::string path = part_file(folder, static_cast<int>(r));
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(storage + parts.offsets[r]),
                   static_cast<std::streamsize>(parts.sizes[r])))
      throw Error(fmt::format("cannot read {}", path));
  }
}

// Returns what keeps f from its end; empty when nothing does.
template <class F>
std::string trouble_of(F&& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return *e.what() != '\0' ? e.what() : "an error without a text";
  }
  return {};
}

// Throws, on every rank, what the ranks have met with.
[[noreturn]] void fail(Group& group, const std::string& trouble) {
  const auto all = group.all_gather(trouble);
  std::string text;
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (!all[r].empty()) text += fmt::format("{}rank {}: {}", text.empty() ? "" : "; ", r, all[r]);
  }
  throw Error("collect_results_by_files: " + text);
}

void broadcast(Group& group, void* data, std::size_t bytes) {
  group.communicator().broadcast(group.call(data, data, bytes, DataType::uint8));
  group.communicator().wait();
}

std::string from_wire(const Name& name) {
  const std::string_view text(name.data(), name.size());
  return std::string(text.substr(0, text.find_last_not_of(' ') + 1));
}

}  // namespace

void remove_left_folders(const std::string& shared) {
  const std::string prefix = folder_prefix();
  if (prefix.empty()) return;
  std::error_code error;
  std::error_code ignored;
  for (fs::directory_iterator at(shared, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(prefix)) continue;
    const int pid = std::atoi(name.c_str() + prefix.size());
    if (pid > 0 && kill(pid, 0) != 0 && errno == ESRCH) fs::remove_all(at->path(), ignored);
  }
}

void collect_results_by_files(Group& group, std::span<const Bytes> part, std::size_t size,
                              const std::string& shared, Results& results) {
  StepClock clock = group.step_clock();
  results.items.clear();
  std::optional<ScratchFolder> made;  // on rank 0
  Name name{};
  name.fill(' ');
  std::string trouble;
  const auto make_folder = [&] {
    const std::string prefix = folder_prefix();
    made.emplace(prefix.empty() ? "collect_results." : fmt::format("{}{}.", prefix, getpid()),
                 shared, name.size());
  };
  if (group.is_main()) trouble = trouble_of(make_folder);
  if (made) std::copy(made->path().begin(), made->path().end(), name.begin());
  clock.packing();
  broadcast(group, name.data(), name.size());
  clock.sizes();
  const std::string folder = from_wire(name);
  if (folder.empty()) fail(group, trouble);

  const std::string mine = part_file(folder, group.rank());
  trouble = trouble_of([&] { write_file(mine, pack_list(group, part)); });
  if (!trouble.empty()) std::remove(mine.c_str());
  clock.packing();
  group.barrier();
  clock.payload();
  if (group.is_main() && trouble.empty()) {
    trouble = trouble_of([&] {
      read_files(group, folder, results.parts);
      put_together(group, size, results);
    });
  }
  made.reset();
  clock.packing();
  std::uint8_t good = trouble.empty() ? 1 : 0;  // what rank 0 could read, the others have written
  broadcast(group, &good, 1);
  clock.payload();
  if (good == 1) return;
  std::remove(mine.c_str());  // where the folder is not the one that rank 0 removes
  results.items.clear();
  fail(group, trouble);
}

}  // namespace ccl_tests::primitives
