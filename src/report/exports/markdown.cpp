// A table for a pull request or a wiki (GitHub Flavored Markdown, section 4.10).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/options/program_texts.hpp"
#include "src/record/quantity_text.hpp"
#include "src/record/row_text.hpp"
#include "src/report/exports/document.hpp"
#include "src/report/reporter.hpp"
#include "src/report/text.hpp"
#include "src/report/verdict_file.hpp"

namespace ccl_tests {
namespace {

// Returns the text on one line, without characters that are formatting or end a cell.
std::string plain(std::string_view text) { return escaped(single_line(text), "|\\`*_<>[]"); }

class Markdown : public DocumentFormat {
 public:
  std::string head() const override {
    if (run.program.empty()) return {};
    const std::string more = fmt::format("{}", fmt::join(distinctions(run), ", "));
    std::string text = fmt::format("**{}** over {} {}, {}: {}{}\n\n", plain(run.program),
                                   plain(run.backend), plain(run.library_version),
                                   counted(static_cast<std::uint64_t>(run.ranks), "rank"),
                                   plain(run.placement), plain(more.empty() ? "" : "; " + more));
    for (const std::string& warning : warnings(run))
      text += fmt::format("**Warning**: {}\n\n", plain(warning));
    return text + "| | | time | busbw (GB/s) | wrong |\n| --- | --- | ---: | ---: | ---: |\n";
  }

  std::vector<DocumentItem> items(const Row& row) const override {
    std::vector<DocumentItem> all;
    for_each_cell(row, [&](bool in_place, const Measurement& cell) {
      all.push_back({fmt::format("| {} | {} | {} | {:.4g} | {} |\n",
                                 plain(row_name(row, row.bytes)) +
                                     (row.cycle > 0 ? fmt::format(", cycle {}", row.cycle) : ""),
                                 placement_words(in_place), time_text(cell), cell.busbw,
                                 cell.wrong ? fmt::format("{}", *cell.wrong) : "not checked")});
    });
    return all;
  }

  std::string tail(const RunSummary* summary) const override {
    if (summary == nullptr) return "\nThe run has not reached its end.\n";
    std::string text = "\n";
    if (summary->verdict == Verdict::incomplete)
      text += fmt::format("- **Failed**: {}\n", plain(summary->failure));
    if (!summary->first_wrong.empty())
      text += fmt::format("- **Wrong data**: {}\n", plain(summary->first_wrong));
    if (varies(*summary))
      text += fmt::format("- **Bits vary**: {}\n", plain(summary->reproduction->first_varying));
    for (const std::string& limit : limit_lines(summary->limits, LimitVerdict::missed))
      text += fmt::format("- **{}**\n", plain(limit));
    for (const std::string& limit : limit_lines(summary->limits, LimitVerdict::undecided))
      text += fmt::format("- {}\n", plain(limit));
    if (const std::string why = unreliable_text(*summary); !why.empty())
      text += fmt::format("- **{}**\n", plain(why));
    if (const std::string why = why_inconclusive(*summary); !why.empty())
      text += fmt::format("- {}\n", plain(why));
    return text + fmt::format("- Verified {} of {}; exit code {}.\n", summary->verified_calls,
                              counted(summary->calls, "call"), summary->exit_code);
  }
};

}  // namespace

std::unique_ptr<Reporter> markdown_reporter(OutputFile file) {
  return document_reporter(std::move(file), std::make_unique<Markdown>());
}

}  // namespace ccl_tests
