#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include "src/report/text.hpp"
#include "tools/acceptance/report/html_parts.hpp"
#include "tools/acceptance/report/words.hpp"

namespace ccl_tests::acceptance {
namespace {

constexpr std::size_t most_values = 12;  // of a fact; an address differs on each host
constexpr std::size_t most_names = 16;   // of a usual value
constexpr std::size_t digits_of_number = 9;

// Hosts by what they say of one fact; nothing: the host does not say.
using Values = std::map<std::optional<std::string>, std::vector<std::string>>;

std::map<std::string, Values> facts_of(const std::vector<Host>& hosts) {
  std::set<std::string> keys;
  for (const Host& host : hosts)
    for (const auto& fact : host.facts) keys.insert(fact.first);
  std::map<std::string, Values> all;
  for (const std::string& key : keys)
    for (const Host& host : hosts) {
      const auto found = host.facts.find(key);
      all[key][found == host.facts.end() ? std::optional<std::string>() : found->second].push_back(
          host.name);
    }
  return all;
}

// A name's part before its last digits, and these as a number.
std::pair<std::string, std::optional<unsigned>> parts(const std::string& name) {
  std::size_t begin = name.size();
  while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9') --begin;
  if (begin == name.size() || name.size() - begin > digits_of_number) return {name, std::nullopt};
  unsigned number = 0;
  std::from_chars(name.data() + begin, name.data() + name.size(), number);
  return {name.substr(0, begin), number};
}

// A fact's values, the rarest first: a host that is alone is what the reader looks for.
std::vector<std::pair<std::optional<std::string>, std::vector<std::string>>> rarest_first(
    const Values& values) {
  std::vector<std::pair<std::optional<std::string>, std::vector<std::string>>> all(values.begin(),
                                                                                   values.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  return all;
}

std::string differing_fact(const std::string& key, const Values& values, std::size_t hosts) {
  const auto all = rarest_first(values);
  const std::size_t shown = all.size() > most_values ? most_values / 2 : all.size();
  const std::size_t lines = shown + (shown < all.size() ? 1 : 0);
  const bool has_usual = all.back().second.size() * 2 > hosts;
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [value, names] = all[i];
    const bool odd = has_usual && i + 1 < all.size();
    const bool others = has_usual && !odd && names.size() > most_names;
    text += "<tr>";
    if (i == 0)
      text += fmt::format("<th scope=\"rowgroup\" class=\"fact\" rowspan=\"{}\">{}</th>", lines,
                          xml_text(key));
    text += fmt::format(
        "<td class=\"value code{}\">{}</td><td class=\"num\">{}</td><td class=\"words\">{}</td></tr>\n",
        odd ? " odd" : "", value ? xml_text(*value) : "<em>not said</em>", names.size(),
        others ? "all others" : xml_text(name_ranges(names)));
  }
  if (shown < all.size())
    text += fmt::format(
        "<tr><td colspan=\"3\">and {} more values; the verdict file has them</td></tr>\n",
        all.size() - shown);
  return "<tbody>" + text + "</tbody>\n";
}

// Of an address, each host has its own: that says nothing, and stands below what does.
std::string fact_of_its_own(const std::string& key, const Values& values) {
  const auto& first = *values.begin();
  return fmt::format(
      "<tbody><tr><th scope=\"row\" class=\"fact\">{}</th><td colspan=\"3\">another value on each "
      "host; {} on {}</td></tr></tbody>\n",
      xml_text(key), first.first ? xml_text(*first.first) : "nothing", xml_text(first.second[0]));
}

std::string entry(std::string_view term, const std::string& text) {
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", xml_text(term),
                     text.empty() ? "not recorded" : xml_text(text));
}

std::string rank_ranges(const std::vector<int>& ranks) {
  std::vector<std::string> names;
  for (const int rank : ranks) names.push_back(std::to_string(rank));
  return names.empty() ? "no ranks" : (ranks.size() == 1 ? "rank " : "ranks ") + name_ranges(names);
}

}  // namespace

std::string name_ranges(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size();) {
    const auto first = parts(names[i]);
    std::size_t end = i + 1;
    for (; first.second && end < names.size(); ++end) {
      const auto next = parts(names[end]);
      if (next.first != first.first || next.second != *first.second + (end - i)) break;
    }
    if (end - i == 2) end = i + 1;
    text += (text.empty() ? "" : ", ") + names[i];
    if (end - i > 2) text += " to " + names[end - 1];
    i = end;
  }
  return text;
}

std::string hosts_section(const Record& record) {
  if (record.hosts.empty()) return "<h2>Hosts</h2>\n<p class=\"empty\">No host is known.</p>\n";
  std::string different, own, alike;
  for (const auto& [key, values] : facts_of(record.hosts)) {
    if (values.size() == record.hosts.size() && values.size() > 2)
      own += fact_of_its_own(key, values);
    else if (values.size() > 1)
      different += differing_fact(key, values, record.hosts.size());
    else
      alike += entry(key, *values.begin()->first);
  }
  different += own;
  std::string text;
  if (record.hosts.size() > 1) text += "<h2>What differs between hosts</h2>\n";
  if (!different.empty())
    text +=
        "<table class=\"facts-table\"><thead><tr><th>Fact</th><th>Value</th><th class=\"num\">Hosts"
        "</th><th>Which</th></tr></thead>\n" +
        different + "</table>\n";
  else if (record.hosts.size() > 1)
    text += fmt::format("<p>{}</p>\n", alike.empty() ? "No host said anything of itself."
                                                     : "No fact differs between hosts.");
  if (!alike.empty())
    text += fmt::format("<h2>{}</h2>\n<dl class=\"facts\">{}</dl>\n",
                        record.hosts.size() == 1 ? "Facts of the host" : "The same on all hosts",
                        alike);
  text += "<h2>Hosts and their ranks</h2>\n<ul class=\"hosts\">";
  for (const Host& host : record.hosts)
    text += fmt::format("<li><strong>{}</strong> {}</li>\n", xml_text(host.name),
                        rank_ranges(host.ranks));
  return text + "</ul>\n";
}

std::string environment_section(const Record& record) {
  std::string text = "<h2>Environment and versions</h2>\n<dl class=\"facts\">";
  text += entry("command", record.command) + entry("plan", record.plan) +
          entry("ccl-tests", record.version) + entry("backend", record.backend) +
          entry("library", record.library) + entry("launcher", record.launcher) +
          entry("seed", std::to_string(record.seed)) + entry("begun", utc_text(record.begin_s)) +
          entry("ended", record.complete ? utc_text(record.end_s)
                                         : utc_text(record.end_s) + ", before the plan's end");
  return text + "</dl>\n";
}

}  // namespace ccl_tests::acceptance
