#include "src/primitives/group.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "src/core/host.hpp"
#include "src/primitives/agreement.hpp"

namespace ccl_tests::primitives {
namespace {

std::unique_ptr<Communicator> connect(ControlChannel& channel, const Library& library,
                                      double limit_s) {
  if (library.backend == nullptr)
    throw UsageError("a group that was given no backend cannot make groups");
  BackendOptions options = library.options;
  options.init_timeout_s = limit_s;
  auto communicator = library.backend->connect(channel, options);
  communicator->set_time_limit(limit_s);
  return communicator;
}

void check_list_of_ranks(const std::vector<int>& list, int ranks) {
  if (list.empty()) throw UsageError("new_group: no ranks");
  std::set<int> seen;
  for (const int rank : list) {
    if (rank < 0 || rank >= ranks)
      throw UsageError(fmt::format("new_group: no rank {} in a group of {} ranks", rank, ranks));
    if (!seen.insert(rank).second)
      throw UsageError(fmt::format("new_group: rank {} is listed twice", rank));
  }
}

}  // namespace

Group::Group(ControlChannel& channel, Communicator& communicator, double limit_s, Library library)
    : channel_(channel),
      communicator_(communicator),
      limit_s_(limit_s),
      library_(std::move(library)) {}

Group::Group(ControlChannel& channel, const Library& library, double limit_s)
    : own_communicator_(connect(channel, library, limit_s)),
      channel_(channel),
      communicator_(*own_communicator_),
      limit_s_(limit_s),
      library_(library) {}

Group::Group(std::unique_ptr<ControlChannel> channel, const Library& library, double limit_s)
    : Group(*channel, library, limit_s) {
  own_channel_ = std::move(channel);
}

Group::~Group() {
  if (own_communicator_ && std::uncaught_exceptions() > exceptions_) own_communicator_->abort();
}

std::unique_ptr<Group> Group::split(int color, int key) {
  if (library_.backend == nullptr)
    throw UsageError("a group that was given no backend cannot make groups");
  auto channel = channel_.split(color, key, limit_s_);
  if (!channel) return nullptr;
  return std::unique_ptr<Group>(new Group(std::move(channel), library_, limit_s_));
}

std::unique_ptr<Group> Group::new_group(const std::vector<int>& ranks) {
  check_agreement(*this, "new_group", {{"the list of ranks", fmt::format("{}", ranks)}});
  check_list_of_ranks(ranks, this->ranks());
  const auto at = std::find(ranks.begin(), ranks.end(), rank());
  return split(at == ranks.end() ? -1 : 0, static_cast<int>(at - ranks.begin()));
}

void Group::create_local_group(int ranks_per_machine) {
  check_agreement(*this, "create_local_group",
                  {{"ranks_per_machine", std::to_string(ranks_per_machine)}});
  if (ranks_per_machine < 1 || ranks() % ranks_per_machine != 0)
    throw UsageError(
        fmt::format("create_local_group: {} ranks cannot be divided into machines of {}", ranks(),
                    ranks_per_machine));
  local_ = split(rank() / ranks_per_machine, rank());
  barrier();
}

void Group::create_local_group_by_machine(std::string_view machine) {
  const auto machines = all_gather(machine.empty() ? host_identity() : std::string(machine));
  const auto mine = machines.begin() + rank();
  local_ =
      split(static_cast<int>(std::find(machines.begin(), mine, *mine) - machines.begin()), rank());
  barrier();
}

Group& Group::local_group() {
  if (local_) return *local_;
  if (!is_distributed()) return *this;
  throw UsageError(
      "there is no local group yet: let all ranks call create_local_group(ranks_per_machine) or "
      "create_local_group_by_machine() first");
}

Group& Group::cpu_group(const Backend& host) {
  if (communicator_.capabilities().memory == Memory::host) return *this;
  if (!cpu_) cpu_ = std::make_unique<Group>(channel_, Library{&host}, limit_s_);
  return *cpu_;
}

void Group::barrier() { run(&Communicator::barrier, call(nullptr, nullptr, 0, DataType::uint8)); }

Call Group::call(const void* send, void* recv, std::size_t count, DataType type, ReduceOp op,
                 int root) const {
  if (root < 0 || root >= ranks())
    throw UsageError(fmt::format("no rank {} in a group of {} ranks", root, ranks()));
  return {send, recv, count, type, op, {rank(), ranks()}, root};
}

}  // namespace ccl_tests::primitives
