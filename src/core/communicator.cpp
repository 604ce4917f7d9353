#include "src/core/communicator.hpp"

#include <array>

#include "src/core/composed.hpp"

namespace ccl_tests {
namespace {

class Issued : public Work {
 public:
  explicit Issued(Communicator& communicator) : communicator_(communicator) {}
  void wait() override { communicator_.wait(); }

 private:
  Communicator& communicator_;
};

const Capabilities messages_only;

}  // namespace

void Communicator::all_reduce(const Call& call) { composed::all_reduce(*this, call); }
void Communicator::reduce(const Call& call) { composed::reduce(*this, call); }
void Communicator::broadcast(const Call& call) { composed::broadcast(*this, call); }
void Communicator::all_gather(const Call& call) { composed::all_gather(*this, call); }
void Communicator::reduce_scatter(const Call& call) { composed::reduce_scatter(*this, call); }
void Communicator::all_gatherv(const Call& call) { composed::all_gatherv(*this, call); }
void Communicator::reduce_scatterv(const Call& call) { composed::reduce_scatterv(*this, call); }
void Communicator::alltoall(const Call& call) { composed::alltoall(*this, call); }
void Communicator::alltoallv(const Call& call) { composed::alltoallv(*this, call); }
void Communicator::gather(const Call& call) { composed::gather(*this, call); }
void Communicator::scatter(const Call& call) { composed::scatter(*this, call); }
void Communicator::gatherv(const Call& call) { composed::gatherv(*this, call); }
void Communicator::scatterv(const Call& call) { composed::scatterv(*this, call); }
void Communicator::barrier(const Call& call) { composed::dissemination_barrier(*this, call.self); }

void Communicator::transfer(std::span<Message> /*messages*/, Deadline& /*deadline*/) {
  throw Unsupported("this backend has no transfer");
}

std::unique_ptr<Work> Communicator::start_all_reduce(const Call& call) {
  all_reduce(call);
  return issued(*this);
}
std::unique_ptr<Work> Communicator::start_broadcast(const Call& call) {
  broadcast(call);
  return issued(*this);
}

void Communicator::timing_barrier(const GroupRank& self) {
  composed::dissemination_barrier(*this, self);
}

const Capabilities& Communicator::capabilities() const { return messages_only; }

void Communicator::post(const Message& message) {
  if (grouped_) {
    posted_.push_back(message);
    return;
  }
  Message alone = message;
  Deadline end = deadline(message.bytes.size());
  transfer({&alone, 1}, end);
}

void Communicator::send(const Call& call) {
  post(Message::to(call.peer, call.send_bytes(OperationId::transfer), call.type));
}
void Communicator::recv(const Call& call) {
  post(Message::from(call.peer, call.recv_bytes(OperationId::transfer), call.type));
}

void Communicator::begin_group() {
  posted_.clear();
  grouped_ = true;
}

void Communicator::end_group() {
  grouped_ = false;
  Deadline end = deadline(bytes_of(posted_));
  transfer(posted_, end);
}

std::unique_ptr<Work> issued(Communicator& communicator) {
  return std::make_unique<Issued>(communicator);
}

OperationMember member(OperationId operation) {
  static constexpr std::array<OperationMember, 14> members = {
      &Communicator::all_reduce,      &Communicator::reduce,         &Communicator::broadcast,
      &Communicator::all_gather,      &Communicator::reduce_scatter, &Communicator::all_gatherv,
      &Communicator::reduce_scatterv, &Communicator::alltoall,       &Communicator::alltoallv,
      &Communicator::gather,          &Communicator::scatter,        &Communicator::gatherv,
      &Communicator::scatterv,        &Communicator::barrier};
  const auto index = static_cast<std::size_t>(operation);
  if (index >= members.size()) throw Error("a transfer is no operation on a Call");
  return members[index];
}

}  // namespace ccl_tests
