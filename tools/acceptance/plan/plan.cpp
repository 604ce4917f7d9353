#include "tools/acceptance/plan/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "collectives/collectives.hpp"
#include "src/core/error.hpp"
#include "src/core/given_file.hpp"
#include "src/core/quote.hpp"
#include "src/core/sha256.hpp"
#include "src/options/values.hpp"

namespace ccl_tests::acceptance {

namespace {

std::string text_of(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto number = node.value<double>()) return fmt::format("{}", *number);
  throw UsageError("a text or a number is expected");
}

}  // namespace

PlanTable::PlanTable(const toml::table& table, std::string source, std::string where)
    : table_(table), source_(std::move(source)), where_(std::move(where)) {}

void PlanTable::word(const char* key, const Take& take) {
  const toml::node* const node = find(key);
  if (node == nullptr) return;
  const auto given = node->value_exact<std::string>();
  if (!given || given->empty()) fail(*node, key, "accepted: a text, \"...\"");
  take(*given);
}

void PlanTable::text(const char* key, const Take& take) {
  if (const toml::node* node = find(key)) in_line(*node, key, [&] { take(text_of(*node)); });
}

void PlanTable::flag(const char* key, bool& value) {
  const toml::node* const node = find(key);
  if (node == nullptr) return;
  const auto given = node->value_exact<bool>();
  if (!given) fail(*node, key, "accepted: true and false");
  value = *given;
}

void PlanTable::list(const char* key, const Take& take) {
  const toml::node* const node = find(key);
  if (node == nullptr) return;
  if (!node->is_array()) fail(*node, key, "accepted: a list, [\"...\", \"...\"]");
  for (const toml::node& item : *node->as_array()) in_line(item, key, [&] { take(text_of(item)); });
}

void PlanTable::tables(const char* key, const std::function<void(PlanTable&)>& take) {
  const toml::node* const node = find(key);
  if (node == nullptr) return;
  const auto one = [&](const toml::node& item) {
    if (!item.is_table()) fail(item, key, "accepted: a table");
    PlanTable table(*item.as_table(), source_, where_ + key + ".");
    take(table);
    table.refuse_other_keys();
  };
  if (const toml::array* const array = node->as_array()) {
    for (const toml::node& item : *array) one(item);
  } else {
    one(*node);
  }
}

const toml::node* PlanTable::find(const char* key) {
  if (std::find(keys_.begin(), keys_.end(), key) == keys_.end()) keys_.emplace_back(key);
  return table_.get(key);
}

void PlanTable::refuse_other_keys() const {
  for (const auto& [key, node] : table_) {
    if (std::find(keys_.begin(), keys_.end(), key.str()) != keys_.end()) continue;
    throw UsageError(fmt::format("{}:{}: no key {}{}; accepted: {}", source_,
                                 node.source().begin.line, where_, std::string(key.str()),
                                 fmt::join(keys_, ", ")));
  }
}

void PlanTable::in_line(const toml::node& node, const char* key,
                        const std::function<void()>& read) const {
  try {
    read();
  } catch (const UsageError& e) {
    fail(node, key, e.what());
  }
}

void PlanTable::fail(const toml::node& node, const char* key, const std::string& why) const {
  throw UsageError(
      fmt::format("{}:{}: {}{}: {}", source_, node.source().begin.line, where_, key, why));
}

namespace {

// Why no row of the stage is held to the limit; empty: one is.
std::string why_not_measured(const RateLimit& limit, const RatePlan& stage) {
  if (!stage.run) return "the stage is left out; accepted: run = true";
  const auto& programs = stage.programs;
  if (std::find(programs.begin(), programs.end(), limit.program) == programs.end())
    return fmt::format("the stage does not run it; accepted: {}", fmt::join(programs, ", "));
  const auto& sizes = stage.sizes;
  if (limit.bytes == 0 || std::find(sizes.begin(), sizes.end(), limit.bytes) != sizes.end())
    return {};
  std::vector<std::string> texts;
  for (const std::size_t bytes : sizes) texts.push_back(size_text(bytes));
  return fmt::format("the stage does not have the size; accepted: {}", fmt::join(texts, ", "));
}

void check_limits(const Plan& plan, const std::string& source) {
  for (auto limit = plan.limits.begin(); limit != plan.limits.end(); ++limit) {
    if (limit->program.empty() ||
        (limit->min_busbw <= 0 && limit->warn_busbw <= 0 && limit->max_time_s <= 0))
      throw UsageError(source + ": a limit needs program, and min_busbw, warn_busbw or max_time");
    if (limit->warn_busbw > 0 && limit->warn_busbw <= limit->min_busbw)
      throw UsageError(fmt::format(
          "{}: the limit of {} in {}: warn_busbw is not above min_busbw, and would never warn",
          source, limit->program, limit->stage));
    const bool twice = std::any_of(plan.limits.begin(), limit, [&](const RateLimit& other) {
      return other.stage == limit->stage && other.program == limit->program &&
             other.bytes == limit->bytes;
    });
    if (twice)
      throw UsageError(
          fmt::format("{}: two limits of {} in {}", source, limit->program, limit->stage));
    const std::string why =
        why_not_measured(*limit, limit->stage == "node" ? plan.node : plan.full);
    if (!why.empty())
      throw UsageError(fmt::format("{}: the limit of {}{} in {}: {}", source, limit->program,
                                   limit->bytes > 0 ? ' ' + size_text(limit->bytes) : "",
                                   limit->stage, why));
  }
}

std::vector<std::string> program_names() {
  std::vector<std::string> names;
  for (const Collective* collective : collectives::all())
    if (!collective->domain.paired) names.emplace_back(collective->name);
  return names;
}

// Those that have rows of any size, and so a bandwidth.
std::vector<std::string> names_of_sized_programs() {
  std::vector<std::string> names;
  for (const Collective* one : collectives::all())
    if (!one->domain.paired && one->domain.sweeps && !one->domain.fixed_bytes &&
        !one->needs.synchronizes)
      names.emplace_back(one->name);
  return names;
}

double seconds_of(const std::string& text) {
  constexpr double longest_s = 7 * 24 * 3600;
  const double seconds = duration()(text);
  if (!(seconds > 0 && seconds <= longest_s))
    throw UsageError(fmt::format("{}; accepted: above 0 and up to a week", quote(text)));
  return seconds;
}

std::size_t message_size(const std::string& text) {
  constexpr std::size_t least = 4;  // an element
  const std::size_t bytes = parse_size(text);
  if (bytes < least) throw UsageError(fmt::format("{}; accepted: 4 and above", quote(text)));
  return bytes;
}

double share_of(const std::string& text) {
  const bool percent = text.ends_with('%');
  const std::size_t end = percent ? text.find_last_not_of("% ") + 1 : text.size();
  const double value = parse_number(text.substr(0, end), 0);
  const double share = percent ? value / 100 : value;
  if (!(share > 0 && share < 1))
    throw UsageError(fmt::format("{}; accepted: above 0 and below 100 %", quote(text)));
  return share;
}

void read_rates(PlanTable& r, RatePlan& plan) {
  r.flag("run", plan.run);
  if (r.find("programs") != nullptr) plan.programs.clear();
  r.list("programs", [&](const std::string& text) {
    plan.programs.push_back(parse_name(text, program_names()));
  });
  if (r.find("sizes") != nullptr) plan.sizes.clear();
  r.list("sizes", [&](const std::string& text) { plan.sizes.push_back(message_size(text)); });
  r.read("seconds", plan.seconds, seconds_of);
}

void read_pairs(PlanTable& r, PairsPlan& plan) {
  r.flag("run", plan.run);
  r.read("size", plan.bytes, message_size);
  r.read("seconds", plan.seconds, seconds_of);
  r.read("slowdown", plan.slowdown, share_of);
  r.read("min_bandwidth", plan.min_bandwidth, parse_bandwidth);
  r.read("efficiency", plan.efficiency, share_of);
  r.flag("links", plan.links);
  if (r.find("rails") != nullptr) r.flag("rails", plan.rails.emplace());
}

void read_scaling(PlanTable& r, ScalingPlan& plan) {
  r.flag("run", plan.run);
  r.text("program", [&](const std::string& text) {
    plan.program = parse_name(text, names_of_sized_programs());
  });
  r.read("size", plan.bytes, message_size);
  r.read("min_efficiency", plan.min_efficiency, share_of);
  r.flag("find", plan.find);
}

void read_limit(PlanTable& r, RateLimit& limit) {
  r.text("stage", [&](const std::string& text) {
    limit.stage = parse_name(text, {"node", "full"});
  });
  r.text("program",
         [&](const std::string& text) { limit.program = parse_name(text, program_names()); });
  r.read("size", limit.bytes, parse_size);
  r.read("min_busbw", limit.min_busbw, parse_bandwidth);
  r.read("warn_busbw", limit.warn_busbw, parse_bandwidth);
  r.read("max_time", limit.max_time_s, seconds_of);
}

void read_racks(const toml::table& table, const std::string& source, Plan& plan) {
  const toml::array* const racks = table.get_as<toml::array>("racks");
  if (racks == nullptr) {
    if (table.contains("racks"))
      throw UsageError(source + ": racks: accepted: a list of lists of hosts' names");
    return;
  }
  std::set<std::string> seen;
  for (const toml::node& rack : *racks) {
    std::vector<std::string> hosts;
    const toml::array* const names = rack.as_array();
    for (std::size_t k = 0; names != nullptr && k < names->size(); ++k)
      if (const auto name = (*names)[k].value_exact<std::string>()) hosts.push_back(*name);
    if (names == nullptr || hosts.empty() || hosts.size() != names->size())
      throw UsageError(fmt::format("{}:{}: racks: accepted: a list of lists of hosts' names",
                                   source, rack.source().begin.line));
    for (const std::string& host : hosts)
      if (!seen.insert(host).second)
        throw UsageError(fmt::format("{}:{}: racks: {} is there twice; accepted: each host in one",
                                     source, rack.source().begin.line, quote(host)));
    plan.racks.push_back(std::move(hosts));
  }
}

// What the machines of one kind are known to reach, with where that is published.
struct Builtin {
  std::string_view name, text;
};
constexpr std::array builtins = {
    Builtin{"generic", ""},
    Builtin{"quick", R"(
scaling = { run = false }
full = { programs = ["all_reduce"], sizes = ["8", "1M"], seconds = "0.3" }
)"},
    // 460: Azure/azurehpc-health-checks conf/nd96isr_h100_v5.conf, one host of 8 GPUs, 16 GB. 450 and 400:
    // Azure/ai-infrastructure-on-azure, its performance baseline of this machine.
    Builtin{"azure-h100", R"(
node = { programs = ["all_reduce"], sizes = ["16G"], seconds = "5" }
full = { programs = ["all_reduce"], sizes = ["8", "1M", "16G"], seconds = "5" }
[[limit]]
stage = "node"
program = "all_reduce"
size = "16G"
min_busbw = "460 GB/s"
[[limit]]
stage = "full"
program = "all_reduce"
size = "16G"
warn_busbw = "400 GB/s"
min_busbw = "300 GB/s"
)"},
    // 487.9, 338.6 and 79.1 GB/s at 16 GB are what NVIDIA's cluster-readiness-engine published for two
    // hosts with H100 and EFA (validation-results.md); a tenth less is accepted.
    Builtin{"aws-h100-efa", R"(
full = { programs = ["all_reduce", "all_gather", "alltoall"], sizes = ["8", "1M", "16G"], seconds = "5" }
[[limit]]
stage = "full"
program = "all_reduce"
size = "16G"
min_busbw = "439 GB/s"
[[limit]]
stage = "full"
program = "all_gather"
size = "16G"
min_busbw = "304 GB/s"
[[limit]]
stage = "full"
program = "alltoall"
size = "16G"
min_busbw = "71 GB/s"
)"},
};

Plan defaults() {
  Plan plan;
  plan.node.programs = {"all_reduce"};
  plan.node.sizes = {std::size_t{64} << 20};
  plan.full.programs = {"all_reduce", "all_gather", "reduce_scatter", "alltoall"};
  plan.full.sizes = {8, std::size_t{1} << 20, std::size_t{64} << 20};
  return plan;
}

}  // namespace

double parse_bandwidth(const std::string& text) {
  static const std::map<std::string, double> units = {
      {"GB/s", 1e9},       {"MB/s", 1e6},       {"kB/s", 1e3},    {"TB/s", 1e12},
      {"Gbit/s", 1e9 / 8}, {"Mbit/s", 1e6 / 8}, {"Gb/s", 1e9 / 8}};
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::size_t unit = std::min(text.find_first_not_of(' ', end), text.size());
  const auto found = units.find(text.substr(unit));
  if (end == 0 || found == units.end())
    throw UsageError(fmt::format("{}; accepted: as 360 GB/s or 10 Gbit/s", quote(text)));
  const double rate = parse_number(text.substr(0, end), 0) * found->second;
  if (!(rate > 0)) throw UsageError(fmt::format("{}; accepted: above 0", quote(text)));
  return rate;
}

void set_min_bandwidth(Plan& plan, double rate) {
  if (!plan.pairs.run)
    throw UsageError(
        "--min-bandwidth: the plan measures no pairs; accepted: run = true in [pairs]");
  plan.pairs.min_bandwidth = rate;
  plan.digest = text_digest(fmt::format("{} {}", plan.digest, rate));
}

Plan parse_plan(const std::string& text, const std::string& source) {
  toml::table table;
  try {
    table = toml::parse(text, source);
  } catch (const toml::parse_error& e) {
    throw UsageError(
        fmt::format("{}:{}: not TOML: {}; accepted: lines such as size = \"8M\" and [pairs]",
                    source, e.source().begin.line, std::string(e.description())));
  }
  Plan plan = defaults();
  plan.digest = text_digest(text);
  PlanTable r(table, source, "");
  r.word("name", [&](const std::string& value) { plan.name = value; });
  r.word("interface", [&](const std::string& value) { plan.interface = value; });
  plan.same_given = r.find("same") != nullptr;
  if (plan.same_given) plan.same.clear();
  r.list("same", [&](const std::string& value) { plan.same.push_back(value); });
  r.find("racks");
  read_racks(table, source, plan);
  r.tables("sanity", [&](PlanTable& stage) { stage.flag("run", plan.sanity); });
  r.tables("node", [&](PlanTable& stage) { read_rates(stage, plan.node); });
  r.tables("pairs", [&](PlanTable& stage) { read_pairs(stage, plan.pairs); });
  r.tables("full", [&](PlanTable& stage) { read_rates(stage, plan.full); });
  r.tables("scaling", [&](PlanTable& stage) { read_scaling(stage, plan.scaling); });
  r.tables("soak", [&](PlanTable& stage) {
    bool run = true;
    stage.flag("run", run);
    stage.text("seconds", [&](const std::string& value) { plan.soak.seconds = seconds_of(value); });
    if (run && plan.soak.seconds <= 0)
      throw UsageError(source + ": soak: for how long? accepted: seconds, or run = false");
    if (!run) plan.soak.seconds = 0;
  });
  r.tables("limit", [&](PlanTable& one) {
    RateLimit limit;
    limit.stage = "full";
    read_limit(one, limit);
    plan.limits.push_back(limit);
  });
  r.refuse_other_keys();
  if (plan.full.sizes.empty() || plan.full.programs.empty() || plan.node.sizes.empty() ||
      plan.node.programs.empty())
    throw UsageError(source + ": programs and sizes must not be empty; accepted: run = false");
  check_limits(plan, source);
  return plan;
}

std::size_t largest(const RatePlan& plan) {
  return *std::max_element(plan.sizes.begin(), plan.sizes.end());
}

std::vector<std::string> builtin_plans() {
  std::vector<std::string> names;
  for (const Builtin& plan : builtins) names.emplace_back(plan.name);
  return names;
}

Plan plan_of(const std::string& name_or_file) {
  for (const Builtin& plan : builtins) {
    if (plan.name != name_or_file) continue;
    Plan result = parse_plan(std::string(plan.text), std::string(plan.name));
    result.name = plan.name;
    return result;
  }
  constexpr std::size_t largest_plan = 1 << 20;
  std::string text;
  try {
    text = read_given_file(name_or_file, largest_plan);
  } catch (const Error& e) {
    if (suggestion(name_or_file, builtin_plans()))
      throw UsageError(unknown_name("plan", name_or_file, builtin_plans()));
    throw UsageError(fmt::format("no such plan: {}; accepted: a .toml file, or {}", e.what(),
                                 fmt::join(builtin_plans(), ", ")));
  }
  return parse_plan(text, name_or_file);
}

}  // namespace ccl_tests::acceptance
