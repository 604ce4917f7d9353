#include "src/run/operation_workload.hpp"

#include "src/core/clock.hpp"
#include "src/core/communicator.hpp"
#include "src/core/error.hpp"

namespace ccl_tests {
namespace {

// A timeline that waits for the communicator at every mark, and takes the time of its clock.
class WaitingTimeline : public Timeline {
 public:
  WaitingTimeline(Communicator& communicator, std::size_t marks) : communicator_(communicator) {
    times_.reserve(marks);
  }
  void mark() override {
    communicator_.wait();
    times_.push_back(communicator_.clock().now());
  }
  std::vector<double> intervals() const override {
    std::vector<double> seconds;
    for (std::size_t k = 1; k < times_.size(); ++k) seconds.push_back(times_[k] - times_[k - 1]);
    return seconds;
  }

 private:
  Communicator& communicator_;
  std::vector<double> times_;
};

}  // namespace

std::unique_ptr<Timeline> make_timeline(Communicator& communicator, std::size_t marks) {
  if (GpuExtension* const gpu = communicator.gpu()) return gpu->timeline(marks);
  return std::make_unique<WaitingTimeline>(communicator, marks);
}

Arena::Arena(Communicator& communicator, Device& device, std::size_t bytes, std::size_t flush) {
  GpuExtension* const gpu = communicator.gpu();
  std::size_t k = 0;
  for (Buffer* const buffer : {&send_, &recv_}) {
    if (gpu != nullptr) *buffer = gpu->allocate(bytes);
    if (buffer->data() == nullptr) *buffer = device.allocate(bytes);
    if (gpu != nullptr) registrations_[k++] = gpu->register_buffer(buffer->data(), bytes);
  }
  if (flush > 0) flush_ = device.allocate(flush);
}

void Arena::raise_clocks(verify::Loops& loops, double seconds) const {
  const double end_s = monotonic_seconds() + seconds;
  while (monotonic_seconds() < end_s) loops.set(send_.data(), std::byte{0}, send_.size());
}

OperationWorkload::OperationWorkload(const Problem& problem, Form form, const CallPlan& plan,
                                     const Arena& arena, Communicator& communicator,
                                     Operation& operation, const verify::Verifier& verifier,
                                     Activity& activity)
    : problem_(problem),
      form_(form),
      plan_(plan),
      arena_(arena),
      communicator_(communicator),
      operation_(operation),
      verifier_(verifier),
      activity_(activity),
      next_phase_(plan.first_phase) {}

OperationWorkload::Buffers OperationWorkload::in_place(std::byte* buffer, std::size_t slot) {
  std::byte* const region = buffer + plan_.slots.offset(slot);
  const InPlace at = *problem_.layout.in_place;
  const std::size_t width = problem_.width();
  const Layout& layout = problem_.layout;
  // Without data to send, or to receive, only the other part is a buffer of the call's.
  const std::size_t begin = layout.send == 0   ? at.recv
                            : layout.recv == 0 ? at.send
                                               : std::min(at.send, at.recv);
  const std::size_t end = std::max(layout.send > 0 ? at.send + layout.send : begin,
                                   layout.recv > 0 ? at.recv + layout.recv : begin);
  return {region + at.send * width, region + at.recv * width, region + begin * width,
          (end - begin) * width, next_phase_++};
}

OperationWorkload::Buffers OperationWorkload::buffers(std::size_t slot) {
  if (form_ == Form::in_place) return in_place(arena_.recv(), slot);
  const std::size_t offset = plan_.slots.offset(slot);
  return {arena_.send() + offset, arena_.recv() + offset, nullptr, 0, next_phase_++};
}

void OperationWorkload::fill(const Buffers& b) const {
  const std::size_t width = problem_.width();
  const Layout& layout = problem_.layout;
  if (plan_.verifies) {
    if (b.region != nullptr) {
      verifier_.mark_guards(b.region, b.region_bytes);
    } else {
      verifier_.mark_guards(b.send, layout.send * width);
      verifier_.mark_guards(b.recv, layout.recv * width);
    }
    verifier_.poison(b.recv, layout.recv, problem_.blocks, b.phase);
  }
  // Last: in place the input may lie within the receive buffer.
  verifier_.fill_input(b.send, layout.send, b.phase);
}

void OperationWorkload::check(const Buffers& b) {
  if (!plan_.verifies) return;
  const std::size_t width = problem_.width();
  const Layout& layout = problem_.layout;
  verify::Mismatch received = verifier_.compare(b.recv, problem_.blocks, b.phase);
  if (received.wrong > 0 && problem_.collective->place != nullptr)
    received.explanation =
        problem_.collective->place(problem_.shape, received.first) + ": " + received.explanation;
  report_.add(received);
  if (b.region != nullptr) {
    // A rank that receives nothing finds its data as they were; a reduction may work in them.
    if (layout.recv == 0 && !problem_.collective->domain.reduces)
      report_.add(verifier_.compare_input(b.send, layout.send, b.phase));
    report_.add(verifier_.check_guards(b.region, b.region_bytes));
  } else {
    report_.add(verifier_.compare_input(b.send, layout.send, b.phase));
    report_.add(verifier_.check_guards(b.send, layout.send * width));
    report_.add(verifier_.check_guards(b.recv, layout.recv * width));
  }
  ++report_.verified;
}

Samples OperationWorkload::make(const SingleCalls& plan) {
  const Clock& clock = plan_.clock;
  Samples samples;
  for (std::size_t k = 0; k < plan.calls; ++k) {
    const Buffers b = buffers(0);
    fill(b);
    const Call call = problem_.call(b.send, b.recv);
    const Expected expected(activity_, plan_.limit_s);
    Sample sample;
    sample.start = clock.now();
    issue_one(call);
    sample.issued = clock.now();
    issued_ = 1;
    wait();
    sample.end = clock.now();
    samples.push_back(sample);
    ++report_.calls;
    if (k + plan.checked >= plan.calls) check(b);
  }
  return samples;
}

void OperationWorkload::enter_barriers(Clock& clock) {
  constexpr int most_rounds = 16;
  constexpr double delay_s = 2e-3;
  const GroupRank& self = problem_.shape.self;
  const int rounds = std::min(self.ranks, most_rounds);
  for (int round = 0; round < rounds; ++round) {
    if (self.rank == round * self.ranks / rounds) clock.sleep_for(delay_s);
    const Sample sample = make({1, 0}).front();
    report_.barrier.insert(report_.barrier.end(), {sample.start, sample.end});
    ++report_.verified;
  }
}

void OperationWorkload::prepare(const BlockPlan& plan) {
  total_ = plan.untimed + plan.timed();
  timed_ = plan.timed();
  issued_ = at_ = 0;
  slots_.clear();
  calls_.clear();
  fresh_.reset();
  if (!block_phase_ || plan_.new_patterns) block_phase_ = next_phase_;
  next_phase_ = *block_phase_;
  for (std::size_t s = 0; s < std::min(total_, plan_.slots.count); ++s) {
    slots_.push_back(buffers(s));
    calls_.push_back(problem_.call(slots_.back().send, slots_.back().recv));
  }
  if (changes_input() && total_ > slots_.size()) {
    fresh_ = in_place(arena_.send(), 0);
    fresh_call_ = problem_.call(fresh_->send, fresh_->recv);
  }
  GpuExtension* const gpu = communicator_.gpu();
  const bool marked = gpu != nullptr && plan.blocking == Blocking::stream;
  marks_ = marked ? gpu->timeline(plan.samples + 1) : nullptr;
  refill();
  flush_caches();
  if (plan_.counters != nullptr) plan_.counters->prepare();
  activity_.expect(plan_.limit_s);
}

// Slots of repeated reductions in place start at the fixed point, 0: patterns would overflow.
void OperationWorkload::refill() {
  for (const Buffers& b : slots_)
    if (fresh_)
      verifier_.clear(b.region, b.region_bytes);
    else
      fill(b);
  if (fresh_) fill(*fresh_);
}

// In pieces: large writes may go past the caches.
void OperationWorkload::flush_caches() const {
  constexpr std::size_t piece = 256 << 10;
  const Buffer& flush = arena_.flush();
  for (std::size_t at = 0; at < flush.size(); at += piece)
    verifier_.clear(flush.data() + at, std::min(piece, flush.size() - at));
}

void OperationWorkload::begin() {
  if (plan_.injector != nullptr) plan_.injector->begin_phase(CallPhase::timed);
  before_ = operation_.times();
  start_counting();
  if (plan_.timeline != nullptr) plan_.timeline->mark();
}

void OperationWorkload::issue(std::size_t first, std::size_t calls) {
  issued_ += calls;
  if (plan_.timeline != nullptr || plan_.together) return issue_iterations(first, calls);
  const bool with_fresh = fresh_ && first + calls == total_;
  const Call* const begin = calls_.data();
  const Call* const end = begin + calls_.size();
  const Call* next = begin + at_;
  for (std::size_t left = with_fresh ? calls - 1 : calls; left > 0; --left) {
    issue_one(*next);
    if (++next == end) next = begin;
  }
  at_ = static_cast<std::size_t>(next - begin);
  if (with_fresh) issue_one(fresh_call_);
}

// With marks behind each iteration, or with iterations that the library may issue as one.
void OperationWorkload::issue_iterations(std::size_t first, std::size_t calls) {
  const std::size_t untimed = total_ - timed_;
  GpuExtension* const gpu = plan_.together ? communicator_.gpu() : nullptr;
  for (std::size_t k = first; k < first + calls; ++k) {
    const std::size_t in_iteration = (k < untimed ? k : k - untimed) % plan_.aggregate;
    if (gpu != nullptr && in_iteration == 0) gpu->begin_aggregate();
    issue_one(fresh_ && k + 1 == total_ ? fresh_call_ : calls_[at_]);
    at_ = (at_ + 1) % calls_.size();
    const bool last = in_iteration + 1 == plan_.aggregate || k + 1 == first + calls;
    if (gpu != nullptr && last) gpu->end_aggregate();
    if (plan_.timeline != nullptr && last && k >= untimed) plan_.timeline->mark();
  }
}

void OperationWorkload::wait() {
  activity_.expect(plan_.limit_s * static_cast<double>(std::max<std::size_t>(1, issued_)));
  inside_library(activity_, [&] { communicator_.wait(); });
  issued_ = 0;
  activity_.expect(plan_.limit_s);
}

void OperationWorkload::verify() {
  stop_counting();
  if (plan_.injector != nullptr) plan_.injector->begin_phase(CallPhase::untimed);
  activity_.expect(0);
  after_ = operation_.times();
  report_.calls += total_;
  check_results();
}

void OperationWorkload::check_results() {
  if (fresh_) return check(*fresh_);
  for (const Buffers& b : slots_) check(b);
}

RankReport OperationWorkload::report() const {
  RankReport report = report_;
  const auto n = static_cast<double>(std::max<std::size_t>(1, timed_));
  report.steps = {(after_.sizes_s - before_.sizes_s) / n,
                  (after_.payload_s - before_.payload_s) / n,
                  (after_.packing_s - before_.packing_s) / n};
  return report;
}

void GraphWorkload::prepare(const BlockPlan& plan) {
  BlockPlan launch = plan;
  launch.untimed = 0;
  calls_of_launch_ = plan.timed();
  calls_.prepare(launch);
  if (communicator_.gpu() == nullptr) throw Unsupported("this backend has no graphs");
  graph_ = communicator_.gpu()->capture([&] {
    calls_.begin();
    calls_.issue(0, calls_of_launch_);
  });
  meet_();
  graph_->launch();
  calls_.set_issued(calls_of_launch_);
  calls_.wait();
  calls_.count(calls_of_launch_);
  calls_.check_results();
  if (!calls_.changes_input()) calls_.refill();
}

void GraphWorkload::issue(std::size_t /*first*/, std::size_t /*calls*/) {
  for (std::size_t k = 0; k < launches_; ++k) graph_->launch();
  calls_.set_issued(calls_of_launch_ * launches_);
}

void GraphWorkload::verify() {
  calls_.stop_counting();
  calls_.count(calls_of_launch_ * launches_);
  if (!calls_.changes_input()) calls_.check_results();
  graph_.reset();
}

}  // namespace ccl_tests
