#include "src/report/exports/document.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "src/core/types.hpp"
#include "src/options/flag.hpp"
#include "src/record/quantity_text.hpp"

namespace ccl_tests {
namespace {

class Document : public Reporter {
 public:
  Document(OutputFile file, std::unique_ptr<DocumentFormat> format)
      : file_(std::move(file)), format_(std::move(format)) {
    begin({});
  }

  const OutputFile* file() const override { return &file_; }

  void begin(const RunInfo& run) override {
    format_->run = run;
    put(file_.size(), format_->head(), "", nullptr);
  }
  void row(const Row& row) override {
    if (row.pass) return;
    std::vector<DocumentItem> items = format_->items(row);
    std::erase_if(items, [&](const DocumentItem& item) { return keys_.contains(item.key); });
    std::string text;
    for (const DocumentItem& item : items)
      text += (any_ || !text.empty() ? format_->separator() : "") + item.text;
    put(tail_, "", text, nullptr);
    any_ = any_ || !text.empty();  // now that they are written
    for (DocumentItem& item : items)
      if (!item.key.empty()) keys_.insert(std::move(item.key));
  }
  void end(const RunSummary& summary) override {
    put(tail_, "", "", &summary);
    file_.close();
  }

 private:
  // Replaces the file's last `bytes` bytes by both texts and the tail, then the head.
  void put(std::size_t bytes, const std::string& head, const std::string& items,
           const RunSummary* summary) {
    const std::string tail = format_->tail(summary);
    file_.replace_end(bytes, head + items + tail);
    tail_ = tail.size();
    file_.overwrite(0, format_->head_of(items, tail));
  }

  OutputFile file_;
  std::unique_ptr<DocumentFormat> format_;
  std::set<std::string> keys_;
  bool any_ = false;
  std::size_t tail_ = 0;  // bytes
};

}  // namespace

std::unique_ptr<Reporter> document_reporter(OutputFile file,
                                            std::unique_ptr<DocumentFormat> format) {
  return std::make_unique<Document>(std::move(file), std::move(format));
}

std::vector<std::string> distinctions(const RunInfo& run) {
  std::vector<std::string> all;
  const std::string& label = run.options.output.label;
  if (!label.empty()) all.push_back("label:" + label);
  // A rank is a thread, but where it usually is a process.
  const bool by_process = run.backend.starts_with("mpi") || run.backend.starts_with("nccl");
  if (run.processes != (by_process ? run.ranks : 1))
    all.push_back(fmt::format("processes:{}", run.processes));
  for (const Setting& setting : run.unusual) {
    const bool flag = std::holds_alternative<bool>(setting.value);
    all.push_back(flag ? setting.name : setting.name + ":" + text_of(setting.value));
  }
  for (const std::string& variable : run.environment)
    if (variable.starts_with("NCCL_ALGO=") || variable.starts_with("NCCL_PROTO="))
      all.push_back(variable);
  return all;
}

std::string benchmark_name(const RunInfo& run, const Row& row, bool in_place) {
  std::string text =
      fmt::format("{}/{}/ranks:{}/{}", run.program, run.backend, run.ranks, name(row.type));
  if (!run.mode.empty()) text += fmt::format("/{}", run.mode);
  if (row.op) text += fmt::format("/{}", name(*row.op));
  if (row.root) text += fmt::format("/root:{}", *row.root);
  if (row.group) text += fmt::format("/group:{}", *row.group);
  if (row.pair) text += fmt::format("/pair:{}", name(*row.pair));
  if (run.clock == "cpu") text += "/cpu";
  for (const std::string& one : distinctions(run)) text += "/" + one;
  return text + fmt::format("/bytes:{}/{}", row.bytes, in_place ? "in_place" : "out_of_place");
}

bool is_timed(const Measurement& cell) { return cell.stream || cell.iterations > 0; }

std::string time_text(const Measurement& cell) {
  if (!is_timed(cell)) return "not timed";
  std::string text = seconds_text(cell.seconds);
  if (cell.stream && cell.stream->low)
    text += fmt::format(" ({} to {})", seconds_text(*cell.stream->low),
                        seconds_text(*cell.stream->high));
  return text;
}

std::string unreliable_text(const RunSummary& summary) {
  if (summary.verdict != Verdict::unreliable || summary.times == 0) return {};
  const bool undecided = !limit_lines(summary.limits, LimitVerdict::undecided).empty();
  std::string text = fmt::format("UNRELIABLE: {}: {} of {} as precise as was asked for",
                                 undecided ? "a limit is not decided" : "do not quote the times",
                                 summary.precise_times, counted(summary.times, "time"));
  if (summary.repeats)
    text += fmt::format("; {} measured again {:.1f} s later repeat within +-{:.1f} %",
                        summary.repeats->times, summary.repeats->after_s,
                        100 * summary.repeats->half_width());
  return text;
}

std::string with_remedy(const Note& note) {
  return note.remedy.empty() ? note.text : note.text + "; " + note.remedy;
}

std::vector<std::string> warnings(const RunInfo& run) {
  std::vector<std::string> lines;
  for (const Note& note : run.notes)
    if (note.kind == NoteKind::warning) lines.push_back(with_remedy(note));
  return lines;
}

std::uint64_t timed_operations(const Measurement& cell, int aggregate) {
  if (cell.stream) return cell.stream->stamps * cell.stream->calls_per_stamp;
  return static_cast<std::uint64_t>(cell.iterations) * static_cast<std::uint64_t>(aggregate);
}

double timed_seconds(const Measurement& cell, int aggregate) {
  const double each = cell.stream ? cell.stream->mean : cell.max_seconds;
  return each * static_cast<double>(timed_operations(cell, aggregate));
}

}  // namespace ccl_tests
