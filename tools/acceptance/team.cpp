#include "tools/acceptance/team.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "collectives/collectives.hpp"
#include "collectives/shapes.hpp"
#include "src/core/serialize.hpp"
#include "src/record/quantity_text.hpp"
#include "src/run/memory_limit.hpp"
#include "tools/acceptance/search/screen.hpp"

namespace ccl_tests::acceptance {
namespace {

constexpr std::size_t answer = 1;  // element

bool sends(const Shape& s) { return s.self.rank == 0; }

Layout layout(const Shape& s) {
  return {.send = sends(s) ? s.count : answer,
          .recv = sends(s) ? answer : s.count,
          .count = s.count,
          .table_count = s.count,
          .algbw_bytes = s.count * s.type_bytes};
}

std::vector<ExpectedBlock> expected(const Shape& s) {
  return {{.count = sends(s) ? answer : s.count, .source_rank = 1 - s.self.rank}};
}

// Ranks without a peer post empty groups, because groups are collective on loopback.
void send_one_way(Communicator& c, const Call& call) {
  const bool first = call.self.rank == 0;
  const auto turn = [&](bool sends, std::size_t count) {
    Call message = call;
    message.count = count;
    c.begin_group();
    if (call.peer >= 0) sends ? c.send(message) : c.recv(message);
    c.end_group();
  };
  turn(first, call.count);
  c.fence();  // the answer begins when everything has come
  turn(!first, answer);
}

// A message from the first rank of a pair to the second, which answers with one element when all of it
// has come. The row's size and time are the message's: both ends see the same time, that of one
// direction and a short way back.
const Collective one_way = {
    .name = "one_way",
    .about = "a message from one rank to another",
    .domain = {.paired = true},
    .layout = layout,
    .expected = expected,
    .bus_factor = collectives::whole,
    .make = collectives::calls<send_one_way>,
    .needs = {.in_steps = true, .host_waits = true, .operations = {OperationId::transfer}},
};

// A warm-up call, a checked one, and two that are timed for nothing.
Options few_calls(Options o) {
  o.measure.samples = false;
  o.measure.batch = o.measure.warmup_given = true;
  o.measure.warmup = 1;
  o.measure.iterations = 2;
  o.check.all = true;
  return o;
}

// Returns the values of all ranks on rank 0.
template <class T>
std::vector<T> gather_values(Rank& rank, const T& own) {
  std::vector<T> all;
  for (const std::string& bytes : rank.world().gather(to_bytes(own), rank.limit_s()))
    all.push_back(from_bytes<T>(bytes));
  return all;
}

}  // namespace

const Collective& program_named(std::string_view name) {
  for (const Collective* collective : collectives::all())
    if (collective->name == name) return *collective;
  throw Error(fmt::format("there is no program {}", name));
}

DataType usual_type(const Collective& program) {
  return program.domain.types.empty() ? DataType::float32 : program.domain.types.front();
}

std::optional<ReduceOp> usual_op(const Collective& program) {
  if (!program.domain.reduces) return std::nullopt;
  return program.domain.ops.empty() ? ReduceOp::sum : program.domain.ops.front();
}

void Verified::add(const PointRows& found) {
  for (const Row& row : found.rows) {
    ++rows_;
    for (const Measurement* cell : {&row.out_of_place, &row.in_place}) {
      calls_ += cell->calls;
      verified_ += cell->verified_calls;
    }
  }
  if (wrong_.empty() && !found.wrong.empty()) wrong_ = found.wrong.front();
}

Check Verified::check(const std::string& id, const std::string& subject) const {
  const std::string begin = subject.empty() ? "" : subject + ": ";
  Check check{.id = id,
              .verdict = Verdict::pass,
              .reason = "OK",
              .text = fmt::format("{}{} right, {} of {} verified", begin, counted(rows_, "row"),
                                  verified_, counted(calls_, "call")),
              .numbers = {{"rows", static_cast<double>(rows_)},
                          {"verified_calls", static_cast<double>(verified_)}}};
  if (!wrong_.empty())
    check.set(Verdict::fail, "WRONG_DATA", begin + wrong_);
  else if (verified_ == 0)
    check.set(Verdict::inconclusive, "NOT_VERIFIED", begin + "no call could be verified");
  return check;
}

Hosts::Hosts(const RankTable& table) {
  std::map<std::string, int> by_place, by_name;
  const std::vector<std::string> places = table.places();
  for (std::size_t r = 0; r < places.size(); ++r) {
    const auto [known, fresh] = by_place.try_emplace(places[r], number());
    if (fresh) {
      const std::string& name = table.ranks[r].host;
      const int same = ++by_name[name];
      all_.push_back({same == 1 ? name : fmt::format("{}#{}", name, same), {}});
    }
    all_[static_cast<std::size_t>(known->second)].ranks.push_back(static_cast<int>(r));
  }
}

int Hosts::most_ranks() const {
  std::size_t most = 0;
  for (const Host& host : all_) most = std::max(most, host.ranks.size());
  return static_cast<int>(most);
}

std::vector<int> Hosts::everybody() const { return first_numbers(all_.size()); }

std::vector<std::vector<int>> Hosts::group_of(const std::vector<int>& hosts) const {
  if (hosts.size() == all_.size()) return {};
  return {ranks_of(hosts)};
}

std::vector<int> Hosts::ranks_of(const std::vector<int>& hosts) const {
  std::vector<int> ranks;
  for (const int host : hosts)
    ranks.insert(ranks.end(), (*this)[host].ranks.begin(), (*this)[host].ranks.end());
  std::ranges::sort(ranks);
  return ranks;
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(UseGroups, groups)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MeasureRows, program, type, op, bytes, every_call)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TimeMessages, pairs, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DescribeHost, interface)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HostDescription, facts, throttled_wires, wire_rate, nvlink_rate)

Team::Team(Rank& rank, const Options& options, verify::PatternCache& patterns,
           const HostProbe& host)
    : rank_(rank), given_(options), patterns_(patterns), host_(host) {
  given_.output.raw = true;  // keeps every stamp
  options_ = given_;
  carry_out(UseGroups{});
  // Single times on simulated ranks would have what a barrier leaves them apart by, and none would differ by chance.
  one_by_one_ = !runner_->has_intervals() && !rank.process().options.simulated();
}

const Capabilities& Team::library() const { return runner_->communicator().capabilities(); }

void Team::carry_out(const UseGroups& order) {
  if (runner_) runner_->close();
  runner_.reset();
  room_.clear();
  whole_ = order.groups.empty();
  const auto all = static_cast<std::size_t>(rank_.ranks());
  groups_ = std::make_unique<RankGroups>(
      whole_ ? std::vector<std::vector<int>>{first_numbers(all)} : order.groups, rank_.ranks());
  runner_ = std::make_unique<BenchmarkRunner>(rank_, options_, *groups_, patterns_);
  table_ = table_with_free_memory(rank_);
}

void Team::follow() {
  while (!ended_) {
    rank_.activity().phase("waiting for what rank 0 asks for next");
    const auto order = from_bytes<Order>(rank_.world().broadcast("", 0));
    try {
      std::visit([this](const auto& one) { carry_out(one); }, order);
    } catch (const TooLarge&) {  // rank 0 says so
    }
  }
}

template <class OneOrder>
auto Team::order(const OneOrder& order) {
  rank_.world().broadcast(to_bytes(Order(order)), rank_.limit_s());
  return carry_out(order);
}

SweepPoint Team::prepare(const Collective& collective, const MeasureRows& row,
                         const RankGroups& groups) {
  options_ = row.every_call ? few_calls(given_) : given_;
  // Single operations where streams have no stamps.
  if (!row.every_call && one_by_one_) options_.measure.samples = true;
  options_.sweep.group_rows = !whole_;
  options_.sweep.types = {row.type};
  options_.sweep.sizes = {row.bytes};
  const SweepPoint point{row.type, row.op, 0, row.bytes, &groups, 0};
  const std::string room =
      fmt::format("{} {} {} {}", collective.name, name(row.type), row.bytes, row.every_call);
  if (room == room_) return point;
  SizePlan plan;
  try {
    plan = plan_sizes(collective, options_, table_, groups, rank_.process().staging.buffers,
                      rank_.process().backend.info());
  } catch (const Unsupported& e) {
    throw TooLarge(e.what());
  }
  runner_->reserve(collective, {{row.type}, plan.sizes, plan.slots, {groups}, {}});
  room_ = room;
  return point;
}

PointRows Team::carry_out(const MeasureRows& order) {
  const Collective& collective = program_named(order.program);
  return runner_->run(collective, prepare(collective, order, *groups_));
}

std::vector<Measurement> Team::carry_out(const TimeMessages& order) {
  const RankGroups pairs(order.pairs, rank_.ranks());
  return runner_->times(one_way, prepare(one_way, {.bytes = order.bytes}, pairs));
}

std::vector<HostDescription> Team::carry_out(const DescribeHost& order) {
  return gather_values(rank_, host_.describe(order.interface));
}

std::vector<Counters> Team::carry_out(const ReadCounters& /*order*/) {
  return gather_values(rank_, host_.counters());
}

void Team::carry_out(const End& /*order*/) {
  runner_->close();
  ended_ = true;
}

void Team::use_groups(std::vector<std::vector<int>> groups) {
  if (whole_ && groups.empty()) return;
  order(UseGroups{std::move(groups)});
}

PointRows Team::rows(const Collective& program, std::size_t bytes, double budget_s) {
  runner_->set_budget(budget_s);
  return order(
      MeasureRows{std::string(program.name), usual_type(program), usual_op(program), bytes});
}

PointRows Team::checked_rows(const Collective& program, DataType type, std::optional<ReduceOp> op,
                             std::size_t bytes) {
  return order(MeasureRows{std::string(program.name), type, op, bytes, true});
}

std::vector<Measurement> Team::times(std::vector<std::vector<int>> pairs, std::size_t bytes,
                                     double budget_s) {
  use_groups({});
  runner_->set_budget(budget_s);
  return order(TimeMessages{std::move(pairs), bytes});
}

std::vector<HostDescription> Team::descriptions(const std::string& interface) {
  return order(DescribeHost{interface});
}

std::vector<Counters> Team::counters() { return order(ReadCounters{}); }

void Team::end() { order(End{}); }

std::optional<std::string> why_never(const Collective& program, Team& team) {
  if (program.needs.host_memory && team.rank().process().staging.buffers != Memory::host)
    return "needs buffers in host memory; use --memory host";
  return team.library().why_not(operations_of(program));
}

std::optional<std::string> why_not(const Collective& program, Team& team, int ranks) {
  const Capabilities& library = team.library();
  if (auto why = why_never(program, team)) return why;
  if (auto why = library.why_not(usual_type(program), usual_op(program))) return why;
  constexpr std::size_t many = 1 << 20;  // elements
  const Shape shape{many, size_of(usual_type(program)), {0, ranks, 0}, team.spec()};
  return program.unsupported == nullptr ? std::nullopt : program.unsupported(shape);
}

}  // namespace ccl_tests::acceptance
