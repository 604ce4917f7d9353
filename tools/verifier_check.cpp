#include "tools/verifier_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <utility>

#include "tools/verifier_faults.hpp"

namespace ccl_tests::tools {
namespace {

constexpr int checked_ranks = 3;
constexpr int many_ranks = 3000;                      // a longer period
constexpr std::size_t first_with_vectors = 64 << 10;  // bytes, of a GPU's loops
constexpr std::size_t shifts[] = {0, 1, 3};           // elements
constexpr std::size_t most_shift = 3 * sizeof(double);

constexpr std::byte background{0x33};
constexpr std::size_t most_details = 8;

std::string text(const verify::Mismatch& m) {
  return fmt::format("{} wrong, {} to {}, '{}'", m.wrong, m.first, m.last, m.explanation);
}

// One pattern's rows, held to the host's verifier: filled, right, and wrong in every way.
class PatternCheck {
 public:
  // Results go to `report`. row, random and report outlive it; loops: of the row's device.
  PatternCheck(std::shared_ptr<const verify::Pattern> pattern, verify::Loops& loops,
               MirroredRow& row, std::mt19937_64& random, CheckReport& report)
      : pattern_(std::move(pattern)),
        host_(pattern_, 0),
        device_(pattern_, 0, loops),
        row_(row),
        random_(random),
        report_(report) {
    if (pattern_->inputs().ranks() == checked_ranks) without_ = without_rank_2(*pattern_);
    ++report_.patterns;
  }

  // A row of `count` elements, shifted by `shift`; of its faults every `every`-th.
  void contiguous(std::size_t count, std::size_t shift, std::size_t slot, std::size_t every) {
    const std::size_t width = pattern_->width();
    where_ = fmt::format("{} elements, shift {}, slot {}", count, shift, slot);
    row_.shape(count * width, shift * width, background);
    row_.upload();
    input(count, slot);
    const ExpectedBlock segment = {
        .recv_offset = 0, .count = count, .source_rank = pattern_->reduces() ? -1 : 1};
    poison(count, {&segment, 1}, slot);
    put(segment, slot);
    row_.upload();
    hold("right data", Expect::right, {&segment, 1}, slot);
    guards(count * width);
    std::vector<Fault> faults =
        faults_of({*pattern_, row_.host(), count, slot, shift * width}, without_, random_);
    for (std::size_t k = random_() % every; k < faults.size(); k += every)
      inject(faults[k], {&segment, 1}, slot);
  }

  // Segments of one receive buffer. gap: an element that none of them names.
  void segments(const std::vector<ExpectedBlock>& segments, std::optional<std::size_t> gap,
                std::size_t slot) {
    const std::size_t width = pattern_->width();
    std::size_t count = 0;
    for (const ExpectedBlock& s : segments)
      count = std::max(count, s.recv_offset + (s.repeat - 1) * s.recv_stride + s.count);
    where_ = fmt::format("{} segments in {} elements, slot {}", segments.size(), count, slot);
    row_.shape(count * width, width, background);
    row_.upload();
    poison(count, segments, slot);
    for (const ExpectedBlock& s : segments) put(s, slot);
    row_.upload();
    hold("right data", Expect::right, segments, slot);
    const RightRow row{*pattern_, row_.host(), count, slot, width};
    for (const std::size_t k : {std::size_t{0}, segments.size() / 2, segments.size() - 1}) {
      const ExpectedBlock& s = segments[k];
      if (s.count == 0) continue;
      const std::size_t last = s.recv_offset + (s.repeat - 1) * s.recv_stride;
      for (const std::size_t at :
           {s.recv_offset, s.recv_offset + s.count - 1, last, last + s.count - 1})
        for (const std::size_t bit : {8 * width - 2, random_() % (8 * width)})
          inject(flipped(row, at, bit), segments, slot);
    }
    const std::size_t first = segments.front().recv_offset, last = segments.back().recv_offset;
    const std::size_t bit = 8 * width - 2;
    if (segments.back().count > 0 && first != last)
      inject({"two elements of two segments", {flip(row, first, bit), flip(row, last, bit)}, true},
             segments, slot);
    if (gap)
      changed({flip(row, *gap, 0)},
              [&] { hold("a gap's element changed", Expect::right, segments, slot); });
  }

 private:
  enum class Expect { right, wrong, either };  // either: the host's verifier is the only judge

  // Elements of `s` as they should be, on the host.
  void put(const ExpectedBlock& s, std::size_t slot) {
    const std::size_t width = pattern_->width();
    const std::size_t phase = pattern_->phase(std::max(0, s.source_rank), slot);
    for (std::size_t b = 0; b < s.repeat; ++b)
      pattern_->expected().copy_to(row_.host() + (s.recv_offset + b * s.recv_stride) * width,
                                   s.count, s.source_offset + b * s.source_stride + phase);
  }

  void input(std::size_t count, std::size_t slot) {
    host_.fill_input(row_.host(), count, slot);
    device_.fill_input(row_.device(), count, slot);
    filled("fill");
    const auto look = [&](const char* what, Expect expect) {
      judge(what, expect, host_.compare_input(row_.host(), count, slot),
            device_.compare_input(row_.device(), count, slot));
    };
    look("an unchanged send buffer", Expect::right);
    if (count > 0)
      changed({flip({*pattern_, row_.host(), count, slot, 0}, random_() % count, 0)},
              [&] { look("a changed send buffer", Expect::wrong); });
  }

  void poison(std::size_t count, std::span<const ExpectedBlock> segments, std::size_t slot) {
    host_.poison(row_.host(), count, segments, slot);
    device_.poison(row_.device(), count, segments, slot);
    filled("poison");
  }

  void guards(std::size_t bytes) {
    host_.mark_guards(row_.host(), bytes);
    device_.mark_guards(row_.device(), bytes);
    filled("guard zones");
    const auto look = [&](const std::string& what, Expect expect) {
      judge(what, expect, host_.check_guards(row_.host(), bytes),
            device_.check_guards(row_.device(), bytes));
    };
    look("untouched guard zones", Expect::right);
    const auto zone = static_cast<std::ptrdiff_t>(verify::guard_bytes);
    const auto end = static_cast<std::ptrdiff_t>(bytes);
    for (const std::ptrdiff_t at : {-zone, std::ptrdiff_t{-1}, end, end + zone - 1})
      changed({{at, {row_.host()[at] ^ std::byte{4}}}},
              [&] { look(fmt::format("byte {} of the guard zones written", at), Expect::wrong); });
  }

  // Looks while the patches are in both rows.
  void changed(std::vector<Patch> patches, const std::function<void()>& look) {
    for (Patch& patch : patches) row_.exchange(patch);
    look();
    for (Patch& patch : patches) row_.exchange(patch);
  }

  Expect expected_of(const Fault& fault) const {
    const bool changes =
        std::ranges::any_of(fault.patches, [&](const Patch& p) { return row_.changes(p); });
    if (!changes) return Expect::right;
    const bool exact = !pattern_->reduces() || pattern_->inputs().tolerance() == 0;
    return exact || fault.gross ? Expect::wrong : Expect::either;
  }

  void inject(const Fault& fault, std::span<const ExpectedBlock> segments, std::size_t slot) {
    const Expect expect = expected_of(fault);
    changed(fault.patches, [&] { hold(fault.name, expect, segments, slot); });
  }

  void hold(const std::string& what, Expect expect, std::span<const ExpectedBlock> segments,
            std::size_t slot) {
    judge(what, expect, host_.compare(row_.host(), segments, slot),
          device_.compare(row_.device(), segments, slot));
  }

  void judge(const std::string& what, Expect expect, const verify::Mismatch& host,
             const verify::Mismatch& device) {
    const bool alike = host.wrong == device.wrong && host.first == device.first &&
                       host.last == device.last && host.explanation == device.explanation;
    const bool nothing = expect == Expect::right || (expect == Expect::either && host.wrong == 0);
    ++(nothing ? report_.right : report_.faults);
    if (alike && (host.wrong == 0) == nothing) return;
    ++(nothing ? report_.false_alarms : report_.missed);
    say(fmt::format("{}: the host says {}; the device says {}", what, text(host), text(device)));
  }

  // The host's fill and the device's, and that neither wrote beside the row.
  void filled(const char* what) {
    ++report_.fills;
    if (row_.same()) return;
    ++report_.other_fills;
    say(fmt::format("{}: not what the host has", what));
    row_.upload();
  }

  void say(const std::string& line) {
    if (report_.details.size() >= most_details) return;
    const auto& inputs = pattern_->inputs();
    report_.details.push_back(fmt::format("{} {}, {} ranks, {}: {}", name(inputs.type()),
                                          inputs.op() ? name(*inputs.op()) : "none", inputs.ranks(),
                                          where_, line));
  }

  std::shared_ptr<const verify::Pattern> pattern_;
  verify::Verifier host_, device_;
  verify::Table without_;
  MirroredRow& row_;
  std::mt19937_64& random_;
  CheckReport& report_;
  std::string where_;
};

void all_segments(PatternCheck& check, bool reduces) {
  const auto from = [&](int rank) { return reduces ? ExpectedBlock::all_ranks : rank; };
  check.segments({{.recv_offset = 0, .count = 100, .source_rank = from(1)},
                  {.recv_offset = 100, .count = 0, .source_rank = from(0)},
                  {.recv_offset = 100, .count = 100, .source_rank = from(2), .source_offset = 50}},
                 {}, 0);
  const ExpectedBlock thin = {.recv_offset = 5,
                              .count = 3,
                              .source_rank = from(1),
                              .source_offset = 2,
                              .repeat = 1000,
                              .recv_stride = 7,
                              .source_stride = 4};
  check.segments({thin}, 8, 1);
  const ExpectedBlock wide = {.recv_offset = 1,
                              .count = 5000,
                              .source_rank = from(2),
                              .source_offset = 9,
                              .repeat = 30,
                              .recv_stride = 5001,
                              .source_stride = 5003};
  check.segments({wide}, 0, 2);
  // Two interleaved: the blocks of one lie in the gaps of the other.
  ExpectedBlock other = thin;
  other.recv_offset = 8;
  other.source_rank = from(2);
  check.segments({thin, other}, 4, 3);
  std::vector<ExpectedBlock> many;
  for (std::size_t k = 0; k < 64; ++k)
    many.push_back({.recv_offset = 300 * k,
                    .count = 300,
                    .source_rank = from(static_cast<int>(k % checked_ranks)),
                    .source_offset = 7 * k});
  check.segments(many, {}, 4);
}

std::vector<std::size_t> counts(std::size_t width, const CheckOptions& options) {
  const std::size_t vectors = first_with_vectors / width;
  if (options.quick) return {0, 37, 4096, vectors - 1, vectors + 1, vectors + 4093};
  constexpr std::size_t some = 3 << 20;
  const std::size_t many = std::min(some, options.max_bytes) / width + 5;
  return {0, 1, 2, 3, 37, 4096, 4097, vectors - 1, vectors, vectors + 1, vectors + 4093, many};
}

std::vector<std::optional<ReduceOp>> kinds(DataType type, bool quick) {
  if (quick) return {std::nullopt, ReduceOp::sum, ReduceOp::avg};
  std::vector<std::optional<ReduceOp>> all = {std::nullopt};
  for (const ReduceOp op : ops_of(type)) all.emplace_back(op);
  return all;
}

}  // namespace

CheckReport check_type(DataType type, Device& device, verify::Loops& loops,
                       const CheckOptions& options) {
  CheckReport report;
  std::mt19937_64 random(options.seed);
  const std::size_t width = size_of(type);
  constexpr std::size_t least = 2 << 20;  // what the segments take
  MirroredRow row(device, std::max(options.max_bytes, least) + 64 * width, most_shift);
  const auto pattern = [&](std::optional<ReduceOp> op, int of) {
    return std::make_shared<const verify::Pattern>(type, op, of, options.seed);
  };
  const std::size_t every = options.quick ? 5 : 1;
  for (const auto& op : kinds(type, options.quick)) {
    PatternCheck check(pattern(op, checked_ranks), loops, row, random, report);
    std::size_t slot = 0;
    for (const std::size_t count : counts(width, options)) {
      for (const std::size_t shift : shifts) {
        ++slot;
        if (options.quick && slot % 2 == 0) continue;
        check.contiguous(count, shift, slot % 5, every);
      }
    }
    all_segments(check, op.has_value());
    const bool long_too = !op || *op == ReduceOp::sum || *op == ReduceOp::avg;
    if (long_too) check.contiguous(options.max_bytes / width + 3, 1, 6, 6 * every);
  }
  PatternCheck(pattern(std::nullopt, many_ranks), loops, row, random, report)
      .contiguous(first_with_vectors / width + 20'011, 1, 3, every);
  return report;
}

}  // namespace ccl_tests::tools
