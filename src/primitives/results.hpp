// Results that the ranks have computed for their shares of a data set, brought together on rank 0.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "src/primitives/group.hpp"
#include "src/primitives/objects.hpp"

namespace ccl_tests::primitives {

// The results that collect_results brings; the next call with it reuses its memory.
struct Results {
  Objects parts;             // every rank's list, packed
  std::vector<Bytes> items;  // on rank 0, in the data set's order: views into parts
};

// All are collective. Rank r's i-th item is item i * n + r of the data set, as a distributed
// sampler deals it out. Rank 0 gets items 0 .. size - 1, fewer if there are fewer; the others get
// none. They throw, on every rank, what the library throws, and Error that names a rank with too
// few items for those of the others to stand where they belong (mmengine would move them up).

// As mmengine.dist.collect_results_gpu: all_gather_object of every rank's list.
void collect_results(Group& group, std::span<const Bytes> part, std::size_t size, Results& results);

// As mmengine.dist.collect_results_cpu: rank 0 makes a folder in `shared`, which all ranks share;
// broadcast uint8[512] of its name; every rank writes its list to a file there; barrier; rank 0
// reads and removes the folder, after a failure too. Beyond the original, broadcast uint8[1] of
// whether all went well. Throws, on every rank, Error that says which rank could not write or read
// what.
void collect_results_by_files(Group& group, std::span<const Bytes> part, std::size_t size,
                              const std::string& shared, Results& results);

// Not collective: removes from `shared` what processes of this machine that were killed have left
// of collect_results_by_files. Lists the whole folder; what cannot be removed stays.
void remove_left_folders(const std::string& shared);

// Asks over the control plane whether lists of so many items will fit together. Throws
// Error, on every rank, naming a rank with another `size` or with too few items.
void check_results(Group& group, std::size_t items, std::size_t size);

// Returns a list of items as one object, as collect_results sends and writes it: their number,
// their lengths in bytes, each in 8 bytes, and the items. In the group's workspace, until the next
// call.
Bytes pack_list(Group& group, std::span<const Bytes> part);

// Returns the items, views into `packed`. Throws Error on bytes that are no list.
std::vector<Bytes> unpack_list(Bytes packed);

// Throws Error, naming the rank, when a rank's number of items, of `counts` by rank, leaves a place
// before the end or before `size` empty.
void check_places(std::span<const std::size_t> counts, std::size_t size);

// results.items, which are empty, from results.parts; see collect_results.
void put_together(const Group& group, std::size_t size, Results& results);

}  // namespace ccl_tests::primitives
