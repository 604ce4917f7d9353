#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>

#include "src/primitives/results.hpp"
#include "tests/primitives/cases.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ccl_tests::test {
namespace {

namespace fs = std::filesystem;
using primitives::Bytes;
using primitives::Results;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::size_t everything = std::numeric_limits<std::size_t>::max();

// A folder that all ranks see, and that every test must leave empty.
class Shared {
 public:
  explicit Shared(World& world) : world_(world) {
    if (world.rank() == 0) folder_.emplace();
    path_ = world.group.all_gather(folder_ ? folder_->path() : "").front();
  }
  ~Shared() {
    try {
      world_.group.all_gather("");
    } catch (const Error& e) {
      ADD_FAILURE() << e.what();
    }
    EXPECT_TRUE(!folder_ || fs::is_empty(path_));
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  const std::string& path() const { return path_; }

 private:
  World& world_;
  std::optional<TemporaryFolder> folder_;  // on rank 0
  std::string path_;
};

// Item i of the data set; lengths are 0, 1, ... and, of every third, large.
std::string item(std::size_t i) {
  return std::string(i % 3 == 0 ? 1000 * (i + 1) : i % 7, static_cast<char>('a' + i % 26));
}

// This rank's share of `items` items.
struct Part {
  Part(const World& world, std::size_t items) {
    for (auto i = static_cast<std::size_t>(world.rank()); i < items;
         i += static_cast<std::size_t>(world.ranks()))
      texts.push_back(item(i));
  }
  std::vector<Bytes> list() const {
    std::vector<Bytes> items;
    for (const std::string& text : texts) items.push_back(primitives::bytes_of(text));
    return items;
  }
  std::vector<std::string> texts;
};

using Collect = std::function<void(std::span<const Bytes>, std::size_t, Results&)>;
struct Way {
  Collect collect;
  const char* wire;  // its first operation
};
std::vector<Way> both_ways(World& world, const Shared& shared) {
  return {{[&](std::span<const Bytes> part, std::size_t size, Results& results) {
             primitives::collect_results(world.group, part, size, results);
           },
           "all_gather int64[1]"},
          {[&](std::span<const Bytes> part, std::size_t size, Results& results) {
             primitives::collect_results_by_files(world.group, part, size, shared.path(), results);
           },
           "broadcast uint8[512] from 0"}};
}

void collect_results(World& world) {
  const Shared shared(world);
  const auto n = static_cast<std::size_t>(world.ranks());
  Results results;  // one for all: what an earlier call left must not matter
  for (const Way& way : both_ways(world, shared)) {
    // The second is no multiple of n, the last but one less than a round.
    for (const std::size_t items : {5 * n, 5 * n + n / 2, n, n - 1, std::size_t{0}}) {
      for (const std::size_t size : {everything, items, items - items / 3, std::size_t{0}}) {
        SCOPED_TRACE(fmt::format("{} of {} items, {}", size, items, way.wire));
        const Part part(world, items);
        primitives::check_results(world.group, part.texts.size(), size);
        way.collect(part.list(), size, results);
        EXPECT_EQ(results.items.size(), world.rank() == 0 ? std::min(size, items) : 0U);
        for (std::size_t i = 0; i < results.items.size(); ++i)
          EXPECT_EQ(primitives::text_of(results.items[i]), item(i)) << "item " << i;
        EXPECT_EQ(world.wire.taken().front(), way.wire);
      }
    }
  }
}

void what_files_need_of_the_wire(World& world) {
  const Shared shared(world);
  Results results;
  primitives::collect_results_by_files(world.group, Part(world, 9).list(), 9, shared.path(),
                                       results);
  EXPECT_THAT(world.wire.taken(),
              ElementsAre("broadcast uint8[512] from 0", "barrier", "broadcast uint8[1] from 0"));
}

// A thousand times more on one rank than on the others together.
void one_rank_has_nearly_all(World& world) {
  const Shared shared(world);
  const std::string mine(world.rank() == world.ranks() - 1 ? 3'000'000 : 1'000, 'x');
  const std::vector<Bytes> part{primitives::bytes_of(mine)};
  Results results;
  for (const Way& way : both_ways(world, shared)) {
    way.collect(part, everything, results);
    for (std::size_t i = 0; i < results.items.size(); ++i)
      EXPECT_EQ(results.items[i].size(), i + 1 == results.items.size() ? 3'000'000U : 1'000U);
  }
}

void places_that_stay_empty(World& world) {
  if (world.ranks() == 1) return;
  const Shared shared(world);
  const std::vector<Bytes> one(1);
  const std::vector<Bytes> part(world.rank() == 1 ? 0 : 2, primitives::bytes_of("x"));
  Results results;
  const std::string text = "rank 1 has 0 items, so that item 1 of ";
  for (const Way& way : both_ways(world, shared)) {
    EXPECT_THAT(error_of([&] { way.collect(part, everything, results); }), HasSubstr(text));
    EXPECT_THAT(results.items, IsEmpty());
    way.collect(part, 1, results);  // rank 0's first is all that is wanted
    EXPECT_EQ(results.items.size(), world.rank() == 0 ? 1U : 0U);
  }
  EXPECT_THAT(error_everywhere(
                  world, [&] { primitives::check_results(world.group, part.size(), everything); }),
              HasSubstr(text));
  EXPECT_THAT(
      error_everywhere(
          world, [&] { primitives::check_results(world.group, 1, world.rank() == 2 ? 5 : 6); }),
      HasSubstr("rank 2: the size is 5, on rank 0 it is 6"));
}

void folders_that_are_refused(World& world) {
  const Shared shared(world);
  Results results;
  const auto refusal = [&](const std::string& folder) {
    return error_everywhere(world, [&] {
      primitives::collect_results_by_files(world.group, Part(world, 9).list(), 9, folder, results);
    });
  };
  EXPECT_THAT(refusal(shared.path() + "/not there"),
              AllOf(HasSubstr("rank 0: cannot make a folder in"), HasSubstr("not there"),
                    HasSubstr("No such file or directory")));
  EXPECT_THAT(refusal("/proc/version"), HasSubstr("Not a directory"));
  EXPECT_THAT(refusal("/proc"), HasSubstr("rank 0: cannot make a folder in /proc"));  // read-only
  EXPECT_THAT(refusal(shared.path() + '/' + std::string(500, 'x')), HasSubstr("more than 512"));
}

// On the last rank the name that rank 0 broadcasts is that of another folder, as where a path leads
// to a disk of the machine's own.
void folders_that_are_not_shared(World& world) {
  if (world.ranks() == 1) return;
  const Shared shared(world);
  const Shared own(world);
  const int last = world.ranks() - 1;
  Results results;
  for (const std::string& folder : {own.path(), own.path() + "/not there"}) {
    world.wire.after = [&](const std::string& operation, const Call& call) {
      if (world.rank() != last || operation != "broadcast uint8[512] from 0") return;
      auto* const name = static_cast<char*>(call.recv);
      std::fill(name, name + call.count, ' ');
      std::copy(folder.begin(), folder.end(), name);
    };
    const std::string text = error_everywhere(world, [&] {
      primitives::collect_results_by_files(world.group, Part(world, 9).list(), 9, shared.path(),
                                           results);
    });
    EXPECT_THAT(text, AllOf(HasSubstr(fmt::format("rank 0: the list of rank {} is not in", last)),
                            HasSubstr("all ranks must share the folder")));
    if (folder != own.path()) {
      EXPECT_THAT(text, HasSubstr(fmt::format("rank {}: cannot write", last)));
    }
  }
  world.wire.after = [](const std::string&, const Call&) {};
}

// The last rank's file cannot take anything.
void disks_that_are_full(World& world) {
  const Shared shared(world);
  const int last = world.ranks() - 1;
  Results results;
  world.wire.after = [&](const std::string& operation, const Call& call) {
    if (world.rank() != last || operation != "broadcast uint8[512] from 0") return;
    const std::string_view name(static_cast<const char*>(call.recv), call.count);
    fs::create_symlink("/dev/full", fs::path(name.substr(0, name.find_last_not_of(' ') + 1)) /
                                        fmt::format("part_{}", last));
  };
  EXPECT_THAT(error_everywhere(world,
                               [&] {
                                 primitives::collect_results_by_files(
                                     world.group, Part(world, 9).list(), 9, shared.path(), results);
                               }),
              AllOf(HasSubstr(fmt::format("rank {}: cannot write", last)),
                    HasSubstr("No space left on device")));
  world.wire.after = [](const std::string&, const Call&) {};
}

void folders_go_when_the_library_fails(World& world) {
  const Shared shared(world);
  Results results;
  world.wire.after = [&](const std::string& operation, const Call&) {
    if (operation == "barrier") throw Error("the library has failed");
  };
  EXPECT_THAT(error_of([&] {
                primitives::collect_results_by_files(world.group, Part(world, 9).list(), 9,
                                                     shared.path(), results);
              }),
              HasSubstr("the library has failed"));
  world.wire.after = [](const std::string&, const Call&) {};
}

void items_of_an_earlier_call_go(World& world) {
  const Shared shared(world);
  const Part part(world, 9);
  for (const Way& way : both_ways(world, shared)) {
    Results results;
    way.collect(part.list(), 9, results);
    world.wire.after = [&](const std::string&, const Call&) { throw Error("the library fails"); };
    EXPECT_EQ(error_of([&] { way.collect(part.list(), 9, results); }), "the library fails");
    world.wire.after = [](const std::string&, const Call&) {};
    EXPECT_THAT(results.items, IsEmpty());
  }
}

void lists_that_are_damaged(World& world) {
  const std::vector<Bytes> part{primitives::bytes_of("abc"), {}, primitives::bytes_of("d")};
  const Bytes packed = primitives::pack_list(world.group, part);
  EXPECT_EQ(packed.size(), 4 * 8 + 4U);
  const std::vector<Bytes> list = primitives::unpack_list(packed);
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(primitives::text_of(list[0]), "abc");
  EXPECT_EQ(primitives::text_of(list[1]), "");
  EXPECT_EQ(primitives::text_of(list[2]), "d");
  for (std::size_t size = 0; size < packed.size(); ++size)
    EXPECT_THAT(error_of([&] { primitives::unpack_list(packed.first(size)); }),
                HasSubstr("damaged"))
        << size;
}

}  // namespace

std::vector<Case> result_cases() {
  return {{"collect_results", collect_results},
          {"what files need of the wire", what_files_need_of_the_wire},
          {"one rank has nearly all", one_rank_has_nearly_all},
          {"places that stay empty", places_that_stay_empty},
          {"folders that are refused", folders_that_are_refused},
          {"folders that are not shared", folders_that_are_not_shared},
          {"disks that are full", disks_that_are_full},
          {"folders go when the library fails", folders_go_when_the_library_fails},
          {"items of an earlier call go", items_of_an_earlier_call_go},
          {"lists that are damaged", lists_that_are_damaged}};
}

}  // namespace ccl_tests::test
