#include "src/primitives/results.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include "src/core/host.hpp"
#include "src/core/output_file.hpp"
#include "src/primitives/agreement.hpp"

namespace ccl_tests::primitives {

void check_places(std::span<const std::size_t> counts, std::size_t size) {
  const std::size_t all = sum_of(counts);
  const std::size_t end = std::min(all, size);
  for (std::size_t r = 0; r < counts.size(); ++r) {
    const std::size_t place = counts[r] * counts.size() + r;  // of the first that it does not have
    if (place < end)
      throw Error(
          fmt::format("collect_results: rank {} has {} item{}, so that item {} of {} is missing", r,
                      counts[r], counts[r] == 1 ? "" : "s", place, end));
  }
}

Bytes pack_list(Group& group, std::span<const Bytes> part) {
  std::size_t bytes = (1 + part.size()) * sizeof(std::uint64_t);
  for (const Bytes item : part) bytes += item.size();
  const auto packed = group.workspace().room<std::byte>("packed list", bytes);
  std::byte* to = packed.data();
  const auto put = [&](const void* from, std::size_t size) {
    if (size > 0) std::memcpy(to, from, size);
    to += size;
  };
  const std::uint64_t count = part.size();
  put(&count, sizeof count);
  for (const Bytes item : part) {
    const std::uint64_t size = item.size();
    put(&size, sizeof size);
  }
  for (const Bytes item : part) put(item.data(), item.size());
  return packed;
}

std::vector<Bytes> unpack_list(Bytes packed) {
  const std::size_t numbers = packed.size() / sizeof(std::uint64_t);
  const auto number = [&](std::size_t i) {
    std::uint64_t value = 0;
    std::memcpy(&value, packed.data() + i * sizeof value, sizeof value);
    return value;
  };
  const auto damaged = [] { return Error("collect_results: a list came damaged"); };
  if (numbers == 0 || number(0) > numbers - 1) throw damaged();
  std::vector<Bytes> items;
  Bytes rest = packed.subspan((1 + number(0)) * sizeof(std::uint64_t));
  for (std::size_t i = 1; i <= number(0); ++i) {
    if (number(i) > rest.size()) throw damaged();
    items.push_back(rest.first(number(i)));
    rest = rest.subspan(number(i));
  }
  return items;
}

void put_together(const Group& group, std::size_t size, Results& results) {
  std::vector<std::vector<Bytes>> lists;
  std::vector<std::size_t> counts;
  for (std::size_t r = 0; r < results.parts.count(); ++r)
    counts.push_back(lists.emplace_back(unpack_list(results.parts.object(r))).size());
  check_places(counts, size);
  if (!group.is_main()) return;
  const std::size_t all = sum_of(counts);
  for (std::size_t i = 0; i < std::min(all, size); ++i)
    results.items.push_back(lists[i % lists.size()][i / lists.size()]);
}

void collect_results(Group& group, std::span<const Bytes> part, std::size_t size,
                     Results& results) {
  StepClock before = group.step_clock();
  results.items.clear();
  const Bytes packed = pack_list(group, part);
  before.packing();
  all_gather_object(group, packed, results.parts);
  StepClock after = group.step_clock();
  put_together(group, size, results);
  after.packing();
}

void check_results(Group& group, std::size_t items, std::size_t size) {
  check_agreement(group, "check_results", {{"the size", std::to_string(size)}});
  std::vector<std::size_t> counts;
  for (const std::string& text : group.all_gather(std::to_string(items)))
    counts.push_back(std::stoull(text));
  check_places(counts, size);
}

namespace {

namespace fs = std::filesystem;

constexpr std::size_t name_bytes = 512;  // of a folder, on the wire; filled up with blanks

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

void read_files(const Group& group, const std::string& folder, Objects& parts) {
  parts.clear();
  for (int rank = 0; rank < group.ranks(); ++rank) {
    std::error_code error;
    const auto size = fs::file_size(part_file(folder, rank), error);
    if (error)
      throw Error(
          fmt::format("the list of rank {} is not in {}: {}; all ranks must share the folder", rank,
                      folder, error.message()));
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
  for (std::size_t r = 0; r < all.size(); ++r)
    if (!all[r].empty()) text += fmt::format("{}rank {}: {}", text.empty() ? "" : "; ", r, all[r]);
  throw Error("collect_results_by_files: " + text);
}

void broadcast(Group& group, void* data, std::size_t bytes) {
  group.run(&Communicator::broadcast, group.call(data, data, bytes, DataType::uint8));
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
  std::string folder, trouble;
  const auto make_folder = [&] {
    const std::string prefix = folder_prefix();
    made.emplace(prefix.empty() ? "collect_results." : fmt::format("{}{}.", prefix, getpid()),
                 shared, name_bytes);
    folder = made->path();
  };
  if (group.is_main()) trouble = trouble_of(make_folder);
  folder.resize(name_bytes, ' ');
  clock.packing();
  broadcast(group, folder.data(), folder.size());
  clock.sizes();
  folder.resize(folder.find_last_not_of(' ') + 1);
  if (folder.empty()) fail(group, trouble);

  const std::string mine = part_file(folder, group.rank());
  trouble = trouble_of([&] {
    const std::string why = write_over(mine, text_of(pack_list(group, part)));
    if (!why.empty()) throw Error(fmt::format("cannot write {}: {}", mine, why));
  });
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
