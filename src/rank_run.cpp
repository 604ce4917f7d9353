#include "src/rank_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "src/measure/barrier.hpp"
#include "src/recorder.hpp"
#include "verify/coverage.hpp"

namespace ccl {
namespace {

// Limit of the harness's own exchanges; ranks meet there after calls whose length nobody knows. 0
// (-T 0): practically none.
double exchange_limit(const Options& o, std::size_t bytes) {
  if (o.timeout_s <= 0) return 1e6;
  const double calls = std::max(2.0, static_cast<double>(o.iterations) * o.aggregate);
  return calls * (o.timeout_s + static_cast<double>(bytes) / 1e6) + o.row_time_s;
}

template <class T>
std::string pack(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}
template <class T>
T unpack(const std::string& bytes) {
  if (bytes.size() < sizeof(T)) throw Error("a rank sent a malformed report");
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// One rank's half row, as exchanged; the explanation of its first mismatch follows.
struct HalfReport {
  double wall, issue;
  std::uint64_t wrong;
};

}  // namespace

struct RankRun::Case {
  DataType type;
  std::optional<ReduceOp> op;
  Shape shape;
  std::size_t requested;
  Layout layout;
  std::vector<Segment> segments;
  Counts counts;
  RowBytes bytes;
  Slots slots;
  bool verifiable;

  std::size_t operations(int iterations, int aggregate) const {
    return static_cast<std::size_t>(iterations) * static_cast<std::size_t>(aggregate);
  }
};

// phase: which of the pattern's slots the data are in (Pattern::phase's `slot`).
struct RankRun::Buffers {
  std::byte* send = nullptr;
  std::byte* recv = nullptr;
  std::byte* region = nullptr;  // in place: the one buffer that holds both; otherwise null
  std::size_t region_bytes = 0;
  std::size_t phase = 0;
};

struct RankRun::Checked {
  verify::Mismatch found;
  std::uint64_t calls = 0, verified = 0;
  std::size_t next_phase = 0;
};

RankRun::RankRun(const RunContext& context, Bootstrap& bootstrap, Communicator& communicator,
                 std::string host, Pulse& pulse)
    : context_(context),
      bootstrap_(bootstrap),
      communicator_(communicator),
      host_(std::move(host)),
      pulse_(pulse) {
  const Options& o = context.options;
  std::size_t largest = 0;
  for (const DataType type : o.types) {
    const std::size_t width = size_of(type);
    for (const std::size_t size : context.sizes) {
      const Shape shape{size / width, width, {bootstrap.rank(), bootstrap.ranks(), 0, 0}, o.spec};
      largest = std::max(
          largest, buffer_bytes(row_bytes(context.collective, shape).region, o.unalign * width));
    }
  }
  send_ = HostBuffer(largest);
  recv_ = HostBuffer(largest);
}

void RankRun::sweep(const OnRow& on_row, const OnWrong& on_wrong) {
  const Options& o = context_.options;
  const Collective& collective = context_.collective;
  std::vector<std::optional<ReduceOp>> ops = {std::nullopt};
  if (collective.reduces) ops.assign(o.ops.begin(), o.ops.end());
  std::vector<int> roots = {0};
  if (collective.rooted) roots = o.roots;
  if (collective.rooted && o.all_roots) {
    roots.clear();
    for (int root = 0; root < bootstrap_.ranks(); ++root) roots.push_back(root);
  }
  for (int cycle = 0; o.cycles == 0 || cycle < o.cycles; ++cycle) {
    for (const DataType type : o.types) {
      for (const auto& op : ops) {
        const auto pattern = context_.patterns.find(type, op, bootstrap_.ranks(), o.seed,
                                                    communicator_.integers_wrap());
        verifier_ = std::make_unique<verify::HostVerifier>(pattern, bootstrap_.rank());
        for (const int root : roots) {
          for (const std::size_t size : context_.sizes)
            measure_row(type, op, root, size, cycle, on_row, on_wrong);
        }
      }
    }
  }
}

void RankRun::measure_row(DataType type, std::optional<ReduceOp> op, int root, std::size_t size,
                          int cycle, const OnRow& on_row, const OnWrong& on_wrong) {
  const Options& o = context_.options;
  const Collective& collective = context_.collective;
  const std::size_t width = size_of(type);
  Case c{.type = type,
         .op = op,
         .shape = {size / width, width, {bootstrap_.rank(), bootstrap_.ranks(), root, 0}, o.spec},
         .requested = size,
         .layout = {},
         .segments = {},
         .counts = {},
         .bytes = {},
         .slots = {},
         .verifiable = o.check > 0 && !verifier_->pattern().inputs().not_verifiable() &&
                       (!collective.synchronizes || context_.one_machine)};
  c.layout = collective.layout(c.shape);
  c.segments = collective.expected(c.shape);
  if (collective.counts != nullptr) c.counts = collective.counts(c.shape);
  c.bytes = row_bytes(collective, c.shape);
  c.slots = plan_slots(c.bytes.region, o.unalign * width, send_.size(),
                       std::max<std::size_t>(1, c.operations(o.iterations, o.aggregate)));

  Row row;
  row.bytes = c.bytes.size;
  row.count = c.layout.column_count;
  row.type = name(type);
  row.op = op ? name(*op) : "none";
  row.root = collective.rooted ? root : -1;
  row.bus_factor = collective.bus_factor(c.shape);
  row.emulated = op && communicator_.emulated(*op, type);
  const verify::Pattern& pattern = verifier_->pattern();
  row.coverage = c.verifiable && c.bytes.size > 0
                     ? verify::coverage(pattern.inputs(), pattern.phase(0, 0), size / width)
                     : 1;
  row.cycle = cycle;
  row.out_of_place = measure_cell(c, false, on_wrong);
  row.in_place = measure_cell(c, true, on_wrong);
  row.timestamp = local_time();
  on_row(row, size);
}

std::string RankRun::say(const Case& c, bool in_place, const char* what) const {
  return fmt::format("{} {}{}{}, {} B, {}, {}", context_.collective.name, name(c.type),
                     c.op ? " " : "", c.op ? name(*c.op) : "", c.requested,
                     in_place ? "in place" : "out of place", what);
}

RankRun::Buffers RankRun::out_of_place(const Case& c, std::size_t slot, std::size_t phase) {
  return {send_.data() + c.slots.offset(slot), recv_.data() + c.slots.offset(slot), nullptr, 0,
          phase};
}

RankRun::Buffers RankRun::in_place(const Case& c, HostBuffer& buffer, std::size_t slot,
                                   std::size_t phase) {
  std::byte* const region = buffer.data() + c.slots.offset(slot);
  const InPlace at = *c.layout.in_place;
  const std::size_t width = c.shape.type_bytes;
  const std::size_t end = std::max(at.send + c.layout.send, at.recv + c.layout.recv);
  return {region + at.send * width, region + at.recv * width, region, end * width, phase};
}

void RankRun::prepare(const Case& c, const Buffers& b) {
  const std::size_t width = c.shape.type_bytes;
  if (c.verifiable) {
    if (b.region != nullptr) {
      verify::HostVerifier::mark_guards(b.region, b.region_bytes);
    } else {
      verify::HostVerifier::mark_guards(b.send, c.layout.send * width);
      verify::HostVerifier::mark_guards(b.recv, c.layout.recv * width);
    }
    verifier_->poison(b.recv, c.layout.recv, c.segments, b.phase);
  }
  verifier_->fill_input(b.send, c.layout.send,
                        b.phase);  // in place it may lie within the receive buffer: last
}

Call RankRun::call_on(const Case& c, const Buffers& b) {
  return {.send = b.send,
          .recv = b.recv,
          .count = c.layout.call_count,
          .type = c.type,
          .op = c.op.value_or(ReduceOp::sum),
          .place = c.shape.place,
          .send_counts = c.counts.send_counts,
          .send_offsets = c.counts.send_offsets,
          .recv_counts = c.counts.recv_counts,
          .recv_offsets = c.counts.recv_offsets,
          .peer = -1};
}

void RankRun::issue(const Call& call) {
  context_.collective.run(communicator_, call);
  pulse_.beat();
}

// Waits for so many operations that this rank has issued.
void RankRun::complete(const Case& c, std::size_t operations) {
  pulse_.expect(operation_limit(c) * static_cast<double>(operations));
  communicator_.wait();
  pulse_.expect(operation_limit(c));
}

// Longest that one operation may take until the watchdog ends the job: a little more than the limit
// that the library was given, so that its own error comes first. 0: no limit.
double RankRun::operation_limit(const Case& c) const {
  if (context_.options.timeout_s <= 0) return 0;
  constexpr double later_s = 5;
  const auto moved = static_cast<double>(c.bytes.region) * c.shape.place.ranks;
  return context_.options.timeout_s + moved / 1e6 + later_s;
}

void RankRun::check(const Case& c, const Buffers& b, Checked& checked) const {
  const std::size_t width = c.shape.type_bytes;
  checked.found.add(verifier_->compare(b.recv, c.segments, b.phase));
  if (b.region != nullptr) {
    checked.found.add(verify::HostVerifier::check_guards(b.region, b.region_bytes));
  } else {
    checked.found.add(verifier_->compare_input(b.send, c.layout.send, b.phase));
    checked.found.add(verify::HostVerifier::check_guards(b.send, c.layout.send * width));
    checked.found.add(verify::HostVerifier::check_guards(b.recv, c.layout.recv * width));
  }
  ++checked.verified;
}

double RankRun::time_once(const Case& c, const Buffers& b) {
  const Call call = call_on(c, b);
  const Watched watched(pulse_, operation_limit(c));
  const double start = communicator_.now();
  issue(call);
  complete(c, 1);
  return communicator_.now() - start;
}

// Warm-up calls, then the checked ones, all in slot 0. Returns how long this rank's last call took.
double RankRun::run_untimed(const Case& c, bool is_in_place, Checked& checked) {
  const Options& o = context_.options;
  const int checks = c.verifiable ? o.check : 0;
  const int calls = std::max(
      1, o.warmup + checks);  // at least one, so that the first timed call is not the first
  double last = 0;
  for (int k = 0; k < calls; ++k) {
    const bool checking = k >= calls - checks;
    const std::size_t phase = checked.next_phase++;
    const Buffers b = is_in_place ? in_place(c, recv_, 0, phase) : out_of_place(c, 0, phase);
    prepare(c, b);
    last = time_once(c, b);
    ++checked.calls;
    if (checking) check(c, b, checked);
  }
  return last;
}

// Timed calls rotate over the slots. In place, a reduction changes its own input, so a slot that is
// used twice holds nothing predictable: there the last call runs in the otherwise idle send buffer,
// filled before the clock starts.
BatchTime RankRun::run_timed(const Case& c, bool is_in_place, int iterations, Checked& checked) {
  const Options& o = context_.options;
  const std::size_t operations = c.operations(iterations, o.aggregate);
  if (operations == 0) return {};
  const bool changes_input = is_in_place && context_.collective.reduces;
  const bool reused = operations > c.slots.count;
  std::vector<Buffers> slots;
  for (std::size_t s = 0; s < std::min(operations, c.slots.count); ++s) {
    const std::size_t phase = checked.next_phase++;
    slots.push_back(is_in_place ? in_place(c, recv_, s, phase) : out_of_place(c, s, phase));
  }
  std::optional<Buffers> fresh;
  if (changes_input && reused) fresh = in_place(c, send_, 0, checked.next_phase++);
  std::vector<Call> calls;  // made before the clock starts
  for (const Buffers& b : slots) {
    prepare(c, b);
    calls.push_back(call_on(c, b));
  }
  const std::size_t rotating = calls.size();
  if (fresh) {
    prepare(c, *fresh);
    calls.push_back(call_on(c, *fresh));
  }

  const BatchActions actions{
      .issue =
          [&](std::size_t k) {
            issue(fresh && k + 1 == operations ? calls.back() : calls[k % rotating]);
          },
      .wait = [&] { complete(c, operations); },
      .barrier = [&] { dissemination_barrier(communicator_, c.shape.place); },
      .now = [&] { return communicator_.now(); }};
  const BatchTime time = [&] {
    const Watched watched(pulse_, operation_limit(c));
    return time_batch({iterations, o.aggregate, static_cast<Blocking>(o.blocking)}, actions);
  }();
  checked.calls += operations;
  if (!c.verifiable) return time;
  const std::size_t in_slots = operations - (fresh ? 1 : 0);
  for (std::size_t s = 0; s < slots.size() && s < in_slots; ++s) {
    const bool used_once = s + slots.size() >= in_slots;
    if (!changes_input || used_once) check(c, slots[s], checked);
  }
  if (fresh) check(c, *fresh, checked);
  return time;
}

// A barrier moves nothing: what is checked is that nobody leaves before the last has entered, on
// one machine's clock, with one rank after the other made late.
void RankRun::check_barrier(const Case& c, Checked& checked) {
  constexpr int most_rounds = 16;
  constexpr double delay_s = 2e-3;
  struct Stamp {
    double enter, leave;
  };
  const int ranks = c.shape.place.ranks;
  const int rounds = std::min(ranks, most_rounds);
  for (int round = 0; round < rounds; ++round) {
    const int late = round * ranks / rounds;
    if (c.shape.place.rank == late) communicator_.sleep(delay_s);
    const double enter = communicator_.now();
    time_once(c, {});
    const Stamp mine{enter, communicator_.now()};
    ++checked.calls;
    const auto all = bootstrap_.exchange(pack(mine), exchange_limit(context_.options, 0));
    int last = 0;
    for (int r = 1; r < ranks; ++r) {
      const auto at = [&](int rank) {
        return unpack<Stamp>(all[static_cast<std::size_t>(rank)]).enter;
      };
      if (at(r) > at(last)) last = r;
    }
    const double last_enter = unpack<Stamp>(all[static_cast<std::size_t>(last)]).enter;
    ++checked.verified;
    if (mine.leave >= last_enter) continue;
    checked.found.add({1, 0, 0,
                       fmt::format("left the barrier {:.1f} us before rank {} entered it",
                                   (last_enter - mine.leave) * 1e6, last)});
  }
}

Cell RankRun::measure_cell(const Case& c, bool is_in_place, const OnWrong& on_wrong) {
  const Options& o = context_.options;
  const Collective& collective = context_.collective;
  // Without an in-place form the out-of-place measurement is repeated there, unchecked.
  const bool repeats = is_in_place && !c.layout.in_place;
  Case half = c;
  if (repeats || collective.synchronizes) half.verifiable = false;
  const bool in_place_calls = is_in_place && !repeats;

  Checked checked;
  checked.next_phase =
      is_in_place ? c.slots.count + static_cast<std::size_t>(o.warmup + o.check) + 1 : 0;
  context_.progress.row(say(c, is_in_place, "untimed calls"));
  if (collective.synchronizes && c.verifiable && !repeats) check_barrier(c, checked);
  const double once = run_untimed(half, in_place_calls, checked);
  double slowest = 0;
  for (const std::string& s : bootstrap_.exchange(pack(once), exchange_limit(o, c.bytes.size))) {
    slowest = std::max(slowest, unpack<double>(s));
  }
  const int iterations = capped_iterations(o.iterations, slowest * o.aggregate, o.row_time_s / 2);
  context_.progress.row(say(c, is_in_place, "timed calls"));
  const BatchTime time = run_timed(half, in_place_calls, iterations, checked);
  if (collective.synchronizes) half.verifiable = c.verifiable && !repeats;
  Cell cell = conclude(half, is_in_place, iterations, time, checked, on_wrong);
  cell.repeats_out_of_place = repeats;
  return cell;
}

Cell RankRun::conclude(const Case& c, bool is_in_place, int iterations, const BatchTime& time,
                       const Checked& checked, const OnWrong& on_wrong) {
  const Options& o = context_.options;
  std::string report = pack(HalfReport{time.wall, time.issue, checked.found.wrong});
  if (checked.found.wrong > 0) {
    report +=
        fmt::format("wrong: {}: rank {} on {}: {} wrong, elements {} to {}: {}",
                    say(c, is_in_place, "check"), c.shape.place.rank, host_, checked.found.wrong,
                    checked.found.first, checked.found.last, checked.found.explanation);
  }
  Cell cell;
  cell.iterations = iterations;
  cell.calls = checked.calls;
  cell.verified_calls = checked.verified;
  std::vector<double> wall, issued;
  std::uint64_t wrong = 0;
  for (const std::string& bytes : bootstrap_.exchange(report, exchange_limit(o, c.bytes.size))) {
    const auto half = unpack<HalfReport>(bytes);
    wall.push_back(half.wall);
    issued.push_back(half.issue);
    wrong += half.wrong;
    if (half.wrong == 0) continue;
    ++cell.failed_ranks;
    on_wrong(bytes.substr(sizeof half));
  }
  if (c.verifiable) cell.wrong = wrong;
  const double seconds = average(static_cast<Average>(o.average), wall.data(), wall.size());
  cell.seconds =
      o.cpu_time ? average(static_cast<Average>(o.average), issued.data(), issued.size()) : seconds;
  cell.min_seconds = *std::min_element(wall.begin(), wall.end());
  cell.max_seconds = *std::max_element(wall.begin(), wall.end());
  if (seconds > 0) {
    cell.algbw = static_cast<double>(c.layout.wire_bytes) / seconds / 1e9;
    cell.busbw = cell.algbw * context_.collective.bus_factor(c.shape);
  }
  return cell;
}

}  // namespace ccl
