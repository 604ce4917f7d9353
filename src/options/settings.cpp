#include "src/options/settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "src/core/quote.hpp"
#include "src/options/flags.hpp"

namespace ccl_tests {
namespace {

// The program's flags, holding these options.
struct FilledFlags {
  FilledFlags(const Collective& collective, const Options& given) : options(given) {
    declare_flags(set, options, collective, asked);
  }
  FilledFlags(const FilledFlags&) = delete;

  Options options;
  AskedTexts asked;
  FlagSet set;
};

// Files that a rank was given and rank 0, which writes them, was not.
std::optional<std::string> lost_files(ControlChannel& channel, const Options& o) {
  const std::string files = fmt::format("{}", fmt::join(o.output.files, ","));
  const auto all = channel.all_gather(files, o.backend.init_timeout_s);
  std::vector<std::size_t> ranks;
  for (std::size_t rank = 1; rank < all.size(); ++rank)
    if (!all[rank].empty() && all[0].empty()) ranks.push_back(rank);
  if (ranks.empty()) return std::nullopt;
  return fmt::format(
      "-J: rank {} was given {} and rank 0 was not, so that nobody would write the file; accepted: "
      "-J on all ranks or on rank 0",
      fmt::join(ranks, ","), quote(all[ranks.front()]));
}

}  // namespace

std::vector<NamedValue> shared_settings(const Collective& collective, const Options& options) {
  const FilledFlags flags(collective, options);
  std::vector<NamedValue> terms = {{"the program", std::string(collective.name)}};
  for (const Flag& flag : flags.set.all()) {
    if (!flag.shared || !flag.missing.empty()) continue;
    std::string value = text_of(flag.show());
    terms.push_back({flag.names.front(), value.empty() ? "not given" : std::move(value)});
  }
  return terms;
}

std::vector<Setting> recorded_settings(const Collective& collective, const Options& options) {
  const FilledFlags flags(collective, options);
  std::vector<Setting> settings;
  for (const Flag& flag : flags.set.all())
    if (!flag.file_name.empty() && flag.missing.empty())
      settings.push_back({flag.file_name, flag.show()});
  return settings;
}

std::optional<std::string> settings_disagreement(ControlChannel& channel,
                                                 const Collective& collective,
                                                 const Options& options, NamedValue more) {
  std::vector<NamedValue> settings = shared_settings(collective, options);
  settings.push_back(std::move(more));
  if (auto why = disagreement(channel, options.backend.init_timeout_s, "settings", settings))
    return why;
  return lost_files(channel, options);
}

}  // namespace ccl_tests
