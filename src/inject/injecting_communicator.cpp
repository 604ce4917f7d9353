#include "src/inject/injecting_communicator.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "src/core/forwarding_communicator.hpp"
#include "src/core/reduction.hpp"
#include "src/inject/arithmetic_fault.hpp"
#include "verify/inputs.hpp"

namespace ccl_tests {

void Injector::set(std::optional<Fault> fault) {
  fault_ = fault;
  calls_ = 0;
  *spoiled_ = 0;
}

std::optional<Fault> Injector::next() {
  if (!fault_ || row_bytes_ != fault_->at_bytes.value_or(row_bytes_)) return std::nullopt;
  if (fault_->phase != CallPhase::any && fault_->phase != phase_) return std::nullopt;
  ++calls_;
  if (fault_->call > 0 && calls_ != fault_->call) return std::nullopt;
  if (calls_ % fault_->every != 0) return std::nullopt;
  return fault_;
}

namespace {

using Bytes = std::vector<std::byte>;

// Another operation than `op` that the library can do on `type`: one whose result differs.
std::optional<ReduceOp> another(ReduceOp op, DataType type, const Capabilities& library) {
  using enum ReduceOp;
  const auto defined = ops_of(type);
  for (const ReduceOp other : {max, sum, min, prod, band, bor}) {
    if (other == op || std::find(defined.begin(), defined.end(), other) == defined.end()) continue;
    const bool sums = op == avg || op == mulsum;
    if (!library.why_not(type, other) && (!sums || other == max)) return other;
  }
  return std::nullopt;
}

// MPICH 4.0.2 crashes in MPI_Reduce with MPI_IN_PLACE at another root than 0: so mulsum is composed on a rank whose
// data are multiplied.
int other_root(OperationId operation, const Call& call) {
  const int next = (call.root + 1) % call.self.ranks;
  if (operation != OperationId::reduce || call.op != ReduceOp::mulsum || mulsum_scalar(next) == 1)
    return next;
  return (next + 1) % call.self.ranks;
}

// The lowest one; of an average that may be rounded otherwise, the highest of the significand.
std::size_t flipped_bit(const Call& call) {
  if (verify::tolerance(call.type, call.op, call.self.ranks) == 0) return 0;
  constexpr int hidden = 1;
  const int significand =
      with_type(call.type, []<class T>() { return float_format<T>().significand; });
  return static_cast<std::size_t>(significand - hidden - 1);
}

// The element that faults of one element are done to: within the longest block that a rank's data come in.
std::size_t middle_element(const Call& call, std::size_t elements) {
  if (call.recv_counts.empty()) return elements / 3;
  const auto first = call.recv_counts.begin();
  const auto longest = std::max_element(first, call.recv_counts.end());
  const std::size_t begin = call.recv_offsets.empty()
                                ? std::accumulate(first, longest, std::size_t{0})
                                : call.recv_offsets[static_cast<std::size_t>(longest - first)];
  return begin + *longest / 3;
}

class InjectingCommunicator : public ForwardingCommunicator {
 public:
  InjectingCommunicator(std::unique_ptr<Communicator> library, Injector& injector, Device& device)
      : ForwardingCommunicator(*library),
        library_(std::move(library)),
        injector_(injector),
        device_(device) {}

  // Taken before the ranks begin operations: taking memory of a GPU waits for peers.
  void reserve(std::size_t bytes) override {
    ForwardingCommunicator::reserve(bytes);
    spare(std::max(bytes, operand_bytes));
  }

  void transfer(std::span<Message> messages, Deadline& deadline) override {
    const std::optional<Fault> fault = injector_.next();
    const std::vector<Message> whole(messages.begin(), messages.end());
    const auto first = [&](bool sends) {
      const auto found = std::find_if(whole.begin(), whole.end(), [&](const Message& m) {
        return m.sends() == sends && !m.bytes.empty();
      });
      return found == whole.end() ? Message{} : *found;
    };
    const Message sent = first(true), received = first(false);
    if (!fault || !injector_.concerns_this_rank()) {
      below().transfer(messages, deadline);
      return remember(received.bytes);
    }
    const Bytes before = held(received.bytes);
    below().transfer(messages, deadline);
    below().wait();
    spoil(fault->kind, sent.bytes,
          {.bytes = received.bytes,
           .type = received.type,
           .block = received.bytes.size() / 2,
           .before = before});
  }

 protected:
  void perform(OperationId operation, const Call& call) override {
    const std::optional<Fault> fault =
        operation == OperationId::barrier ? std::nullopt : injector_.next();
    if (!fault || why_harmless(fault->kind, operation, call.type, call.op, call.self.ranks)) {
      make(operation, call);
      return remember(call.recv_bytes(operation));
    }
    const bool mine = injector_.concerns_this_rank();
    if (is_of_arithmetic(fault->kind)) return make_with_wrong_element(fault->kind, operation, call);
    switch (fault->kind) {
      case FaultKind::wrong_op: return make_with_other_op(operation, call);
      case FaultKind::wrong_root: return make_with_other_root(operation, call);
      case FaultKind::missing_contribution:
      case FaultKind::doubled_contribution:
        return mine ? make_with_other_input(*fault, operation, call) : make(operation, call);
      default: break;
    }
    const std::span<std::byte> result = call.recv_bytes(operation);
    const Bytes before = mine ? held(result) : Bytes();
    make(operation, call);
    below().wait();
    const std::size_t width = size_of(call.type);
    const bool of_blocks = !reducing_operations.has(operation) && call.recv_counts.empty() &&
                           result.size() > call.count * width;
    if (mine)
      spoil(fault->kind, call.send_bytes(operation),
            {.bytes = result,
             .type = call.type,
             .bit = flipped_bit(call),
             .element = middle_element(call, result.size() / width),
             .block = of_blocks ? call.count * width : result.size() / width / 2 * width,
             .before = before});
  }
  std::unique_ptr<Work> start(OperationId operation, const Call& call) override {
    perform(operation, call);
    below().wait();
    return issued(*this);
  }

 private:
  void make(OperationId operation, const Call& call) {
    ForwardingCommunicator::perform(operation, call);
  }

  Bytes held(std::span<const std::byte> data) {
    Bytes bytes(data.size());
    if (!bytes.empty()) device_.copy(bytes.data(), data.data(), bytes.size());
    return bytes;
  }

  std::byte* spare(std::size_t bytes) {
    if (bytes > spare_.size()) spare_ = device_.allocate(bytes);
    return spare_.data();
  }

  void make_with_other_op(OperationId operation, const Call& call) {
    const auto other = another(call.op, call.type, capabilities());
    if (!other) return make(operation, call);
    Call wrong = call;
    wrong.op = *other;
    make(operation, wrong);
    if (!call.recv_bytes(operation).empty()) injector_.add_spoiled();
  }

  // The next rank has no room for what a root receives, and no data to send.
  void make_with_other_root(OperationId operation, const Call& call) {
    Call wrong = call;
    wrong.root = other_root(operation, call);
    if (wrong.root == call.root) return make(operation, call);
    if (call.self.rank == wrong.root) {
      const bool receives = received_by_root.has(operation);
      const std::size_t bytes =
          receives ? wrong.recv_bytes(operation).size() : wrong.send_bytes(operation).size();
      std::byte* const room = spare(std::max<std::size_t>(1, bytes));
      if (receives) {
        wrong.recv = room;
      } else {
        const Bytes nothing(bytes);
        if (bytes > 0) device_.copy(room, nothing.data(), bytes);
        wrong.send = room;
      }
    }
    make(operation, wrong);
    below().wait();
    if (!call.recv_bytes(operation).empty()) injector_.add_spoiled();
  }

  // All ranks show their inputs: what is wrong depends on them.
  void make_with_wrong_element(FaultKind kind, OperationId operation, const Call& call) {
    if (below().capabilities().why_not({OperationId::all_gather})) return make(operation, call);
    const Operands operands =
        gather_operands(below(), device_, operation, call, spare(operand_bytes));
    make(operation, call);
    below().wait();
    const std::span<std::byte> result = call.recv_bytes(operation);
    if (result.empty() || !injector_.concerns_this_rank()) return;
    Bytes bytes = held(result);
    if (!spoil_arithmetic(kind, call, operands, bytes)) return;
    device_.copy(result.data(), bytes.data(), bytes.size());
    injector_.add_spoiled();
  }

  void make_with_other_input(const Fault& fault, OperationId operation, const Call& call) {
    const std::span<const std::byte> sent = call.send_bytes(operation);
    if (sent.empty()) return make(operation, call);
    const Bytes right = held(sent);
    Bytes input = right;
    if (fault.kind == FaultKind::doubled_contribution) {
      combine_function(call.type, call.op)(input.data(), right.data(), right.data(),
                                           right.size() / size_of(call.type));
    } else {
      write_nothing(input, call.type,
                    reducing_operations.has(operation) ? std::optional(call.op) : std::nullopt);
    }
    Call wrong = call;
    wrong.send = spare(input.size());
    device_.copy(spare_.data(), input.data(), input.size());
    make(operation, wrong);
    below().wait();
    if (input != right) injector_.add_spoiled();
  }

  // The operation is complete: it has sent `sent` and received result.bytes.
  void spoil(FaultKind kind, std::span<const std::byte> sent, const SpoiledResult& result) {
    bool differs = false;
    switch (kind) {
      case FaultKind::written_behind:
      case FaultKind::written_before: differs = write_beside(kind, sent, result); break;
      case FaultKind::changed_input: differs = change_input(sent, result.bytes); break;
      default: differs = spoil_received(kind, result); break;
    }
    if (differs) injector_.add_spoiled();
  }

  bool spoil_received(FaultKind kind, SpoiledResult result) {
    const std::span<std::byte> received = result.bytes;
    if (received.empty()) return false;
    Bytes bytes = held(received);
    Bytes stale;
    if (kind == FaultKind::stale_result) stale = std::exchange(last_result(bytes.size()), bytes);
    result.bytes = bytes;
    result.stale = stale;
    const bool differs = spoil_result(kind, result);
    if (differs) device_.copy(received.data(), bytes.data(), bytes.size());
    return differs;
  }

  // The one of this row that has so many bytes.
  Bytes& last_result(std::size_t bytes) {
    if (std::exchange(last_row_, injector_.rows()) != injector_.rows()) last_.clear();
    return last_[bytes];
  }

  // For a stale result of a later call.
  void remember(std::span<const std::byte> result) {
    if (!injector_.fault() || injector_.fault()->kind != FaultKind::stale_result) return;
    below().wait();
    if (!result.empty()) last_result(result.size()) = held(result);
  }

  // In place both buffers are parts of one.
  bool write_beside(FaultKind kind, std::span<const std::byte> sent, const SpoiledResult& result) {
    if (result.bytes.empty() || injector_.own_buffers()) return false;
    std::byte* begin = result.bytes.data();
    std::byte* end = begin + result.bytes.size();
    if (overlap(sent, result.bytes)) {
      auto* const first = const_cast<std::byte*>(sent.data());
      begin = std::min(begin, first);
      end = std::max(end, first + sent.size());
    }
    flip(kind == FaultKind::written_behind ? end : begin - size_of(result.type));
    return true;
  }

  bool change_input(std::span<const std::byte> sent, std::span<const std::byte> received) {
    if (sent.empty() || overlap(sent, received)) return false;
    flip(const_cast<std::byte*>(sent.data()) + sent.size() / 3);
    return true;
  }

  void flip(std::byte* at) {
    std::byte value{};
    device_.copy(&value, at, 1);
    value ^= std::byte{1};
    device_.copy(at, &value, 1);
  }

  static bool overlap(std::span<const std::byte> a, std::span<const std::byte> b) {
    return !a.empty() && a.data() < b.data() + b.size() && b.data() < a.data() + a.size();
  }

  std::unique_ptr<Communicator> library_;
  Injector& injector_;
  Device& device_;
  Buffer spare_;
  std::map<std::size_t, Bytes> last_;  // results of the calls before, by their length
  std::uint64_t last_row_ = 0;         // that they are of
};

}  // namespace

std::unique_ptr<Communicator> with_faults(std::unique_ptr<Communicator> library, Injector& injector,
                                          Device& device) {
  return std::make_unique<InjectingCommunicator>(std::move(library), injector, device);
}

}  // namespace ccl_tests
