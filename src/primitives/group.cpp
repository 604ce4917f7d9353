#include "src/primitives/group.hpp"

#include <fmt/format.h>

#include <exception>

namespace ccl::primitives {
namespace {

std::unique_ptr<Communicator> connect(Bootstrap& bootstrap, const Library& library,
                                      double limit_s) {
  if (library.backend == nullptr)
    throw UsageError("a group that was given no backend cannot make groups");
  BackendOptions options = library.options;
  options.init_timeout_s = limit_s;
  auto communicator = library.backend->connect(bootstrap, options);
  communicator->set_time_limit(limit_s);
  return communicator;
}

}  // namespace

Group::Group(Bootstrap& bootstrap, Communicator& communicator, double limit_s, Library library)
    : bootstrap_(bootstrap),
      communicator_(communicator),
      limit_s_(limit_s),
      library_(std::move(library)),
      exceptions_(std::uncaught_exceptions()) {}

Group::Group(Bootstrap& bootstrap, const Library& library, double limit_s)
    : own_communicator_(connect(bootstrap, library, limit_s)),
      bootstrap_(bootstrap),
      communicator_(*own_communicator_),
      limit_s_(limit_s),
      library_(library),
      exceptions_(std::uncaught_exceptions()) {}

Group::Group(std::unique_ptr<Bootstrap> bootstrap, const Library& library, double limit_s)
    : own_bootstrap_(std::move(bootstrap)),
      own_communicator_(connect(*own_bootstrap_, library, limit_s)),
      bootstrap_(*own_bootstrap_),
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
  auto bootstrap = bootstrap_.split(color, key, limit_s_);
  if (!bootstrap) return nullptr;
  return std::unique_ptr<Group>(new Group(std::move(bootstrap), library_, limit_s_));
}

Group& Group::cpu_group(const Backend& host) {
  if (communicator_.memory() == Memory::host) return *this;
  if (!cpu_) cpu_ = std::make_unique<Group>(bootstrap_, Library{&host}, limit_s_);
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
  call.place = {rank(), ranks(), root, 0};
  return call;
}

}  // namespace ccl::primitives
