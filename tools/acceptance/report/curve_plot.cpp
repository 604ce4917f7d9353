#include "tools/acceptance/report/curve_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "src/record/quantity_text.hpp"
#include "src/report/text.hpp"
#include "tools/acceptance/report/words.hpp"

namespace ccl_tests::acceptance {

LogAxis::LogAxis(double low, double high, double begin, double end)
    : low_(low), high_(high), begin_(begin), end_(end) {
  if (!(high_ > low_ * 1.0001)) {
    low_ = low / 2;
    high_ = low * 2;
  }
}

double LogAxis::pixel(double value) const {
  return begin_ + (end_ - begin_) * std::log(value / low_) / std::log(high_ / low_);
}

std::vector<double> LogAxis::decimal_ticks() const {
  std::array<std::vector<double>, 4> mantissas = {
      std::vector<double>{1}, {1, 2, 5}, {1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9}, {}};
  for (int tenths = 10; tenths < 100; ++tenths) mantissas.back().push_back(tenths / 10.0);
  const int first = static_cast<int>(std::floor(std::log10(low_)));
  const int last = static_cast<int>(std::ceil(std::log10(high_)));
  std::vector<double> ticks;
  for (const std::vector<double>& set : mantissas) {
    ticks.clear();
    const int step = set.size() == 1 ? std::max(1, (last - first) / 8) : 1;
    for (int exponent = first; exponent <= last; exponent += step)
      for (const double mantissa : set) {
        const double tick = mantissa * std::pow(10.0, exponent);
        if (tick >= low_ * 0.9999 && tick <= high_ * 1.0001) ticks.push_back(tick);
      }
    if (ticks.size() >= 3) break;
  }
  return ticks;
}

std::vector<double> LogAxis::binary_ticks(int most) const {
  const int first = static_cast<int>(std::ceil(std::log2(low_) - 1e-9));
  const int last = static_cast<int>(std::floor(std::log2(high_) + 1e-9));
  const int step = std::max(1, (last - first + most) / most);
  std::vector<double> ticks;
  for (int exponent = first; exponent <= last; exponent += step)
    ticks.push_back(std::exp2(exponent));
  return ticks;
}

namespace {

constexpr double width = 520, height = 330;
constexpr double left = 74, right = 84, top = 14, bottom = 46;
constexpr std::size_t most_series = 6;  // colours and shapes that can be told apart
constexpr double label_line = 14;

using Curves = std::vector<const Curve*>;

bool positive(double value) { return std::isfinite(value) && value > 0; }
bool drawn(const CurvePoint& point) { return point.bytes > 0 && positive(point.busbw); }
bool below(const CurvePoint& point) {
  return drawn(point) && positive(point.limit) && point.busbw < point.limit;
}
bool with_interval(const CurvePoint& point) {
  return drawn(point) && positive(point.low) && positive(point.high) && point.low <= point.high;
}

struct Axes {
  LogAxis x, y;
};

struct EndLabel {
  double y;
  std::string kind, words;
};

// Runs of points that `shown` accepts: a point that was not measured is a gap.
template <class Shown>
std::vector<std::vector<CurvePoint>> runs(const Curve& curve, Shown shown) {
  std::vector<std::vector<CurvePoint>> all(1);
  for (const CurvePoint& point : curve.points) {
    if (shown(point))
      all.back().push_back(point);
    else if (!all.back().empty())
      all.emplace_back();
  }
  if (all.back().empty()) all.pop_back();
  return all;
}

std::string xy(const Axes& axes, const CurvePoint& point, double value) {
  return fmt::format("{:.1f},{:.1f} ", axes.x.pixel(static_cast<double>(point.bytes)),
                     axes.y.pixel(value));
}

std::string band(const Axes& axes, const Curve& curve, std::size_t series) {
  std::string text;
  for (const auto& run : runs(curve, with_interval)) {
    std::string ends;
    for (const CurvePoint& point : run) ends += xy(axes, point, point.high);
    for (auto point = run.rbegin(); point != run.rend(); ++point)
      ends += xy(axes, *point, point->low);
    text += fmt::format("<polygon class=\"band c{}\" points=\"{}\"/>", series, ends);
    for (const CurvePoint& point : run)  // of one point alone, the band would be nothing
      if (run.size() == 1)
        text += fmt::format("<polyline class=\"line c{}\" points=\"{}{}\"/>", series,
                            xy(axes, point, point.low), xy(axes, point, point.high));
  }
  return text;
}

std::string limit_line(const Axes& axes, const Curve& curve) {
  std::string text;
  const auto limited = [](const CurvePoint& p) { return p.bytes > 0 && positive(p.limit); };
  for (const auto& run : runs(curve, limited)) {
    std::string ends;
    for (const CurvePoint& point : run) ends += xy(axes, point, point.limit);
    if (run.size() == 1) {
      const double x = axes.x.pixel(static_cast<double>(run[0].bytes));
      const double y = axes.y.pixel(run[0].limit);
      ends = fmt::format("{:.1f},{:.1f} {:.1f},{:.1f}", x - 12, y, x + 12, y);
    }
    text += fmt::format("<polyline class=\"limit\" points=\"{}\"/>", ends);
  }
  return text;
}

// A shape for each series, so that grey print tells them apart.
std::string marker(std::size_t series, double x, double y) {
  switch (series % 3) {
    case 0:
      return fmt::format("<circle class=\"dot c{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"/>", series,
                         x, y);
    case 1:
      return fmt::format(
          "<rect class=\"dot c{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"6\" height=\"6\"/>", series,
          x - 3, y - 3);
    default:
      return fmt::format("<path class=\"dot c{}\" d=\"M{:.1f} {:.1f}l4 7h-8z\"/>", series, x,
                         y - 4);
  }
}

std::string points(const Axes& axes, const Curve& curve, std::size_t series) {
  std::string text;
  for (const CurvePoint& point : curve.points) {
    if (!drawn(point)) continue;
    const double x = axes.x.pixel(static_cast<double>(point.bytes));
    const double y = axes.y.pixel(point.busbw);
    std::string words =
        fmt::format("{}: {}", binary_size_text(point.bytes), rate_text(point.busbw));
    if (with_interval(point))
      words += fmt::format(" [{}, {}]", rate_text(point.low), rate_text(point.high));
    if (positive(point.limit)) words += ", limit " + rate_text(point.limit);
    text += fmt::format("<g><title>{}</title>{}", words, marker(series, x, y));
    if (below(point))
      text += fmt::format("<path class=\"below\" d=\"M{0:.1f} {1:.1f}l10 10m0 -10l-10 10\"/>",
                          x - 5, y - 5);
    text += "</g>\n";
  }
  return text;
}

std::string line(const Axes& axes, const Curve& curve, std::size_t series) {
  std::string text;
  for (const auto& run : runs(curve, drawn)) {
    std::string ends;
    for (const CurvePoint& point : run) ends += xy(axes, point, point.busbw);
    text += fmt::format("<polyline class=\"line c{}\" points=\"{}\"/>", series, ends);
  }
  return text;
}

std::string grid(const Axes& axes) {
  std::string text;
  for (const double tick : axes.y.decimal_ticks()) {
    const double y = axes.y.pixel(tick);
    text += fmt::format(
        "<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/><text class=\"tick\" x=\"{:.1f}\" "
        "y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
        left, y, width - right, left - 7, y + 4, rate_text(tick));
  }
  for (const double tick : axes.x.binary_ticks(6)) {
    const double x = axes.x.pixel(tick);
    text += fmt::format(
        "<path class=\"grid\" d=\"M{:.1f} {:.1f}V{:.1f}\"/><text class=\"tick\" x=\"{:.1f}\" "
        "y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
        x, top, height - bottom, x, height - bottom + 16,
        binary_size_text(static_cast<std::size_t>(tick)));
  }
  text += fmt::format("<path class=\"axis\" d=\"M{0} {1}V{2}H{3}\"/>", left, top, height - bottom,
                      width - right);
  text += fmt::format(
      "<text class=\"at\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">size</text>"
      "<text class=\"at\" transform=\"translate(12 {:.1f}) rotate(-90)\" "
      "text-anchor=\"middle\">busbw</text>\n",
      (left + width - right) / 2, height - 6, (top + height - bottom) / 2);
  return text;
}

// Names at the right ends of the lines, moved down until none covers another.
std::string end_labels(const Axes& axes, const Curves& group) {
  std::vector<EndLabel> labels;
  bool limited = false;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const std::vector<CurvePoint>& all = group[i]->points;
    const auto last = std::find_if(all.rbegin(), all.rend(), drawn);
    if (last != all.rend())
      labels.push_back(
          {axes.y.pixel(last->busbw), fmt::format("c{}", i),
           group.size() == 1
               ? "busbw"
               : counted(static_cast<std::size_t>(std::max(0, group[i]->ranks)), "rank")});
    const auto limit = std::find_if(all.rbegin(), all.rend(), [](const CurvePoint& p) {
      return p.bytes > 0 && positive(p.limit);
    });
    if (limit != all.rend() && !limited) {
      limited = true;
      labels.push_back({axes.y.pixel(limit->limit), "lim", "limit"});
    }
  }
  std::sort(labels.begin(), labels.end(),
            [](const EndLabel& a, const EndLabel& b) { return a.y < b.y; });
  std::string text;
  double free = top;
  for (const EndLabel& label : labels) {
    const double y = std::max(label.y, free);
    free = y + label_line;
    text += fmt::format("<text class=\"end {}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", label.kind,
                        width - right + 8, y + 4, label.words);
  }
  return text;
}

std::string picture(const Curves& group) {
  constexpr double none = std::numeric_limits<double>::infinity();
  double x_low = none, x_high = 0, y_low = none, y_high = 0;
  for (const Curve* const curve : group)
    for (const CurvePoint& point : curve->points) {
      if (!drawn(point)) continue;
      x_low = std::min(x_low, static_cast<double>(point.bytes));
      x_high = std::max(x_high, static_cast<double>(point.bytes));
      for (const double value : {point.busbw, point.low, point.high, point.limit})
        if (positive(value)) {
          y_low = std::min(y_low, value);
          y_high = std::max(y_high, value);
        }
    }
  if (x_high <= 0) return "<p class=\"empty\">No size was measured.</p>\n";
  constexpr double room = 1.12;
  const Axes axes{LogAxis(x_low, x_high, left + 6, width - right - 6),
                  LogAxis(y_low / room, y_high * room, height - bottom, top)};
  std::string text = fmt::format(
      "<svg class=\"curve\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
      "aria-label=\"Bus bandwidth over size\">\n",
      width, height);
  text += grid(axes);
  for (std::size_t i = 0; i < group.size(); ++i) text += band(axes, *group[i], i);
  for (const Curve* const curve : group) text += limit_line(axes, *curve);
  for (std::size_t i = 0; i < group.size(); ++i)
    text += line(axes, *group[i], i) + points(axes, *group[i], i);
  return text + end_labels(axes, group) + "</svg>\n";
}

std::string caption(const Curves& group) {
  std::string text;
  std::size_t missing = 0;
  std::vector<std::string> empty;  // sizes at which there is a time, but no data
  for (const Curve* const curve : group) {
    const std::vector<std::string> slow = below_limit(*curve);
    constexpr std::size_t shown = 4;
    for (std::size_t i = 0; i < std::min(shown, slow.size()); ++i)
      text += (text.empty() ? "Below the limit at " : "; ") + slow[i];
    if (slow.size() > shown) text += fmt::format("; and {} more", slow.size() - shown);
    for (const CurvePoint& point : curve->points) {
      if (drawn(point)) continue;
      const bool is_empty = point.busbw == 0;
      missing += is_empty ? 0 : 1;
      const std::string size = binary_size_text(point.bytes);
      if (is_empty && std::find(empty.begin(), empty.end(), size) == empty.end())
        empty.push_back(size);
    }
  }
  if (!text.empty()) text += ". ";
  const bool any = std::any_of(group.begin(), group.end(), [](const Curve* curve) {
    return std::any_of(curve->points.begin(), curve->points.end(), drawn);
  });
  if (!empty.empty() && any)
    text +=
        fmt::format("{}: no data leave a rank, so there is no bandwidth. ", fmt::join(empty, ", "));
  if (missing > 0 && any) text += fmt::format("{} not measured. ", counted(missing, "size"));
  return text.empty() ? text : "<p class=\"note\">" + text + "</p>";
}

std::string figure(const Curves& group) {
  const Curve& first = *group.front();
  std::string heading = fmt::format("{} {}", first.program, first.type);
  heading += group.size() == 1 ? fmt::format(", {} ranks", first.ranks) : "";
  return fmt::format(
      "<figure class=\"plot\"><figcaption><strong>{}</strong> <span>stage {}</span>{}"
      "</figcaption>\n{}</figure>\n",
      xml_text(heading), xml_text(first.stage), caption(group), picture(group));
}

bool same_picture(const Curve& a, const Curve& b) {
  return a.stage == b.stage && a.program == b.program && a.type == b.type;
}

}  // namespace

std::vector<std::string> below_limit(const Curve& curve) {
  std::vector<std::string> all;
  for (const CurvePoint& point : curve.points)
    if (below(point))
      all.push_back(fmt::format("{}: {} of {}", binary_size_text(point.bytes),
                                rate_text(point.busbw), rate_text(point.limit)));
  return all;
}

std::string curve_figures(const std::vector<Curve>& curves) {
  std::vector<Curves> groups;
  for (const Curve& curve : curves) {
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Curves& one) {
      return one.size() < most_series && same_picture(*one.front(), curve);
    });
    if (group == groups.end()) group = groups.insert(groups.end(), Curves{});
    group->push_back(&curve);
  }
  std::stable_partition(groups.begin(), groups.end(), [](const Curves& group) {
    return std::any_of(group.begin(), group.end(),
                       [](const Curve* curve) { return !below_limit(*curve).empty(); });
  });
  std::string text;
  for (const Curves& group : groups) text += figure(group);
  return text;
}

}  // namespace ccl_tests::acceptance
