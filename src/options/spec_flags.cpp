// Flags that change what a collective means, and what is said of them.
#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "src/core/error.hpp"
#include "src/core/given_file.hpp"
#include "src/core/mix.hpp"
#include "src/core/quote.hpp"
#include "src/core/whole_bytes.hpp"
#include "src/options/flags.hpp"
#include "src/options/values.hpp"

namespace ccl_tests {
namespace {

Parser<double> up_to(double most) {
  return {[most](const std::string& text) {
    const double value = parse_number(text, 0);
    if (value <= most) return value;
    throw UsageError(fmt::format("{} is too large; accepted: 0 to {}", quote(text), most));
  }};
}

void declare_alltoallv(FlagSet& set, Options& o, const std::string& missing) {
  set.begin(Group::variables, missing);
  set.add(o.spec.alltoallv_spread, "NCCL_TESTS_ALLTOALLV_SPREAD", "X",
          "0: equal blocks; 1: blocks grow with the distance", up_to(1),
          {.recorded = "alltoallv_spread"});
  set.add_custom(
      matrix_variable, "FILE", "square matrix of the blocks' bytes",
      [&o](const std::string& text) { o.matrix.file = parse_file(text); },
      [&o] {
        std::string rows;
        for (const auto& row : o.spec.alltoallv_bytes)
          rows += (rows.empty() ? "" : ";") + text_of(setting_of(row));
        return rows;
      },
      {.file_use = FileUse::read});
  set.add(o.matrix.scale, "NCCL_TESTS_ALLTOALLV_MATRIX_SCALE", "X",
          "factor of the matrix's numbers", up_to(1e12), {.shared = false});  // is in the matrix
  set.add(o.spec.alltoallv_summary, "NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY", "0|1",
          "print what each rank sends and receives", {.shared = false});
}

void declare_routing(FlagSet& set, Options& o, const std::string& missing) {
  RoutingOptions& routing = o.spec.routing;
  set.add(routing.hidden, "--hidden", "N", "elements of a token", in_range(1, 1 << 20),
          {.missing = missing, .recorded = "hidden"});
  set.add(routing.top_k, "--top-k", "K", "experts of a token", in_range(1, 1 << 10),
          {.missing = missing, .recorded = "top_k"});
  set.add(routing.experts, "--experts", "N", "experts of all ranks together", in_range(1, 1 << 16),
          {.missing = missing, .recorded = "experts"});
  set.add_custom(
      "--routing", "NAME",
      "which experts tokens choose: balanced, hot-experts, hot-rank, spread-hot, ragged, idle-rank "
      "(or W0 to W5), lognormal:SIGMA, zipf:S, maxvio:X (the busiest expert gets 1 + X times the "
      "mean) or trace:FILE (a line for each token: its experts)",
      [&routing](const std::string& text) {
        routing.rule = parse_routing(text);
        routing.name = text;
      },
      [&routing] {
        std::uint64_t digest = 0;
        for (const std::vector<int>& token : routing.rule.trace)
          for (const int expert : token) digest = mix(digest + static_cast<std::uint64_t>(expert));
        return routing.rule.trace.empty() ? routing.name
                                          : fmt::format("{}, digest {:016x}", routing.name, digest);
      },
      {.page = Page::what,
       .brief = "balanced, W1 to W5, zipf:S, maxvio:X, trace:FILE, ...",
       .missing = missing,
       .recorded = "routing"});
  set.add(routing.seed, "--routing-seed", "N", "seed of what --routing draws", in_range(0, 1 << 30),
          {.missing = missing, .recorded = "routing_seed"});
  set.add(o.sweep.tokens, "--tokens", "LIST",
          "run so many tokens of each rank instead of -b -e --sizes, for example 128,4K",
          parse_sizes,
          {.page = Page::what,
           .brief = "tokens of each rank, instead of sizes, for example 128,4K",
           .missing = missing,
           .recorded = "tokens"});
}

// Rounded down to 16, as nccl-tests aligns them.
std::size_t block_bytes(const std::string& word, double scale) {
  constexpr double most = 1e15;
  double bytes = most;
  try {
    bytes = parse_number(word, 0) * scale;
  } catch (const UsageError& e) {
    throw UsageError(fmt::format("{}: {}", matrix_variable, e.what()));
  }
  if (bytes >= most)
    throw UsageError(fmt::format("{}: {} x {} is too large; accepted: blocks below {} bytes",
                                 matrix_variable, quote(word), scale, most));
  return whole_bytes(bytes) / 16 * 16;
}

}  // namespace

void declare_spec(FlagSet& set, Options& o, const AcceptedFlags& taken, const Collective& c) {
  const CollectiveFlags& takes = c.flags;
  CollectiveOptions& spec = o.spec;
  set.begin(Group::what);
  set.add(spec.skew, "--skew", "NAME",
          "lengths of the blocks: equal, linear (growing with the rank) or one-large (the last "
          "rank's 1000 times any other's)",
          name_of<Skew>({Skew::equal, Skew::linear, Skew::one_large}),
          {.page = Page::what,
           .brief = "lengths of the blocks: equal, linear or one-large",
           .missing = unless(takes.skew, "has no blocks whose lengths can differ"),
           .recorded = "skew"});
  set.add(spec.window, "--window", "N", "messages in flight before the other rank answers",
          in_range(1, 1 << 16), {.page = Page::what, .missing = taken.pairs, .recorded = "window"});
  set.add(spec.bidirectional, "--bidirectional", "0|1",
          "both ranks of a pair send at the same time instead of answering",
          {.missing = taken.pairs, .recorded = "bidirectional"});
  set.add(spec.objects, "--objects", "K", "K objects, items or keys in each list",
          in_range(1, 1 << 20),
          {.page = Page::what,
           .missing = unless(takes.objects, "has no lists of objects"),
           .recorded = "objects"});
  set.add_custom(
      "--tensors", "LIST",
      "tensors that share a size: as in resnet50 or llama-block, or uniform:N, N equal ones",
      [&spec](const std::string& text) {
        spec.tensors = parse_tensors(text);
        spec.tensors_name = text;
      },
      [&spec] { return spec.tensors_name; },
      {.page = Page::what,
       .brief = "tensors as in resnet50 or llama-block, or uniform:N",
       .missing = unless(takes.tensors, "has no list of tensors"),
       .recorded = "tensors"});
  set.add(spec.bucket_mib, "--bucket-mb", "MIB",
          "largest bucket of tensors that travel together, in MiB; 0: every tensor alone; -1: one "
          "bucket for all",
          at_least(-1),
          {.page = Page::what,
           .brief = "largest bucket of tensors that travel together; -1: one for all",
           .missing = unless(takes.buckets, "has no buckets"),
           .recorded = "bucket_mib"});
  set.add_custom(
      "--no-async", "", "wait for each operation before starting the next",
      [&spec](const std::string& /*text*/) { spec.async_operations = false; },
      [&spec] { return setting_of(!spec.async_operations); },
      {.missing = unless(takes.async_operations, "does not start operations before others end"),
       .recorded = "no_async"});
  const std::string one_way = unless(takes.via, "has one way for its data");
  set.add_custom(
      "--via", "NAME",
      "gpu: all_gather_object of the lists; cpu: a file of each rank in a shared folder; the "
      "names are mmengine's",
      [&spec](const std::string& text) {
        spec.via_files = parse_name(text, {"gpu", "cpu"}) == "cpu";
      },
      [&spec] { return std::string(spec.via_files ? "cpu" : "gpu"); },
      {.page = Page::what,
       .brief = "gpu: as objects; cpu: through files in a shared folder",
       .missing = one_way,
       .recorded = "via"});
  set.add(spec.shared_dir, "--shared-dir", "FOLDER",
          "shared FOLDER in which --via cpu makes a folder of its own", parse_file,
          {.missing = one_way,
           .recorded = "shared_dir",
           .shared = false,
           .file_use = FileUse::written_by_all});
  declare_routing(set, o, unless(takes.routing, "routes no tokens"));
  declare_alltoallv(set, o, unless(takes.block_matrix, "has no matrix of block sizes"));
}

void read_trace(RoutingOptions& routing) {
  const std::string file = trace_file_of(routing.name);
  constexpr std::size_t most = 1 << 30;
  try {
    routing.rule.trace = parse_trace(read_given_file(file, most), file);
  } catch (const Error& e) {
    throw UsageError(fmt::format("--routing: {}", e.what()));
  }
  for (std::size_t t = 0; t < routing.rule.trace.size(); ++t) {
    const std::vector<int>& experts = routing.rule.trace[t];
    if (experts.size() != routing.top_k)
      throw UsageError(
          fmt::format("--routing: token {} of {} has {} experts; accepted: {} (--top-k)", t,
                      quote(file, shown_path_characters), experts.size(), routing.top_k));
    for (const int expert : experts)
      if (static_cast<std::size_t>(expert) >= routing.experts)
        throw UsageError(
            fmt::format("--routing: token {} of {} has expert {}; accepted: below {} "
                        "(--experts)",
                        t, quote(file, shown_path_characters), expert, routing.experts));
  }
}

std::vector<std::vector<std::size_t>> read_matrix(const MatrixFile& matrix_file) {
  const auto refuse = [&](const std::string& why) {
    throw UsageError(fmt::format("{}: {} {}", matrix_variable,
                                 quote(matrix_file.file, shown_path_characters), why));
  };
  constexpr std::uintmax_t most = 64 << 20;
  std::error_code error;
  const auto status = std::filesystem::status(matrix_file.file, error);
  if (std::filesystem::exists(status)) {
    const std::string accepted = "; accepted: a file of up to " + size_text(most);
    if (!std::filesystem::is_regular_file(status)) refuse("is not a regular file" + accepted);
    if (std::filesystem::file_size(matrix_file.file, error) > most)
      refuse("is too large" + accepted);
  }
  std::ifstream file(matrix_file.file);
  if (!file) refuse("cannot be read; accepted: a readable file");
  std::vector<std::vector<std::size_t>> matrix;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::vector<std::size_t> row;
    for (std::string word; words >> word;) row.push_back(block_bytes(word, matrix_file.scale));
    if (!row.empty()) matrix.push_back(std::move(row));
  }
  for (const auto& row : matrix)
    if (row.size() != matrix.size())
      refuse(fmt::format(
          "is not square ({} rows, one of {} numbers); accepted: a square matrix of bytes",
          matrix.size(), row.size()));
  if (matrix.empty()) refuse("is empty; accepted: a square matrix of bytes");
  return matrix;
}

}  // namespace ccl_tests
