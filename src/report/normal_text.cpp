// The footer's answer to: is a row unlike the others?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/record/quantity_text.hpp"
#include "src/report/table_footer.hpp"

namespace ccl_tests {
namespace {

constexpr std::string_view unjudged = "cannot be judged from these times";
constexpr std::string_view stands_out_not = "no size stands out";
// The share of the link's bandwidth from which on a run is normal: good algorithms come near to it where nothing is reduced, and
// reducing takes time of its own.
constexpr double least_share = 0.5;
// The share from which on a run is faster than the link by more than its measurement is off.
constexpr double most_share = 1.05;

std::string formula(const Segment& segment) {
  std::string alpha = seconds_text(segment.alpha.value);
  if (segment.beta.value <= 0) return alpha;
  const std::string bytes = fmt::format("size / {:.3g} GB/s", 1e-9 / segment.beta.value);
  return segment.alpha.value > 0 ? fmt::format("{} + {}", alpha, bytes) : bytes;
}

std::string percent(double error) {
  return fmt::format("{:.0f} %", std::max(1.0, std::ceil(100 * error)));
}

// "88 us + size / 1.94 GB/s", or one formula for each segment of sizes.
std::string formulas(const Fit& fit) {
  std::string text;
  for (const Segment& segment : fit.segments) {
    const bool last = &segment == &fit.segments.back();
    text += text.empty() ? "" : last ? ", then " : ", ";
    text += formula(segment);
    if (!last) text += " to " + binary_size_text(segment.last_bytes);
  }
  return text;
}

std::string words(const SweepFit& sweep) {
  std::string text{name(sweep.type)};
  if (sweep.op) text += fmt::format(" {}", name(*sweep.op));
  if (sweep.root) text += fmt::format(" root {}", *sweep.root);
  return text + (sweep.placement == "in_place" ? " in place" : " out of place");
}

// The row that is farthest above its fit.
std::string worst(const std::vector<SweepFit>& sweeps) {
  std::vector<std::pair<const SweepFit*, const StandOut*>> above;
  for (const SweepFit& sweep : sweeps)
    if (sweep.result.fit)
      for (const StandOut& time : sweep.result.fit->above) above.emplace_back(&sweep, &time);
  if (above.empty()) return {};
  const auto [of, worst] = *std::max_element(
      above.begin(), above.end(),
      [](const auto& a, const auto& b) { return a.second->ratio < b.second->ratio; });
  const Fit& fit = *of->result.fit;
  std::string text = fmt::format("no - {} {} is {:.2g} times slower than the fit ({})",
                                 binary_size_text(worst->bytes), words(*of), worst->ratio,
                                 formula(fit.segments[fit.segment_of(worst->bytes)]));
  if (above.size() > 1)
    text += fmt::format("; {} more {}", above.size() - 1,
                        above.size() == 2 ? "stands out" : "stand out");
  return text + ": algorithm switch?";
}

// Returns what a fit of every sweep says.
std::string best(const std::vector<const SweepFit*>& fitted, bool alone) {
  const SweepFit& first = *fitted.front();
  std::string text =
      fmt::format("{} - time = {} fits every row within {}", stands_out_not,
                  formulas(*first.result.fit), percent(first.result.fit->largest_error));
  if (!alone) text += fmt::format(" ({})", words(first));
  if (fitted.size() == 1) return text;
  double error = 0;
  for (std::size_t k = 1; k < fitted.size(); ++k)
    error = std::max(error, fitted[k]->result.fit->largest_error);
  return text + (fitted.size() == 2
                     ? fmt::format("; {} within {}", words(*fitted[1]), percent(error))
                     : fmt::format("; {} more fits within {}", fitted.size() - 1, percent(error)));
}

// Returns what fits say; empty without a sweep over sizes.
std::string of_fits(const RunSummary& summary) {
  if (summary.fits.empty()) return {};
  std::vector<const SweepFit*> fitted;
  std::size_t left_out = 0;
  for (const SweepFit& sweep : summary.fits) {
    if (sweep.result.fit) fitted.push_back(&sweep);
    left_out += sweep.left_out;
  }
  std::string text = worst(summary.fits);
  if (fitted.empty())
    text = fmt::format("{} - {}", unjudged, summary.fits.front().result.refusal);
  else if (text.empty())
    text = best(fitted, summary.fits.size() == 1);
  if (const std::size_t without = summary.fits.size() - fitted.size();
      without > 0 && without < summary.fits.size())
    text += fmt::format("; no fit for {} of {} sweeps", without, summary.fits.size());
  if (left_out > 0)
    text += fmt::format("; without {} {} too wide an interval", left_out,
                        left_out == 1 ? "time that has" : "times that have");
  return text;
}

// The largest bus bandwidth, beside the link's; empty without a ceiling.
std::string of_ceiling(const RunInfo& run, const RunSummary& summary) {
  if (!run.ceiling || !summary.peak || run.ceiling->gb_per_s <= 0) return {};
  const double share = summary.peak->busbw / run.ceiling->gb_per_s;
  std::string text =
      fmt::format("{} - {:.3g} GB/s at {} is {:.0f} % of this link's {:.3g} GB/s ({})",
                  share < least_share || share > most_share ? "no" : "yes", summary.peak->busbw,
                  binary_size_text(summary.peak->bytes), 100 * share, run.ceiling->gb_per_s,
                  run.ceiling_source);
  if (share > most_share)
    text += ", impossible over one such link: several links, shared memory, or a wrong ceiling";
  return text;
}

}  // namespace

std::string normal_text(const RunInfo& run, const RunSummary& summary) {
  if (!summary.complete) return {};
  std::string fits = of_fits(summary);
  std::string ceiling = of_ceiling(run, summary);
  if (fits.empty() && ceiling.empty()) return {};
  if (summary.verdict == Verdict::unreliable || run.ranks == 1) return {};
  if (ceiling.empty()) {
    if (fits.starts_with(unjudged)) return {};
    if (fits.starts_with(stands_out_not) && run.ranks > 1)
      fits += " (the link's limit is not known; --ceiling auto measures it)";
    return fits;
  }
  if (fits.empty()) return ceiling;
  if (const std::size_t why = fits.find(" - "); fits.starts_with(unjudged)) fits.erase(0, why + 3);
  // One answer for both: what the fit finds outweighs the ceiling.
  if (fits.starts_with("no - ")) return fits + "; " + ceiling.substr(ceiling.find(" - ") + 3);
  return ceiling + "; " + fits;
}

}  // namespace ccl_tests
