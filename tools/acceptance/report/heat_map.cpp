#include "tools/acceptance/report/heat_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "src/record/quantity_text.hpp"
#include "src/report/text.hpp"
#include "tools/acceptance/report/words.hpp"

namespace ccl_tests::acceptance {
namespace {

constexpr double label_height = 12;      // pixels between the lines of two labels
constexpr std::size_t label_bytes = 20;  // of a host's name
constexpr std::size_t hosts_with_titles =
    32;  // above, a title for each cell makes a page of megabytes
constexpr std::size_t hosts_with_numbers = 16;  // above, a number does not fit into a cell

struct Map {
  const PairMatrix& matrix;
  const std::vector<Host>& hosts;
  const Suspects& suspects;
  double median = 0;
  double cell = 0;    // pixels
  double margin = 0;  // pixels for labels, left and above
  std::size_t n() const { return hosts.size(); }
  double side() const { return cell * static_cast<double>(n()); }
  double ratio(std::size_t from, std::size_t to) const {
    return matrix.seconds[from * n() + to] / median;
  }
  double at(std::size_t index) const { return cell * static_cast<double>(index); }
};

std::string label(const Host& host) { return shortened(single_line(host.name), label_bytes); }

// One path for all cells of a step: runs of a row, in units of cells.
std::string paths(const Map& map) {
  std::vector<std::string> of_step(heat_steps().size());
  for (std::size_t i = 0; i < map.n(); ++i)
    for (std::size_t j = 0; j < map.n();) {
      const auto step_of = [&](std::size_t to) {
        return to == i ? -1 : heat_step(map.ratio(i, to));
      };
      const int step = step_of(j);
      std::size_t end = j + 1;
      while (end < map.n() && step_of(end) == step) ++end;
      if (step >= 0)
        of_step.at(static_cast<std::size_t>(step)) +=
            fmt::format("M{} {}h{}v1h-{}z", j, i, end - j, end - j);
      j = end;
    }
  std::string text =
      fmt::format("<g transform=\"scale({:.4g})\" shape-rendering=\"crispEdges\">", map.cell);
  for (std::size_t step = 0; step < of_step.size(); ++step)
    if (!of_step[step].empty())
      text += fmt::format("<path class=\"h{}\" d=\"{}\"/>", step, of_step[step]);
  std::string diagonal;
  for (std::size_t i = 0; i < map.n(); ++i) diagonal += fmt::format("M{} {}h1v1h-1z", i, i);
  return text + fmt::format("<path class=\"hd\" d=\"{}\"/></g>\n", diagonal);
}

std::string cell_title(const Map& map, std::size_t from, std::size_t to) {
  const double seconds = map.matrix.seconds[from * map.n() + to];
  const std::string ends = map.hosts[from].name + " to " + map.hosts[to].name + ": ";
  if (std::isnan(seconds)) return ends + "not measured";
  return ends +
         fmt::format("{}, {:.2f} times the median", seconds_text(seconds), map.ratio(from, to));
}

// Transparent cells over the paths: a title each, and a number if there is room.
std::string titles(const Map& map) {
  if (map.n() > hosts_with_titles) return {};
  std::string text;
  for (std::size_t i = 0; i < map.n(); ++i)
    for (std::size_t j = 0; j < map.n(); ++j) {
      if (i == j) continue;
      const double ratio = map.ratio(i, j);
      text += fmt::format(
          "<g><title>{}</title><rect class=\"hc\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
          "height=\"{:.1f}\"/>",
          xml_text(cell_title(map, i, j)), map.at(j), map.at(i), map.cell, map.cell);
      if (map.n() <= hosts_with_numbers && !std::isnan(ratio))
        text += fmt::format("<text class=\"n{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
                            std::max(0, heat_step(ratio)), map.at(j) + map.cell / 2,
                            map.at(i) + map.cell / 2 + 4,
                            ratio < 9.95  ? fmt::format("{:.1f}", ratio)
                            : ratio < 999 ? fmt::format("{:.0f}", ratio)
                                          : "&gt;999");
      text += "</g>\n";
    }
  return text;
}

// A frame around a suspect's row and column. Where the frame would hide thin rows, wedges beside the
// map point at them.
std::string host_mark(const Map& map, std::size_t host) {
  constexpr double thin = 8;
  if (map.cell >= thin)
    return fmt::format(
        "<rect class=\"mark\" x=\"0\" y=\"{0:.1f}\" width=\"{1:.1f}\" height=\"{2:.1f}\"/>"
        "<rect class=\"mark\" x=\"{0:.1f}\" y=\"0\" width=\"{2:.1f}\" height=\"{1:.1f}\"/>\n",
        map.at(host), map.side(), map.cell);
  const double middle = map.at(host) + map.cell / 2, side = map.side();
  return fmt::format(
      "<path class=\"wedge\" d=\"M0 {0:.1f}l-6 -3v6zM{1:.1f} {0:.1f}l6 -3v6zM{0:.1f} 0l-3 -6h6z"
      "M{0:.1f} {1:.1f}l-3 6h6z\"/>\n",
      middle, side);
}

std::string marks(const Map& map) {
  std::string text;
  for (std::size_t i = 0; i < map.n(); ++i)
    if (map.suspects.hosts[i]) text += host_mark(map, i);
  constexpr double around = 2;
  for (const Link& link : map.suspects.links)
    text += fmt::format(
        "<rect class=\"mark link\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
        map.at(link.to) - around, map.at(link.from) - around, map.cell + 2 * around,
        map.cell + 2 * around);
  return text;
}

std::string labels(const Map& map) {
  std::string text;
  for (const std::size_t i : labelled(map.n(), map.suspects.hosts, map.cell, label_height)) {
    const double middle = map.at(i) + map.cell / 2;
    const bool suspect = map.suspects.hosts[i];
    const std::string_view kind = suspect ? "hl suspect" : "hl";
    const std::string words = xml_text((suspect ? "\xe2\x96\xb8 " : "") + label(map.hosts[i]));
    text += fmt::format("<text class=\"{}\" x=\"-8\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>",
                        kind, middle + 4, words);
    text +=
        fmt::format("<text class=\"{}\" transform=\"translate({:.1f} -8) rotate(-90)\">{}</text>\n",
                    kind, middle + 4, words);
  }
  return text;
}

// On a telephone, a large map is moved sideways before its labels become too small to read.
std::string smallest_width(const Map& map) {
  constexpr std::size_t hosts_that_fit = 10;
  return map.n() > hosts_that_fit ? "style=\"min-width:34rem\"" : "";
}

std::string picture(const Map& map) {
  const double titles_room = 18, edge = 8;
  const double left = map.margin + titles_room, top = map.margin + titles_room;
  const double width = left + map.side() + edge, height = top + map.side() + edge;
  std::string text = fmt::format(
      "<svg class=\"map\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "{3} role=\"img\" aria-label=\"Times from each host "
      "(row) to each host (column), {2}\">\n",
      width, height, binary_size_text(map.matrix.bytes), smallest_width(map));
  text += fmt::format("<text class=\"at\" x=\"{:.1f}\" y=\"12\" text-anchor=\"middle\">to</text>",
                      left + map.side() / 2);
  text += fmt::format(
      "<text class=\"at\" transform=\"translate(12 {:.1f}) rotate(-90)\" "
      "text-anchor=\"middle\">from</text>\n",
      top + map.side() / 2);
  text += fmt::format(
      "<g transform=\"translate({:.1f} {:.1f})\">"
      "<rect class=\"missing\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
      left, top, map.side(), map.side());
  return text + paths(map) + titles(map) + marks(map) + labels(map) + "</g></svg>\n";
}

double margin_of(const std::vector<Host>& hosts) {
  std::size_t longest = 2;
  for (const Host& host : hosts) longest = std::max(longest, label(host).size());
  return 16 + 7.2 * static_cast<double>(longest);
}

}  // namespace

const std::vector<HeatStep>& heat_steps() {
  static const std::vector<HeatStep> steps = {{0.8, "below 0.8"},
                                              {1.1, "0.8 to 1.1"},
                                              {1.25, "to 1.25"},
                                              {1.5, "to 1.5"},
                                              {2, "to 2"},
                                              {3, "to 3"},
                                              {std::numeric_limits<double>::infinity(), "above 3"}};
  return steps;
}

int heat_step(double ratio) {
  if (std::isnan(ratio)) return -1;
  const std::vector<HeatStep>& steps = heat_steps();
  const auto found = std::find_if(steps.begin(), steps.end() - 1,
                                  [&](const HeatStep& step) { return ratio < step.below; });
  return static_cast<int>(found - steps.begin());
}

double median_pair(const PairMatrix& matrix, std::size_t hosts) {
  std::vector<double> times;
  for (std::size_t i = 0; i < matrix.seconds.size(); ++i)
    if (hosts > 0 && i / hosts != i % hosts && std::isfinite(matrix.seconds[i]) &&
        matrix.seconds[i] > 0)
      times.push_back(matrix.seconds[i]);
  if (times.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

std::vector<std::size_t> labelled(std::size_t hosts, const std::vector<bool>& suspect, double cell,
                                  double line) {
  const auto apart = static_cast<std::size_t>(std::ceil(line / cell));
  constexpr std::array<std::size_t, 8> nice = {1, 2, 4, 5, 8, 10, 16, 32};
  const auto* const found =
      std::find_if(nice.begin(), nice.end() - 1, [&](std::size_t step) { return step >= apart; });
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < hosts; ++i)
    if (suspect[i] && (all.empty() || i - all.back() >= apart)) all.push_back(i);
  const std::vector<std::size_t> suspects = all;
  for (std::size_t i = 0; i < hosts; i += *found)
    if (std::none_of(suspects.begin(), suspects.end(), [&](std::size_t other) {
          return (i > other ? i - other : other - i) < apart;
        }))
      all.push_back(i);
  std::sort(all.begin(), all.end());
  return all;
}

std::string heat_map_svg(const PairMatrix& matrix, const std::vector<Host>& hosts,
                         const Suspects& suspects) {
  const std::size_t n = hosts.size();
  if (matrix.seconds.size() != n * n)
    return fmt::format("<p class=\"empty\">No picture: {} times for {}.</p>\n",
                       matrix.seconds.size(), counted(n, "host"));
  if (n < 2) return "<p class=\"empty\">No pairs: the run has fewer than two hosts.</p>\n";
  Map map{matrix, hosts, suspects};
  map.median = median_pair(matrix, n);
  if (std::isnan(map.median)) return "<p class=\"empty\">No pair was measured.</p>\n";
  map.cell = std::clamp(640.0 / static_cast<double>(n), 2.0, 40.0);
  map.margin = margin_of(hosts);
  return picture(map);
}

std::string heat_legend(double median_s) {
  std::string text =
      fmt::format("<p class=\"legend\"><span>Time, in medians of all pairs ({}):</span>",
                  seconds_text(median_s));
  for (std::size_t i = 0; i < heat_steps().size(); ++i)
    text += fmt::format(
        " <span><svg width=\"14\" height=\"14\" aria-hidden=\"true\"><rect class=\"h{} sw\" "
        "x=\".5\" y=\".5\" width=\"13\" height=\"13\"/></svg> {}</span>",
        i, heat_steps()[i].label);
  return text +
         " <span><svg width=\"14\" height=\"14\" aria-hidden=\"true\"><rect class=\"missing sw\" "
         "x=\".5\" y=\".5\" width=\"13\" height=\"13\"/></svg> not measured</span> <span><svg "
         "width=\"14\" height=\"14\" aria-hidden=\"true\"><rect class=\"mark\" x=\"1\" y=\"1\" "
         "width=\"12\" height=\"12\"/></svg> suspect</span></p>\n";
}

}  // namespace ccl_tests::acceptance
