#include "tools/acceptance/plan/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
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
  if (const auto whole = node.value_exact<std::int64_t>()) return fmt::format("{}", *whole);
  if (const auto number = node.value<double>()) return fmt::format("{}", *number);
  throw UsageError("a text or a number is expected");
}

// A table of a plan's file. Each function reads a key, if it is there; keys that none reads are refused. What is
// not accepted throws UsageError with the file's name, the line, the key, and what is.
class PlanTable {
 public:
  // source: what messages call the file; where: the tables around this one, each with a full stop behind it.
  PlanTable(const toml::table& table, std::string source, std::string where)
      : table_(table), source_(std::move(source)), where_(std::move(where)) {}

  const toml::node* find(const char* key) {  // null: it is not there
    if (std::ranges::find(keys_, key) == keys_.end()) keys_.emplace_back(key);
    return table_.get(key);
  }
  // Reads a text that is not empty.
  void word(const char* key, std::string& value) {
    const toml::node* const node = find(key);
    if (node == nullptr) return;
    value = node->value_exact<std::string>().value_or("");
    if (value.empty()) fail(*node, key, "accepted: a text, \"...\"");
  }
  // Reads a text, or a number as its text.
  template <class T, class Parse>
  void read(const char* key, T& value, Parse parse) {
    if (const toml::node* const node = find(key)) value = parsed(*node, key, parse);
  }
  template <class T, class Parse>
  void list(const char* key, std::vector<T>& values, Parse parse) {
    const toml::node* const node = find(key);
    if (node == nullptr) return;
    if (!node->is_array()) fail(*node, key, "accepted: a list, [\"...\", \"...\"]");
    values.clear();
    for (const toml::node& item : *node->as_array()) values.push_back(parsed(item, key, parse));
  }
  void flag(const char* key, bool& value) {
    const toml::node* const node = find(key);
    if (node == nullptr) return;
    const auto given = node->value_exact<bool>();
    if (!given) fail(*node, key, "accepted: true and false");
    value = *given;
  }
  // Reads lists of hosts' names, each host in one.
  void racks(const char* key, std::vector<std::vector<std::string>>& racks) {
    const toml::node* const node = find(key);
    if (node == nullptr) return;
    constexpr const char* accepted = "accepted: a list of lists of hosts' names";
    if (!node->is_array()) fail(*node, key, accepted);
    std::set<std::string> seen;
    for (const toml::node& rack : *node->as_array()) {
      if (!rack.is_array() || rack.as_array()->empty()) fail(rack, key, accepted);
      racks.emplace_back();
      for (const toml::node& host : *rack.as_array()) {
        const auto name = host.value_exact<std::string>();
        if (!name) fail(rack, key, accepted);
        if (!seen.insert(*name).second)
          fail(rack, key, quote(*name) + " is there twice; accepted: each host in one");
        racks.back().push_back(*name);
      }
    }
  }
  // Calls take for the table of that name, or for each table of an array of them.
  void tables(const char* key, const std::function<void(PlanTable&)>& take) {
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
  void refuse_other_keys() const {
    for (const auto& [key, node] : table_)
      if (std::ranges::find(keys_, key.str()) == keys_.end())
        throw UsageError(fmt::format("{}:{}: no key {}{}; accepted: {}", source_,
                                     node.source().begin.line, where_, std::string(key.str()),
                                     fmt::join(keys_, ", ")));
  }

 private:
  template <class Parse>
  auto parsed(const toml::node& node, const char* key, Parse parse) const {
    try {
      return parse(text_of(node));
    } catch (const UsageError& e) {
      fail(node, key, e.what());
    }
  }
  [[noreturn]] void fail(const toml::node& node, const char* key, const std::string& why) const {
    throw UsageError(
        fmt::format("{}:{}: {}{}: {}", source_, node.source().begin.line, where_, key, why));
  }

  const toml::table& table_;
  std::string source_, where_;
  std::vector<std::string> keys_;
};

// Returns why no row of the stage is held to the limit; empty: one is.
std::string why_not_measured(const RateLimit& limit, const RatePlan& stage) {
  if (!stage.run) return "the stage is left out; accepted: run = true";
  const auto& programs = stage.programs;
  if (std::ranges::find(programs, limit.program) == programs.end())
    return fmt::format("the stage does not run it; accepted: {}", fmt::join(programs, ", "));
  const auto& sizes = stage.sizes;
  if (limit.bytes == 0 || std::ranges::find(sizes, limit.bytes) != sizes.end()) return {};
  return "the stage does not have the size; accepted: " + sizes_text(sizes);
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
      throw UsageError(
          fmt::format("{}: the limit of {} in {}: {}", source, limit->row(), limit->stage, why));
  }
}

// sized: only those that have rows of any size, and so a bandwidth.
std::vector<std::string> program_names(bool sized) {
  std::vector<std::string> names;
  for (const Collective* one : collectives::all()) {
    const bool any_size =
        one->domain.sweeps && !one->domain.fixed_bytes && !one->needs.synchronizes;
    if (!one->domain.paired && (any_size || !sized)) names.emplace_back(one->name);
  }
  return names;
}

std::string program_of(const std::string& text) { return parse_name(text, program_names(false)); }

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
  r.list("programs", plan.programs, program_of);
  r.list("sizes", plan.sizes, message_size);
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
  r.read("program", plan.program,
         [](const std::string& text) { return parse_name(text, program_names(true)); });
  r.read("size", plan.bytes, message_size);
  r.read("min_efficiency", plan.min_efficiency, share_of);
  r.flag("find", plan.find);
}

void read_limit(PlanTable& r, RateLimit& limit) {
  r.read("stage", limit.stage, [](const std::string& text) {
    return parse_name(text, {"node", "full"});
  });
  r.read("program", limit.program, program_of);
  r.read("size", limit.bytes, parse_size);
  r.read("min_busbw", limit.min_busbw, parse_bandwidth);
  r.read("warn_busbw", limit.warn_busbw, parse_bandwidth);
  r.read("max_time", limit.max_time_s, seconds_of);
}

// The names and texts of plans: what the machines of one kind are known to reach, with where that is published.
constexpr std::pair<std::string_view, std::string_view> builtins[] = {
    {"generic", ""},
    {"quick", R"(
scaling = { run = false }
full = { programs = ["all_reduce"], sizes = ["8", "1M"], seconds = "0.3" }
)"},
    // 460: Azure/azurehpc-health-checks conf/nd96isr_h100_v5.conf, one host of 8 GPUs, 16 GB. 450 and 400:
    // Azure/ai-infrastructure-on-azure, its performance baseline of this machine.
    {"azure-h100", R"(
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
    {"aws-h100-efa", R"(
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

}  // namespace

std::string RateLimit::row() const {
  return bytes > 0 ? fmt::format("{} {}", program, size_text(bytes)) : program;
}

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

Plan parse_plan(const std::string& text, const std::string& source) {
  toml::table table;
  try {
    table = toml::parse(text, source);
  } catch (const toml::parse_error& e) {
    throw UsageError(
        fmt::format("{}:{}: not TOML: {}; accepted: lines such as size = \"8M\" and [pairs]",
                    source, e.source().begin.line, std::string(e.description())));
  }
  Plan plan;
  plan.digest = text_digest(text);
  PlanTable r(table, source, "");
  r.word("name", plan.name);
  r.word("interface", plan.interface);
  plan.same_given = r.find("same") != nullptr;
  r.list("same", plan.same, [](const std::string& fact) { return fact; });
  r.racks("racks", plan.racks);
  r.tables("sanity", [&](PlanTable& stage) { stage.flag("run", plan.sanity); });
  r.tables("node", [&](PlanTable& stage) { read_rates(stage, plan.node); });
  r.tables("pairs", [&](PlanTable& stage) { read_pairs(stage, plan.pairs); });
  r.tables("full", [&](PlanTable& stage) { read_rates(stage, plan.full); });
  r.tables("scaling", [&](PlanTable& stage) { read_scaling(stage, plan.scaling); });
  r.tables("soak", [&](PlanTable& stage) {
    bool run = true;
    stage.flag("run", run);
    stage.read("seconds", plan.soak_s, seconds_of);
    if (run && plan.soak_s <= 0)
      throw UsageError(source + ": soak: for how long? accepted: seconds, or run = false");
    if (!run) plan.soak_s = 0;
  });
  r.tables("limit", [&](PlanTable& one) { read_limit(one, plan.limits.emplace_back()); });
  r.refuse_other_keys();
  if (plan.full.sizes.empty() || plan.full.programs.empty() || plan.node.sizes.empty() ||
      plan.node.programs.empty())
    throw UsageError(source + ": programs and sizes must not be empty; accepted: run = false");
  check_limits(plan, source);
  return plan;
}

std::string sizes_text(const std::vector<std::size_t>& sizes) {
  std::vector<std::string> texts;
  for (const std::size_t bytes : sizes) texts.push_back(size_text(bytes));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::size_t largest(const RatePlan& plan) { return *std::ranges::max_element(plan.sizes); }

std::vector<std::string> builtin_plans() {
  std::vector<std::string> names;
  for (const auto& [name, text] : builtins) names.emplace_back(name);
  return names;
}

Plan plan_of(const std::string& name_or_file) {
  for (const auto& [name, builtin] : builtins) {
    if (name != name_or_file) continue;
    Plan plan = parse_plan(std::string(builtin), name_or_file);
    plan.name = name;
    return plan;
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
