#include "src/run/reproduction_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <thread>
#include <tuple>
#include <utility>

#include "src/core/communicator.hpp"
#include "src/core/serialize.hpp"
#include "verify/order_sensitive.hpp"

namespace ccl_tests {
namespace {

struct FoundDifference {
  const BitDifference* difference;
  int rank;
};

// Returns the one with the lowest index.
std::optional<FoundDifference> first_difference(const std::vector<RankReproduction>& found,
                                                const std::vector<int>& members, Between between) {
  std::optional<FoundDifference> first;
  for (const int rank : members) {
    const auto& differences = found[static_cast<std::size_t>(rank)].differences;
    const auto own = differences.find(between);
    if (own == differences.end()) continue;
    if (!first || own->second.index < first->difference->index) first = {&own->second, rank};
  }
  return first;
}

// Returns the digest of the digests, one after the other.
std::string digest_of(const std::vector<std::string>& digests) {
  std::uint64_t all = 0;
  for (const std::string& text : digests) all = verify::digest(std::as_bytes(std::span(text)), all);
  return verify::digest_text(all);
}

void set_difference(Reproduction& result, const FoundDifference& first) {
  result.difference_rank = first.rank;
  result.difference_index = first.difference->index;
  result.difference_ulps = first.difference->distance;
  result.difference = first.difference->values;
}

}  // namespace

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BitDifference, index, distance, values)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankReproduction, digest, calls, orders_tried, differences)

std::string to_text(const RankReproduction& found) { return to_bytes(found); }
RankReproduction rank_reproduction(std::string_view text) {
  return from_bytes<RankReproduction>(text);
}

// Where calls with the same arguments differ, nothing can be said of what else differs.
std::optional<Reproduction> reproduction_of(const std::vector<RankReproduction>& found,
                                            const std::vector<int>& members) {
  Reproduction result;
  std::vector<std::string> digests;
  bool orders_tried = true;
  for (const int r : members) {
    const RankReproduction& rank = found[static_cast<std::size_t>(r)];
    digests.push_back(rank.digest);
    result.calls = std::max(result.calls, rank.calls);
    orders_tried = orders_tried && rank.orders_tried;
  }
  if (std::all_of(digests.begin(), digests.end(), [](const auto& d) { return d.empty(); }))
    return std::nullopt;
  result.digest = digest_of(digests);
  for (const Between between :
       {Between::calls, Between::ranks, Between::placements, Between::alignments}) {
    const auto first = first_difference(found, members, between);
    if (!first) continue;
    if (result.varies_between.empty()) set_difference(result, *first);
    result.varies_between.emplace_back(between_names[static_cast<std::size_t>(between)]);
    if (between == Between::calls) break;
  }
  const auto order = first_difference(found, members, Between::orders);
  result.verdict = !result.varies_between.empty() ? Reproducibility::varies
                   : order || !orders_tried       ? Reproducibility::stable
                                                  : Reproducibility::order_independent;
  if (result.verdict == Reproducibility::stable && order) set_difference(result, *order);
  return result;
}

Reproduction combined(const std::vector<Reproduction>& groups) {
  Reproduction result =
      *std::max_element(groups.begin(), groups.end(),
                        [](const auto& a, const auto& b) { return a.verdict < b.verdict; });
  if (groups.size() == 1) return result;
  std::vector<std::string> digests;
  for (const Reproduction& group : groups) digests.push_back(group.digest);
  result.digest = digest_of(digests);
  return result;
}

namespace {

constexpr std::size_t piece_bytes = 1 << 20;  // that is copied, digested and compared at once

using verify::Exchange;

// Calls whose arguments are alike but for where buffers begin.
struct Trial {
  Between differs_in;  // from the first one
  int calls;
  Form form = Form::out_of_place;
  std::size_t shift = 0;  // elements that both buffers begin later
  Exchange exchange = Exchange::none;
};

// A part of the receive buffer that is specified, in elements.
struct Range {
  std::size_t begin, count;
};

std::vector<Range> ranges_of(const std::vector<ExpectedBlock>& blocks) {
  std::vector<Range> ranges;
  for (const ExpectedBlock& block : blocks)
    for (std::size_t k = 0; k < block.repeat && block.count > 0; ++k)
      ranges.push_back({block.recv_offset + k * block.recv_stride, block.count});
  return ranges;
}

// Returns whether results have to hold the same bits.
bool same_results(const std::vector<ExpectedBlock>& a, const std::vector<ExpectedBlock>& b) {
  const auto same = [](const ExpectedBlock& x, const ExpectedBlock& y) {
    return std::tie(x.recv_offset, x.count, x.source_rank, x.source_offset, x.repeat) ==
           std::tie(y.recv_offset, y.count, y.source_rank, y.source_offset, y.repeat);
  };
  return !a.empty() && std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

std::vector<Trial> trials_of(const Problem& p) {
  using enum Between;
  std::vector<Trial> trials = {{calls, 8}};
  if (p.layout.in_place) trials.push_back({placements, 4, Form::in_place});
  trials.push_back({alignments, 2, Form::out_of_place, 1});
  trials.push_back({alignments, 2, Form::out_of_place, 5});
  // Each rank's factor of mulsum belongs to the rank, not to its data.
  if (p.point.op == ReduceOp::mulsum) return trials;
  for (const Exchange exchange : {Exchange::rotated, Exchange::swapped, Exchange::shuffled})
    trials.push_back({orders, 2, Form::out_of_place, 0, exchange});
  return trials;
}

// Repeats the calls of one rank, and compares their results.
class Check {
 public:
  Check(const Problem& p, const ReproductionSetup& setup)
      : p_(p),
        setup_(setup),
        data_{p.point.type, p.point.op.value_or(ReduceOp::sum), p.shape.self.ranks,
              setup.communicator.capabilities().integers_wrap, setup.seed},
        ranges_(ranges_of(p.blocks)),
        piece_(piece_bytes) {}

  RankReproduction make() {
    const std::vector<Trial> trials = trials_of(p_);
    for (const Trial& trial : trials) run(trial);
    setup_.rank.activity().row(p_.text() + ", comparing the ranks' digests");
    found_.orders_tried = trials.back().differs_in == Between::orders;
    compare_ranks();
    return std::move(found_);
  }

 private:
  void run(const Trial& trial) {
    std::optional<std::uint64_t> first;  // of the trial
    std::optional<BitDifference> of_first;
    const std::size_t width = p_.width();
    const std::size_t at = setup_.slots.offset(0) + trial.shift * width;
    std::byte* send = setup_.arena.send() + at;
    std::byte* recv = setup_.arena.recv() + at;
    if (trial.form == Form::in_place) {  // both are parts of the second buffer
      send = recv + p_.layout.in_place->send * width;
      recv += p_.layout.in_place->recv * width;
    }
    for (int k = 0; k < trial.calls; ++k) {
      fill(send, trial.exchange);
      call(send, recv);
      std::optional<BitDifference> difference;
      const std::uint64_t found = made_ == 1 ? keep(recv) : compare(recv, difference);
      if (!first) {
        first = found;
        of_first = difference;
        if (difference) found_.differences.try_emplace(trial.differs_in, *difference);
      } else if (*first != found) {
        found_.differences.try_emplace(Between::calls, difference ? *difference : *of_first);
      }
    }
  }

  // Ranks enter late in turn: who comes first may decide the order. Simulated ranks share a thread.
  void call(const std::byte* send, std::byte* recv) {
    constexpr std::chrono::milliseconds late(2);
    setup_.rank.activity().row(fmt::format("{}, call {} for its bits", p_.text(), ++made_));
    const GroupRank& self = p_.shape.self;
    if (!setup_.rank.process().options.simulated() && made_ % self.ranks == self.rank)
      std::this_thread::sleep_for(late);
    const Expected expected(setup_.rank.activity(), setup_.limits.operation_s);
    inside_library(setup_.rank.activity(), [&] {
      setup_.operation.run(p_.call(send, recv));
      setup_.communicator.wait();
    });
    ++found_.calls;
  }

  void fill(std::byte* send, Exchange exchange) {
    const GroupRank& self = p_.shape.self;
    const int contributor = verify::contributor(exchange, self.rank, self.ranks);
    const std::size_t width = p_.width(), whole = p_.layout.send;
    for (std::size_t at = 0; at < whole; at += piece_bytes / width) {
      const std::size_t bytes = std::min(piece_bytes, (whole - at) * width);
      data_.fill(std::span(piece_).first(bytes), contributor, at);
      setup_.rank.device().copy(send + at * width, piece_.data(), bytes);
    }
  }

  // Reads a result in pieces: take(first element, bytes).
  template <class Take>
  void read(const std::byte* recv, Take take) {
    const std::size_t width = p_.width();
    for (const Range& range : ranges_) {
      for (std::size_t at = 0; at < range.count; at += piece_bytes / width) {
        const std::size_t bytes = std::min(piece_bytes, (range.count - at) * width);
        setup_.rank.device().copy(piece_.data(), recv + (range.begin + at) * width, bytes);
        take(range.begin + at, std::span<const std::byte>(piece_).first(bytes));
      }
    }
  }

  // The first result, which all others are compared with.
  std::uint64_t keep(const std::byte* recv) {
    std::size_t elements = 0;
    for (const Range& range : ranges_) elements += range.count;
    reference_.reserve(elements * p_.width());
    std::uint64_t all = 0;
    read(recv, [&](std::size_t element, std::span<const std::byte> bytes) {
      pieces_.push_back({element, reference_.size(), bytes.size()});
      digests_.push_back(verify::digest(bytes));
      all = verify::digest(bytes, all);
      reference_.insert(reference_.end(), bytes.begin(), bytes.end());
    });
    if (!pieces_.empty()) found_.digest = verify::digest_text(all);
    return all;
  }

  std::uint64_t compare(const std::byte* recv, std::optional<BitDifference>& difference) {
    std::uint64_t all = 0;
    std::size_t piece = 0;
    read(recv, [&](std::size_t, std::span<const std::byte> bytes) {
      all = verify::digest(bytes, all);
      if (!difference) difference = difference_in(pieces_[piece], bytes);
      ++piece;
    });
    return all;
  }

  // A piece of the first result: its place in the receive buffer and in reference_.
  struct Piece {
    std::size_t element, begin, bytes;
  };

  std::optional<BitDifference> difference_in(const Piece& piece,
                                             std::span<const std::byte> other) const {
    const std::byte* const own = reference_.data() + piece.begin;
    const auto [a, b] = std::mismatch(own, own + piece.bytes, other.begin());
    if (a == own + piece.bytes) return std::nullopt;
    const std::size_t width = p_.width();
    const std::size_t at = static_cast<std::size_t>(a - own) / width;
    const std::byte* const first = own + at * width;
    const std::byte* const second = other.data() + at * width;
    const DataType type = p_.point.type;
    return BitDifference{piece.element + at, verify::distance(type, first, second),
                         fmt::format("{} and {}", verify::element_text(type, first),
                                     verify::element_text(type, second))};
  }

  // Where all ranks receive the same, each is compared with rank 0. The bytes of the first piece
  // that differs anywhere travel, and no other ones.
  void compare_ranks() {
    Shape first = p_.shape;
    first.self.rank = 0;
    const bool alike = same_results(p_.blocks, p_.collective->expected(first));
    const double limit_s = setup_.limits.exchange_s;
    const auto all = setup_.group.all_gather(alike ? found_.digest : std::string(), limit_s);
    const auto differs = [&](const std::string& theirs) {
      return !theirs.empty() && theirs != all.front();
    };
    if (all.front().empty() || std::none_of(all.begin(), all.end(), differs)) return;
    const std::string own = span_to_bytes<std::uint64_t>(digests_);
    const auto everyones = setup_.group.all_gather(alike ? own : std::string(), limit_s);
    std::size_t piece = digests_.size();
    const auto zeroth = span_from_bytes<std::uint64_t>(everyones.front());
    for (const std::string& bytes : everyones) {
      const auto theirs = span_from_bytes<std::uint64_t>(bytes);
      if (theirs.size() != zeroth.size()) continue;
      const auto at = std::mismatch(zeroth.begin(), zeroth.end(), theirs.begin()).first;
      piece = std::min(piece, static_cast<std::size_t>(at - zeroth.begin()));
    }
    std::string sent;
    if (setup_.group.rank() == 0)
      sent.assign(reinterpret_cast<const char*>(reference_.data()) + pieces_[piece].begin,
                  pieces_[piece].bytes);
    const std::string received = setup_.group.broadcast(sent, limit_s);
    if (!alike) return;
    const auto difference =
        difference_in(pieces_[piece], std::as_bytes(std::span<const char>(received)));
    if (difference) found_.differences.try_emplace(Between::ranks, *difference);
  }

  const Problem& p_;
  const ReproductionSetup& setup_;
  verify::OrderSensitive data_;
  std::vector<Range> ranges_;
  std::vector<std::byte> piece_, reference_;
  std::vector<Piece> pieces_;           // of reference_
  std::vector<std::uint64_t> digests_;  // of pieces_
  int made_ = 0;
  RankReproduction found_;
};

}  // namespace

std::vector<RankReproduction> reproduce(const Problem& problem, const ReproductionSetup& setup) {
  RankReproduction mine;
  if (problem.takes_part()) mine = Check(problem, setup).make();
  std::vector<RankReproduction> all;
  for (const std::string& bytes : setup.rank.world().gather(to_text(mine), setup.limits.exchange_s))
    all.push_back(rank_reproduction(bytes));
  return all;
}

}  // namespace ccl_tests
