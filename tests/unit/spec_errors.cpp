#include "tests/unit/spec_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "src/backends/loopback.hpp"
#include "src/bootstrap/control.hpp"
#include "src/bootstrap/thread_ranks.hpp"
#include "src/core/communicator.hpp"
#include "src/devices/host_limits.hpp"
#include "src/options/values.hpp"
#include "src/record/row_text.hpp"
#include "src/run/memory_limit.hpp"
#include "verify/verifier.hpp"

namespace ccl_tests {
namespace {

// The elements that have to move, by rank.
struct Traffic {
  std::vector<double> in, out;  // copied from another rank, to another rank
  // Reduced elements that a rank ends up with. A result that r ranks hold is reduced once and
  // handed on r - 1 times.
  std::vector<double> held;
};

Traffic count(const Collective& collective, const Shape& shape) {
  const auto n = static_cast<std::size_t>(shape.self.ranks);
  Traffic t{std::vector<double>(n), std::vector<double>(n), std::vector<double>(n)};
  for (std::size_t rank = 0; rank < n; ++rank) {
    Shape s = shape;
    s.self.rank = static_cast<int>(rank);
    for (const ExpectedBlock& block : collective.expected(s)) {
      const auto elements = static_cast<double>(block.count * block.repeat);
      for (const ExpectedBlock::Term& term : block.terms) {
        if (term.rank == s.self.rank) continue;
        t.in[rank] += elements;
        t.out[static_cast<std::size_t>(term.rank)] += elements;
      }
      if (!block.terms.empty()) continue;
      if (block.source_rank == ExpectedBlock::all_ranks) {
        t.held[rank] += elements;
      } else if (block.source_rank != s.self.rank) {
        t.in[rank] += elements;
        t.out[static_cast<std::size_t>(block.source_rank)] += elements;
      }
    }
  }
  return t;
}

// Returns the elements through the most loaded link, for the algorithms that reach the bound. A
// broadcast's root sends the buffer once to any number of ranks, which form a chain.
double link_elements(const Collective& collective, const Shape& shape) {
  const Traffic t = count(collective, shape);
  const double n = shape.self.ranks;
  const double held = *std::max_element(t.held.begin(), t.held.end());
  if (held > 0) {
    const auto holders =
        std::count_if(t.held.begin(), t.held.end(), [](double h) { return h > 0; });
    const double all = std::accumulate(t.held.begin(), t.held.end(), 0.0);
    // One holder: its buffer passes each link once (a chain). Everybody holds everything: reduced
    // in parts, then gathered. Everybody holds a part: only reduced.
    if (holders == 1) return held;
    const Layout layout = collective.layout(shape);
    const bool everything = layout.recv >= layout.send;
    // Whoever keeps least contributes most to the others' parts.
    const double least = *std::min_element(t.held.begin(), t.held.end());
    return everything ? 2 * (n - 1) / n * held : all - least;
  }
  const double in = *std::max_element(t.in.begin(), t.in.end());
  double distinct_out = 0;  // what a rank's send buffer holds, at most
  for (int rank = 0; rank < shape.self.ranks; ++rank) {
    Shape s = shape;
    s.self.rank = rank;
    const auto sent = t.out[static_cast<std::size_t>(rank)];
    distinct_out =
        std::max(distinct_out, std::min(sent, static_cast<double>(collective.layout(s).send)));
  }
  // A scatter's root keeps its own block: it cannot send its whole buffer.
  const double most_out = *std::max_element(t.out.begin(), t.out.end());
  return std::max(in, std::min(distinct_out, most_out));
}

// Returns the elements that the busiest rank sends or receives, if a token travels once between two
// ranks, however many of its experts are there.
double routed_elements(const Collective& collective, const Shape& shape) {
  const std::size_t hidden = shape.options.routing.hidden;
  const auto n = static_cast<std::size_t>(shape.self.ranks);
  std::vector<double> in(n), out(n);
  for (std::size_t rank = 0; rank < n; ++rank) {
    Shape s = shape;
    s.self.rank = static_cast<int>(rank);
    std::set<std::pair<int, std::size_t>> moved;  // the other rank, the token
    for (const ExpectedBlock& block : collective.expected(s)) {
      for (const ExpectedBlock::Term& term : block.terms)
        moved.insert({term.rank, block.recv_offset / hidden});
      if (block.terms.empty()) moved.insert({block.source_rank, block.source_offset / hidden});
    }
    for (const auto& [other, token] : moved) {
      if (other == s.self.rank) continue;
      in[rank] += static_cast<double>(hidden);
      out[static_cast<std::size_t>(other)] += static_cast<double>(hidden);
    }
  }
  return std::max(*std::max_element(in.begin(), in.end()),
                  *std::max_element(out.begin(), out.end()));
}

// Counts from the expected blocks the bytes that the most loaded rank must at least send or
// receive. Data from another rank must come in once. A result over all ranks needs every other
// rank's part moved to where the part is reduced. Returns how the count differs from algbw_bytes x
// bus_factor, or nullopt if both agree.
std::optional<std::string> bus_factor_error(const Collective& collective, const Shape& shape) {
  // With one rank nothing crosses a link; the factors of 1 are nccl-tests' convention there.
  if (collective.needs.synchronizes || shape.self.ranks == 1) return std::nullopt;
  // A block that is not delivered cannot be counted.
  if (collective.domain.fixed_bytes && collective.layout(shape).recv == 0) return std::nullopt;
  const Layout layout = collective.layout(shape);
  const double stated = static_cast<double>(layout.algbw_bytes) * collective.bus_factor(shape);
  const double counted = (collective.flags.routing ? routed_elements(collective, shape)
                                                   : link_elements(collective, shape)) *
                         static_cast<double>(shape.type_bytes);
  if (std::abs(stated - counted) <= 1e-9 * std::max(stated, counted)) return std::nullopt;
  // alltoallv's convention takes the mean over peers, (n - 1) / n of the largest buffer.
  if (collective.flags.block_matrix && counted <= static_cast<double>(layout.algbw_bytes))
    return std::nullopt;
  return fmt::format("{} ranks: algbw_bytes x bus_factor is {} B, the most loaded rank moves {} B",
                     shape.self.ranks, stated, counted);
}

constexpr int most_ranks = 9;
// Requested elements: fewer than ranks, odd.
constexpr std::size_t counts[] = {1, 37, 144};
// A block of more than a period of the pattern.
constexpr std::size_t large_count = 40'000;

class Findings {
 public:
  void add(std::string line) {
    const std::lock_guard lock(mutex_);
    if (lines_.size() < 20) lines_.push_back(std::move(line));
  }
  std::vector<std::string> lines() const { return lines_; }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

std::string describe(const Shape& s) {
  return fmt::format("{} ranks, rank {}, root {}, {} elements", s.self.ranks, s.self.rank, s.root,
                     s.count);
}

// Returns whether the expected blocks lie within the receive layout and their sources within the
// senders' layouts (`sent` elements, by rank), and whether a rank's blocks state every element once
// or, if its result is unspecified, none. If not, a comparison with the blocks could leave the
// buffers.
bool check_tiling(const Collective& collective, const Shape& shape,
                  const std::vector<std::size_t>& sent, Findings& findings) {
  const Layout layout = collective.layout(shape);
  std::vector<char> stated(layout.recv, 0);
  for (const ExpectedBlock& s : collective.expected(shape)) {
    std::vector<ExpectedBlock::Term> sources = s.terms;
    if (sources.empty())
      sources.push_back(
          {s.source_rank == ExpectedBlock::all_ranks ? shape.self.rank : s.source_rank,
           s.source_offset + (s.repeat - 1) * s.source_stride});
    for (const ExpectedBlock::Term& source : sources) {
      if (source.rank < 0 || source.rank >= shape.self.ranks) {
        findings.add(describe(shape) + ": a block names a rank that does not exist");
        return false;
      }
      if (source.offset + s.count <= sent[static_cast<std::size_t>(source.rank)]) continue;
      findings.add(describe(shape) + ": a block reaches beyond the layout");
      return false;
    }
    for (std::size_t b = 0; b < s.repeat; ++b) {
      const std::size_t out = s.recv_offset + b * s.recv_stride;
      if (out + s.count > layout.recv) {
        findings.add(describe(shape) + ": a block reaches beyond the layout");
        return false;
      }
      for (std::size_t i = out; i < out + s.count; ++i) {
        if (stated[i]++ == 0) continue;
        findings.add(fmt::format("{}: element {} is stated twice", describe(shape), i));
        return false;
      }
    }
  }
  const auto gaps = std::count(stated.begin(), stated.end(), 0);
  if (gaps == 0 || gaps == static_cast<std::ptrdiff_t>(stated.size())) return true;
  findings.add(fmt::format("{}: {} elements are not stated", describe(shape), gaps));
  return false;
}

// Returns whether no rank needs larger buffers than a row gets. If not, a call could leave them.
bool check_buffers(const Collective& collective, const Shape& shape, Findings& findings) {
  const Layout layout = collective.layout(shape);
  const InPlace at = layout.in_place.value_or(InPlace{0, 0});
  const std::size_t end = std::max(at.send + layout.send, at.recv + layout.recv);
  if (end * shape.type_bytes <= row_bytes(collective, shape).region) return true;
  findings.add(describe(shape) +
               ": its buffers are larger than those of the root, the first and the last rank");
  return false;
}

// Runs one rank's call on loopback and compares its result with the expected blocks.
void check_call(const Collective& collective, const Shape& shape, bool in_place,
                ControlChannel& channel, Communicator& communicator, Buffer (&buffers)[2],
                const verify::Verifier& verifier, DataType type, Findings& findings) {
  const Layout layout = collective.layout(shape);
  const auto blocks = collective.expected(shape);
  const std::size_t width = shape.type_bytes;
  const std::size_t bytes = row_bytes(collective, shape).region + 2 * verify::guard_bytes;
  for (Buffer& buffer : buffers)
    if (buffer.size() < bytes) buffer = host_buffer(bytes);
  std::byte* send = buffers[0].data() + verify::guard_bytes;
  std::byte* recv = buffers[1].data() + verify::guard_bytes;
  if (in_place) {
    recv = send + layout.in_place->recv * width;
    send += layout.in_place->send * width;
  }
  verifier.mark_guards(recv, layout.recv * width);
  if (!in_place) verifier.mark_guards(send, layout.send * width);
  verifier.poison(recv, layout.recv, blocks, 0);
  verifier.fill_input(send, layout.send, 0);
  Call call =
      call_of(shape, layout, type, verifier.pattern().inputs().op().value_or(ReduceOp::sum));
  call.send = send;
  call.recv = recv;
  if (collective.domain.paired) call.peer = 1 - shape.self.rank;
  const auto operation = collective.make(channel, communicator, shape, type);
  operation->check();
  operation->run(call);
  if (!collective.needs.step_times && operation->times().total_s() > 0)
    findings.add(describe(shape) + ": its operation has step times, which its needs do not say");
  verify::Mismatch found = verifier.compare(recv, blocks, 0);
  if (!in_place) found.add(verifier.compare_input(send, layout.send, 0));
  if (!in_place) found.add(verifier.check_guards(recv, layout.recv * width));
  if (found.wrong == 0) return;
  findings.add(fmt::format("{}, {}: {} elements differ from the textbook, first {}: {}",
                           describe(shape), placement_words(in_place), found.wrong, found.first,
                           found.explanation));
}

std::vector<DataType> types_of(const Collective& collective) {
  std::vector<DataType> types = {DataType::float32, DataType::uint8, DataType::bfloat16};
  const auto& supported = collective.domain.types;  // empty: all
  if (supported.empty()) return types;
  std::erase_if(types, [&](DataType type) {
    return std::find(supported.begin(), supported.end(), type) == supported.end();
  });
  if (types.empty()) types = {supported.front()};
  return types;
}

// Returns combinations of the options that this collective takes.
std::vector<CollectiveOptions> variants(const Collective& collective) {
  std::vector<CollectiveOptions> result(1);
  if (collective.flags.skew)
    for (const Skew skew : {Skew::linear, Skew::one_large}) result.emplace_back().skew = skew;
  if (collective.flags.objects) result.emplace_back().objects = 3;
  if (collective.flags.tensors) {
    result.emplace_back().tensors = {5, 1, 0, 300, 2};
    result.back().bucket_mib = 0;
    result.back().async_operations = false;
  }
  if (collective.flags.routing) {
    result[0].routing.hidden = 4500;  // more than a period; of the large count 8 tokens
    for (const char* const name : {"zipf:1.2", "W3", "W4", "maxvio:0.5"}) {
      RoutingOptions& routing = result.emplace_back().routing;
      routing = {.hidden = 3, .top_k = 3, .experts = 11, .name = name, .rule = parse_routing(name)};
    }
  }
  if (!collective.domain.paired) return result;
  result.resize(4);
  for (std::size_t i = 1; i < result.size(); ++i) {
    result[i].bidirectional = i % 2 == 1;
    result[i].window = i < 2 ? 1 : 3;
  }
  return result;
}

// Calls visit(shape) for every combination of options, count and root.
template <class Visit>
void for_each_shape(const Collective& collective, DataType type, int rank, int ranks,
                    Visit&& visit) {
  std::vector<std::size_t> tried(std::begin(counts), std::end(counts));
  // The result does not depend on the number of ranks: a few are enough, the most among them.
  if (ranks <= 4 || ranks == most_ranks) tried.push_back(large_count);
  for (const CollectiveOptions& options : variants(collective))
    for (const std::size_t count : tried) {
      // Thousands of small tokens say no more than some.
      if (collective.flags.routing && options.routing.hidden < 100 && count == large_count)
        continue;
      for (int root = 0; root < (collective.domain.rooted ? ranks : 1); ++root)
        visit(Shape{count, size_of(type), {rank, ranks}, options, root});
    }
}

void check_rank(const Collective& collective, ControlChannel& channel,
                verify::PatternCache& patterns, Findings& findings) {
  const auto communicator = LoopbackBackend().connect(channel, {});
  Buffer buffers[2];  // to send and to receive, for one call after the other
  std::optional<ReduceOp> op;
  if (const Domain& domain = collective.domain; domain.reduces)
    op = domain.ops.empty() ? ReduceOp::sum : domain.ops.front();
  for (const DataType type : types_of(collective)) {
    const auto check = [&](const Shape& shape) {
      const auto pattern = patterns.find(
          type, op, channel.ranks(), 7, true,
          collective.largest_input == nullptr ? 0 : collective.largest_input(shape, type));
      const verify::Verifier verifier(pattern, channel.rank());
      for (const bool in_place : {false, true})
        if (!in_place || collective.layout(shape).in_place)
          check_call(collective, shape, in_place, channel, *communicator, buffers, verifier, type,
                     findings);
    };
    for_each_shape(collective, type, channel.rank(), channel.ranks(), check);
  }
}

bool check_tilings(const Collective& collective, int ranks, Findings& findings) {
  bool right = true;
  for (const DataType type : types_of(collective))
    for_each_shape(collective, type, 0, ranks, [&](Shape shape) {
      std::vector<std::size_t> sent;
      for (shape.self.rank = 0; shape.self.rank < ranks; ++shape.self.rank)
        sent.push_back(collective.layout(shape).send);
      for (shape.self.rank = 0; shape.self.rank < ranks; ++shape.self.rank)
        right = check_tiling(collective, shape, sent, findings) &&
                check_buffers(collective, shape, findings) && right;
    });
  return right;
}

void check_world(const Collective& collective, int ranks, Findings& findings) {
  if (collective.domain.paired && ranks != 2) return;
  const std::vector<CollectiveOptions> options = variants(collective);
  const auto shape = [&](const CollectiveOptions& o) {
    return Shape{static_cast<std::size_t>(ranks) * 1024, 4, {0, ranks}, o};
  };
  if (collective.unsupported != nullptr && collective.unsupported(shape(options.front()))) return;
  if (!check_tilings(collective, ranks, findings)) return;
  for (const CollectiveOptions& o : options)
    if (const auto error = bus_factor_error(collective, shape(o))) findings.add(*error);
  const auto control = alone();
  ThreadRanks world(*control, ranks);
  verify::PatternCache patterns;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        check_rank(collective, world.rank(rank), patterns, findings);
      } catch (const std::exception& e) {
        findings.add(fmt::format("{} ranks, rank {}: {}", ranks, rank, e.what()));
        world.abort(e.what());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

std::vector<std::string> find_spec_errors(const Collective& collective) {
  Findings findings;
  if (operations_of(collective).empty())
    findings.add(
        "no operation of Communicator is called so; accepted: Needs::operations, which says what a "
        "call makes");
  for (int ranks = 1; ranks <= most_ranks; ++ranks) check_world(collective, ranks, findings);
  std::vector<std::string> lines = findings.lines();
  for (const Collective* form : collective.modes)
    for (const std::string& line : find_spec_errors(*form))
      lines.push_back(fmt::format("--mode {}: {}", form->mode, line));
  return lines;
}

}  // namespace ccl_tests
