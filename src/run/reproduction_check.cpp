#include "src/run/reproduction_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include "src/core/communicator.hpp"
#include "src/core/serialize.hpp"
#include "src/run/operation_workload.hpp"
#include "verify/order_sensitive.hpp"

namespace ccl_tests {
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

// They have to hold the same bits.
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
  struct Buffers {
    std::byte* send;
    std::byte* recv;
  };

  // In place both are parts of one, in the arena's second buffer.
  Buffers buffers(const Trial& trial) const {
    const std::size_t width = p_.width();
    const std::size_t at = setup_.slots.offset(0) + trial.shift * width;
    if (trial.form == Form::out_of_place)
      return {setup_.arena.send() + at, setup_.arena.recv() + at};
    std::byte* const region = setup_.arena.recv() + at;
    return {region + p_.layout.in_place->send * width, region + p_.layout.in_place->recv * width};
  }

  void run(const Trial& trial) {
    std::optional<std::uint64_t> first;  // of the trial
    std::optional<BitDifference> of_first;
    for (int k = 0; k < trial.calls; ++k) {
      const Buffers b = buffers(trial);
      fill(b.send, trial.exchange);
      call(b);
      std::optional<BitDifference> difference;
      const std::uint64_t found = made_ == 1 ? keep(b.recv) : compare(b.recv, difference);
      if (!first) {
        first = found;
        of_first = difference;
        if (difference) add(trial.differs_in, *difference);
      } else if (*first != found) {
        add(Between::calls, difference ? *difference : *of_first);
      }
    }
  }

  void add(Between between, const BitDifference& difference) {
    found_.differences.try_emplace(between, difference);
  }

  // Ranks enter late in turn: who comes first may decide the order. Simulated ranks share a thread.
  void call(const Buffers& b) {
    constexpr std::chrono::milliseconds late(2);
    setup_.rank.activity().row(fmt::format("{}, call {} for its bits", p_.text(), ++made_));
    const GroupRank& self = p_.shape.self;
    if (!setup_.rank.process().options.simulated() && made_ % self.ranks == self.rank)
      std::this_thread::sleep_for(late);
    const Expected expected(setup_.rank.activity(), setup_.limits.operation_s);
    inside_library(setup_.rank.activity(), [&] {
      setup_.operation.run(p_.call(b.send, b.recv));
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

  // Where all ranks receive the same, each is compared with rank 0. The bytes of the first piece that differs
  // anywhere travel, and no other ones.
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
    if (difference) add(Between::ranks, *difference);
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
