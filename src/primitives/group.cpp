#include "src/primitives/group.hpp"

#include <fmt/format.h>

#include <exception>

#include "src/core/communicator.hpp"

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

}  // namespace

Group::Group(ControlChannel& channel, Communicator& communicator, double limit_s, Library library)
    : channel_(channel),
      communicator_(communicator),
      limit_s_(limit_s),
      library_(std::move(library)),
      exceptions_(std::uncaught_exceptions()) {}

Group::Group(ControlChannel& channel, const Library& library, double limit_s)
    : own_communicator_(connect(channel, library, limit_s)),
      channel_(channel),
      communicator_(*own_communicator_),
      limit_s_(limit_s),
      library_(library),
      exceptions_(std::uncaught_exceptions()) {}

Group::Group(std::unique_ptr<ControlChannel> channel, const Library& library, double limit_s)
    : own_channel_(std::move(channel)),
      own_communicator_(connect(*own_channel_, library, limit_s)),
      channel_(*own_channel_),
      communicator_(*own_communicator_),
      limit_s_(limit_s),
      library_(library),
      exceptions_(std::uncaught_exceptions()) {}

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

Group& Group::cpu_group(const Backend& host) {
  if (communicator_.capabilities().memory == Memory::host) return *this;
  if (!cpu_) cpu_ = std::make_unique<Group>(channel_, Library{&host}, limit_s_);
  return *cpu_;
}

void Group::barrier() {
  communicator_.barrier(call(nullptr, nullptr, 0, DataType::uint8));
  communicator_.wait();
}

Call Group::call(const void* send, void* recv, std::size_t count, DataType type, ReduceOp op,
                 int root) const {
  if (root < 0 || root >= ranks())
    throw UsageError(fmt::format("no rank {} in a group of {} ranks", root, ranks()));
  Call call;
  call.send = send;
  call.recv = recv;
  call.count = count;
  call.type = type;
  call.op = op;
  call.self = {rank(), ranks()};
  call.root = root;
  return call;
}

}  // namespace ccl_tests::primitives
