#include "tools/acceptance/stages/counted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ccl_tests::acceptance {
namespace {

// Bytes, and segments that TCP sends again on every busy network.
bool is_trouble(std::string_view name) {
  return !name.starts_with("sent ") && !name.starts_with("received ") && name != "retransmits";
}

}  // namespace

void HostCount::go_on() { begin_ = hosts_.of_leaders(team_.counters()); }

void HostCount::pause() {
  const std::vector<Counters> now = hosts_.of_leaders(team_.counters());
  counted_.resize(now.size());
  for (std::size_t h = 0; h < now.size(); ++h)
    for (const auto& [name, value] : now[h])  // of one that was not known then, nothing is known
      if (const auto then = begin_[h].find(name); then != begin_[h].end())
        counted_[h][name] += value - std::min(value, then->second);
}

std::vector<Check> error_checks(std::string_view stage, const Hosts& hosts,
                                const std::vector<Counters>& counted) {
  std::vector<Check> checks;
  for (int h = 0; h < hosts.number(); ++h) {
    const std::string& name = hosts[h].name;
    Check wires{.id = fmt::format("{}/errors/{}", stage, name),
                .subject = "host " + name,
                .verdict = Verdict::warn,
                .reason = "LINK_ERRORS"};
    Check gpus{.id = fmt::format("{}/gpus/{}", stage, name),
               .subject = "host " + name,
               .verdict = Verdict::warn,
               .reason = "GPU_ERRORS"};
    for (const auto& [counter, value] : counted.at(static_cast<std::size_t>(h))) {
      if (value == 0 || !is_trouble(counter)) continue;
      const bool of_gpu = counter.find(" gpu ") != std::string::npos;
      std::string& text = of_gpu ? gpus.text : wires.text;
      text += fmt::format("{}{} {}", text.empty() ? "counted during this stage: " : ", ", value,
                          counter);
      if (counter.starts_with("uncorrected memory errors")) gpus.verdict = Verdict::fail;
    }
    for (Check* check : {&wires, &gpus})
      if (!check->text.empty()) checks.push_back(std::move(*check));
  }
  return checks;
}

std::vector<Counters> counted_during(Context& context, std::string_view stage,
                                     const std::function<void()>& work) {
  HostCount count(context.team, context.hosts);
  work();
  count.pause();
  for (Check& check : error_checks(stage, context.hosts, count.counted()))
    context.journal.add(std::move(check));
  return count.counted();
}

}  // namespace ccl_tests::acceptance
