#include "tools/acceptance/team.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "src/core/communicator.hpp"
#include "src/core/error.hpp"
#include "src/run/memory_limit.hpp"
#include "tools/acceptance/programs.hpp"

namespace ccl_tests::acceptance {

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
    host_of_.push_back(known->second);
  }
}

std::vector<int> Hosts::everybody() const {
  std::vector<int> all(all_.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<int> Hosts::ranks_of(const std::vector<int>& hosts) const {
  std::vector<int> ranks;
  for (const int host : hosts)
    ranks.insert(ranks.end(), (*this)[host].ranks.begin(), (*this)[host].ranks.end());
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

namespace {

std::string to_text(const Order& o) {
  return nlohmann::json{{"what", o.what},       {"groups", o.groups},
                        {"program", o.program}, {"question", o.question},
                        {"type", name(o.type)}, {"op", o.op ? name(*o.op) : ""},
                        {"bytes", o.bytes},     {"every_call", o.every_call}}
      .dump();
}

Order order_of(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  Order o;
  json.at("what").get_to(o.what);
  json.at("groups").get_to(o.groups);
  json.at("program").get_to(o.program);
  json.at("question").get_to(o.question);
  o.type = parse_type(json.at("type").get<std::string>()).value();
  const auto op = json.at("op").get<std::string>();
  if (!op.empty()) o.op = parse_op(op).value();
  json.at("bytes").get_to(o.bytes);
  json.at("every_call").get_to(o.every_call);
  return o;
}

std::vector<int> everybody(int ranks) {
  std::vector<int> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Every stamp is kept.
Options measured(Options o) {
  o.output.raw = true;
  return o;
}

// A warm-up call, a checked one, and two that are timed for nothing.
Options few_calls(Options o) {
  o.measure.samples = false;
  o.measure.batch = o.measure.warmup_given = true;
  o.measure.warmup = 1;
  o.measure.iterations = 2;
  o.check.all = true;
  return o;
}

}  // namespace

Team::Team(Rank& rank, const Options& options, verify::PatternCache& patterns, Answers answers)
    : rank_(rank),
      given_(measured(options)),
      options_(given_),
      patterns_(patterns),
      answers_(std::move(answers)) {
  connect({});
  // On simulated ranks what a barrier leaves ranks apart by would be in each single time, and none would differ by chance.
  one_by_one_ = !runner_->has_intervals() && !rank.process().options.simulated();
}

Team::~Team() = default;

const Capabilities& Team::library() const { return runner_->communicator().capabilities(); }

void Team::connect(const std::vector<std::vector<int>>& groups) {
  if (runner_) runner_->close();
  runner_.reset();
  room_.clear();
  whole_ = groups.empty();
  groups_ = std::make_unique<RankGroups>(
      groups.empty() ? std::vector<std::vector<int>>{everybody(rank_.ranks())} : groups,
      rank_.ranks());
  runner_ = std::make_unique<BenchmarkRunner>(rank_, options_, *groups_, patterns_);
  table_ = table_with_free_memory(rank_);
}

void Team::follow() {
  while (!ended_) {
    rank_.activity().phase("waiting for what rank 0 asks for next");
    carry_out(order_of(rank_.world().broadcast("", 0)));
  }
}

// Single operations where streams have no stamps.
Options Team::options_of(const Order& order) const {
  Options o = order.every_call ? few_calls(given_) : given_;
  if (!order.every_call && one_by_one_) o.measure.samples = true;
  o.sweep.group_rows = !whole_;
  o.sweep.types = {order.type};
  o.sweep.sizes = {order.bytes};
  return o;
}

Team::Done Team::order(const Order& order) {
  rank_.world().broadcast(to_text(order), rank_.limit_s());
  Done done = carry_out(order);
  if (!done.too_large.empty()) throw TooLarge(done.too_large);
  return done;
}

void Team::make_room(const Collective& collective, DataType type, std::size_t bytes,
                     const RankGroups& groups) {
  const std::string room =
      fmt::format("{} {} {} {}", collective.name, name(type), bytes, options_.check.all);
  if (room == room_) return;
  SizePlan plan;
  try {
    plan = plan_sizes(collective, options_, table_, groups, rank_.process().staging.buffers,
                      rank_.process().backend.info());
  } catch (const Unsupported& e) {
    throw TooLarge(e.what());
  }
  runner_->reserve(collective, {{type}, plan.sizes, plan.slots, {groups}, {}});
  room_ = room;
}

Team::Done Team::carry_out(const Order& o) {
  Done done;
  if (o.what == "end") {
    runner_->close();
    ended_ = true;
  } else if (o.what == "ask") {
    done.answers = rank_.world().gather(answers_(o.question), rank_.limit_s());
  } else if (o.what == "groups") {
    connect(o.groups);
  } else {
    const Collective& collective = program_named(o.program);
    options_ = options_of(o);
    const bool pairs = o.what == "times";
    const RankGroups of_pairs =
        pairs ? RankGroups(o.groups, rank_.ranks()) : RankGroups({{0}}, rank_.ranks());
    const RankGroups& groups = pairs ? of_pairs : *groups_;
    try {
      make_room(collective, o.type, o.bytes, groups);
    } catch (const TooLarge& e) {
      done.too_large = e.what();
      return done;
    }
    const SweepPoint point{o.type, o.op, 0, o.bytes, &groups, 0};
    if (pairs) {
      done.times = runner_->times(collective, point);
    } else {
      done.rows = runner_->run(collective, point);
    }
  }
  return done;
}

void Team::use_groups(std::vector<std::vector<int>> groups) {
  if (whole_ && groups.empty()) return;
  order({.what = "groups", .groups = std::move(groups)});
}

PointRows Team::rows(std::string_view program, DataType type, std::optional<ReduceOp> op,
                     std::size_t bytes, double budget_s) {
  runner_->set_budget(budget_s);
  return order({.what = "rows",
                .program = std::string(program),
                .type = type,
                .op = op,
                .bytes = bytes})
      .rows;
}

PointRows Team::checked_rows(std::string_view program, DataType type, std::optional<ReduceOp> op,
                             std::size_t bytes) {
  return order({.what = "rows",
                .program = std::string(program),
                .type = type,
                .op = op,
                .bytes = bytes,
                .every_call = true})
      .rows;
}

std::vector<Measurement> Team::times(const std::vector<RankPair>& pairs, std::size_t bytes,
                                     double budget_s) {
  if (!whole_) use_groups({});
  Order o{.what = "times", .program = std::string(one_way.name), .bytes = bytes};
  for (const RankPair& pair : pairs) o.groups.push_back({pair.first, pair.second});
  runner_->set_budget(budget_s);
  return order(o).times;
}

std::vector<std::string> Team::ask(const std::string& question) {
  return order({.what = "ask", .question = question}).answers;
}

void Team::end() { order({.what = "end"}); }

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
