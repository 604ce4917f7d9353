#include "tools/pattern_check.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ccl_tests::tools {
namespace {

using verify::Mismatch;

constexpr std::byte background{0x33};
constexpr std::size_t most_details = 8;

std::string text(const Mismatch& m) {
  return fmt::format("{} wrong, {} to {}, '{}'", m.wrong, m.first, m.last, m.explanation);
}

}  // namespace

PatternCheck::PatternCheck(std::shared_ptr<const verify::Pattern> pattern, verify::Loops& loops,
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

void PatternCheck::contiguous(std::size_t count, std::size_t shift, std::size_t slot,
                              std::size_t every) {
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

void PatternCheck::segments(const std::vector<ExpectedBlock>& segments,
                            std::optional<std::size_t> gap, std::size_t slot) {
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
  Fault far = flipped(row, segments.front().recv_offset, 8 * width - 2);
  far.name = "two elements of two segments";
  const std::size_t other = segments.back().recv_offset;
  if (segments.size() > 1 && segments.back().count > 0 && other != segments.front().recv_offset) {
    far.patches.push_back(flipped(row, other, 8 * width - 2).patches.front());
    inject(far, segments, slot);
  }
  if (gap) {
    Fault harmless = flipped(row, *gap, 0);
    row_.exchange(harmless.patches.front());
    hold("a gap's element changed", Expect::right, segments, slot);
    row_.exchange(harmless.patches.front());
  }
}

// Elements of `s` as they should be, on the host.
void PatternCheck::put(const ExpectedBlock& s, std::size_t slot) {
  const std::size_t width = pattern_->width();
  const std::size_t phase = pattern_->phase(std::max(0, s.source_rank), slot);
  for (std::size_t b = 0; b < s.repeat; ++b)
    pattern_->expected().copy_to(row_.host() + (s.recv_offset + b * s.recv_stride) * width, s.count,
                                 s.source_offset + b * s.source_stride + phase);
}

void PatternCheck::input(std::size_t count, std::size_t slot) {
  host_.fill_input(row_.host(), count, slot);
  device_.fill_input(row_.device(), count, slot);
  filled("fill");
  const auto both = [&] {
    return std::pair(host_.compare_input(row_.host(), count, slot),
                     device_.compare_input(row_.device(), count, slot));
  };
  judge("an unchanged send buffer", Expect::right, both());
  if (count == 0) return;
  Fault fault = flipped({*pattern_, row_.host(), count, slot, 0}, random_() % count, 0);
  row_.exchange(fault.patches.front());
  judge("a changed send buffer", Expect::wrong, both());
  row_.exchange(fault.patches.front());
}

void PatternCheck::poison(std::size_t count, std::span<const ExpectedBlock> segments,
                          std::size_t slot) {
  host_.poison(row_.host(), count, segments, slot);
  device_.poison(row_.device(), count, segments, slot);
  filled("poison");
}

void PatternCheck::guards(std::size_t bytes) {
  host_.mark_guards(row_.host(), bytes);
  device_.mark_guards(row_.device(), bytes);
  filled("guard zones");
  const auto both = [&] {
    return std::pair(host_.check_guards(row_.host(), bytes),
                     device_.check_guards(row_.device(), bytes));
  };
  judge("untouched guard zones", Expect::right, both());
  const auto zone = static_cast<std::ptrdiff_t>(verify::guard_bytes);
  const auto end = static_cast<std::ptrdiff_t>(bytes);
  for (const std::ptrdiff_t at : {-zone, std::ptrdiff_t{-1}, end, end + zone - 1}) {
    Patch patch{at, {row_.host()[at] ^ std::byte{4}}};
    row_.exchange(patch);
    judge(fmt::format("byte {} of the guard zones written", at), Expect::wrong, both());
    row_.exchange(patch);
  }
}

PatternCheck::Expect PatternCheck::expected_of(const Fault& fault) const {
  const bool changes = std::any_of(fault.patches.begin(), fault.patches.end(),
                                   [&](const Patch& p) { return row_.changes(p); });
  if (!changes) return Expect::right;
  const bool exact = !pattern_->reduces() || pattern_->inputs().tolerance() == 0;
  return exact || fault.gross ? Expect::wrong : Expect::either;
}

void PatternCheck::inject(Fault fault, std::span<const ExpectedBlock> segments, std::size_t slot) {
  const Expect expect = expected_of(fault);
  for (Patch& patch : fault.patches) row_.exchange(patch);
  hold(fault.name, expect, segments, slot);
  for (Patch& patch : fault.patches) row_.exchange(patch);
}

void PatternCheck::hold(const std::string& what, Expect expect,
                        std::span<const ExpectedBlock> segments, std::size_t slot) {
  judge(
      what, expect,
      {host_.compare(row_.host(), segments, slot), device_.compare(row_.device(), segments, slot)});
}

void PatternCheck::judge(const std::string& what, Expect expect,
                         const std::pair<Mismatch, Mismatch>& both) {
  const auto& [host, device] = both;
  const bool alike = host.wrong == device.wrong && host.first == device.first &&
                     host.last == device.last && host.explanation == device.explanation;
  const bool nothing = expect == Expect::right || (expect == Expect::either && host.wrong == 0);
  ++(nothing ? report_.right : report_.faults);
  if (alike && (host.wrong == 0) == nothing) return;
  ++(nothing ? report_.false_alarms : report_.missed);
  say(fmt::format("{}: the host says {}; the device says {}", what, text(host), text(device)));
}

// The host's fill and the device's, and that neither wrote beside the row.
void PatternCheck::filled(const char* what) {
  ++report_.fills;
  if (row_.same()) return;
  ++report_.other_fills;
  say(fmt::format("{}: not what the host has", what));
  row_.upload();
}

void PatternCheck::say(const std::string& line) {
  if (report_.details.size() >= most_details) return;
  const auto& inputs = pattern_->inputs();
  report_.details.push_back(fmt::format("{} {}, {} ranks, {}: {}", name(inputs.type()),
                                        inputs.op() ? name(*inputs.op()) : "none", inputs.ranks(),
                                        where_, line));
}

}  // namespace ccl_tests::tools
