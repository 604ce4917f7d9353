// A rank's membership in a group of ranks, which all primitives take.
#pragma once

#include <cstddef>
#include <exception>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "src/core/backend.hpp"
#include "src/core/communicator.hpp"
#include "src/core/control_channel.hpp"
#include "src/core/operation.hpp"

namespace ccl_tests::primitives {

// Uninitialised bytes, aligned for every type of the suite. They grow and are used again, so that
// calls of the same sizes do not allocate.
class Buffer {
 public:
  // At least `bytes`; never null. What was in it is lost when it grows.
  std::byte* room(std::size_t bytes) {
    if (bytes > capacity_ || !data_) {
      data_.reset();
      data_ = std::make_unique_for_overwrite<std::byte[]>(bytes > 0 ? bytes : 1);
      capacity_ = bytes;
    }
    return data_.get();
  }
  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }

 private:
  std::unique_ptr<std::byte[]> data_;
  std::size_t capacity_ = 0;
};

// A rank's buffers by name. One name is one buffer: its content lasts until the name is used again.
class Workspace {
 public:
  template <class T>
  std::span<T> room(std::string_view name, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto found = buffers_.find(name);
    Buffer& buffer = found != buffers_.end() ? found->second : buffers_[std::string(name)];
    // NOLINTNEXTLINE(bugprone-sizeof-expression): T may be a pointer
    return {reinterpret_cast<T*>(buffer.room(count * sizeof(T))), count};
  }

 private:
  std::map<std::string, Buffer, std::less<>> buffers_;
};

// The time that the steps of composite primitives take. Each call gives the time since the one
// before it, or since the object was made, to a step.
class StepClock {
 public:
  StepClock(Communicator& communicator, StepTimes& times)
      : communicator_(communicator), times_(times), last_s_(communicator.clock().now()) {}
  void sizes() { lap(times_.sizes_s); }
  void payload() { lap(times_.payload_s); }
  void packing() { lap(times_.packing_s); }

 private:
  void lap(double& step_s) {
    const double now_s = communicator_.clock().now();
    step_s += now_s - last_s_;
    last_s_ = now_s;
  }
  Communicator& communicator_;
  StepTimes& times_;
  double last_s_;
};

// The library that connects groups. The backend must outlive them.
struct Library {
  const Backend* backend = nullptr;  // null: no new groups
  BackendOptions options = {};
};

// Ranks, sources and destinations are the group's own, 0 .. ranks() - 1. A group of one rank is
// nothing special: every primitive gives what a world of one would. Used by one thread. To be
// destroyed when all of its ranks have done with it, for example after an all_gather(""); one that
// an exception leaves is abandoned, as closing it could wait for the others.
class Group {
 public:
  // Both have the group's ranks and must outlive it: `channel` serves checks and files,
  // `communicator` carries the data. limit_s: of one exchange over channel, of making a group, of
  // one operation in it.
  Group(ControlChannel& channel, Communicator& communicator, double limit_s = 120,
        Library library = {});
  // Connects a communicator of its own. Collective over channel's ranks. Throws Error, Timeout,
  // Unsupported.
  Group(ControlChannel& channel, const Library& library, double limit_s = 120);
  ~Group();

  int rank() const { return channel_.rank(); }
  int ranks() const { return channel_.ranks(); }
  bool is_main() const { return rank() == 0; }
  bool is_distributed() const { return ranks() > 1; }
  // The library's name; empty when the group was given no backend.
  std::string backend() const {
    return library_.backend != nullptr ? library_.backend->name() : std::string();
  }

  // Calls f on rank 0, nothing elsewhere. Not collective.
  template <class F>
  void main_only(F&& f) const {
    if (is_main()) std::forward<F>(f)();
  }

  // Collective: returns when all ranks have come. The library's barrier.
  void barrier();

  // Collective: every rank's bytes, over the control plane. Throws Error, Timeout.
  std::vector<std::string> all_gather(std::string_view bytes) {
    return channel_.all_gather(bytes, limit_s_);
  }

  // Makes a group of the ranks that give the same color, ordered by key and then by their rank
  // here; null with a color below 0. As new_group: collective, throws what the library throws,
  // UsageError if this group was given no backend; the new group may outlive this one.
  std::unique_ptr<Group> split(int color, int key);
  // Makes a group of the listed ranks, in the list's order (torch.distributed.new_group sorts it);
  // null on the others. All ranks give the same list. Throws, on every rank, Error that names who
  // gave another list, UsageError if the list is empty, or has an unknown or repeated rank.
  std::unique_ptr<Group> new_group(const std::vector<int>& ranks);

  // Makes the local groups, one for each machine, of ranks_per_machine ranks each. This rank keeps
  // its own until the next call, as detectron2.utils.comm.create_local_process_group does.
  // Collective, with a barrier at the end. Throws as new_group, and UsageError if ranks() is no
  // multiple.
  void create_local_group(int ranks_per_machine);
  // Makes them of the ranks that give the same name, by default that of the machine.
  void create_local_group_by_machine(std::string_view machine = {});

  // Throws UsageError without a local group; a group of one rank is its own.
  Group& local_group();
  int local_rank() { return local_group().rank(); }
  int local_size() { return local_group().ranks(); }

  // Returns the group for data in host memory: this one, unless its communicator takes a device's
  // memory; then one of the same ranks over `host`, which the first call makes, collectively.
  Group& cpu_group(const Backend& host);

  // Makes one operation of the library and waits for it. Collective.
  void run(OperationMember operation, const Call& call) {
    (communicator_.*operation)(call);
    communicator_.wait();
  }

  // Returns this rank's call of one operation. Throws UsageError when there is no rank `root`.
  Call call(const void* send, void* recv, std::size_t count, DataType type,
            ReduceOp op = ReduceOp::sum, int root = 0) const;

  ControlChannel& channel() { return channel_; }
  double limit_s() const { return limit_s_; }
  void set_limit(double limit_s) { limit_s_ = limit_s; }  // of exchanges and new groups from now on
  const Library& library() const { return library_; }
  Communicator& communicator() { return communicator_; }
  Workspace& workspace() { return workspace_; }
  StepTimes& times() { return times_; }
  const StepTimes& times() const { return times_; }

  // Returns false if each of the operations that are started together is complete before the next.
  bool overlaps() const { return overlaps_; }
  void set_overlaps(bool overlaps) { overlaps_ = overlaps; }
  StepClock step_clock() { return {communicator_, times_}; }

 private:
  Group(std::unique_ptr<ControlChannel> channel, const Library& library, double limit_s);

  std::unique_ptr<ControlChannel> own_channel_;  // null when they are somebody else's
  std::unique_ptr<Communicator> own_communicator_;
  ControlChannel& channel_;
  Communicator& communicator_;
  double limit_s_;
  Library library_;
  int exceptions_ = std::uncaught_exceptions();  // under way when it was made
  Workspace workspace_;
  StepTimes times_;
  bool overlaps_ = true;
  std::unique_ptr<Group> local_, cpu_;
};

}  // namespace ccl_tests::primitives
