// Flags that change what a collective means, and what is said of them.
#include <fmt/format.h>

#include <algorithm>

#include "src/options/flags.hpp"
#include "src/options/tensor_lists.hpp"
#include "src/options/values.hpp"

namespace ccl_tests {
namespace {

std::vector<std::string> via_names() { return {"gpu", "cpu"}; }

Skew parse_skew(const std::string& text) {
  const std::string name = parse_name(text, {skew_names.begin(), skew_names.end()});
  const auto* const found = std::find(skew_names.begin(), skew_names.end(), name);
  return static_cast<Skew>(found - skew_names.begin());
}

SettingValue rows_of(const std::vector<std::vector<std::size_t>>& matrix) {
  std::string rows;
  for (const auto& row : matrix) {
    if (!rows.empty()) rows += ';';
    rows += text_of(setting_of(row));
  }
  return rows;
}

void declare_matrix(FlagSet& set, CollectiveOptions& spec, const std::string& missing) {
  set.begin(Group::variables, missing);  // alltoallv_options.hpp reads them
  set.add_custom("NCCL_TESTS_ALLTOALLV_SPREAD", "X",
                 "0: equal blocks; 1: blocks grow with the distance", {},
                 [&spec] { return setting_of(spec.alltoallv_spread); })
      .recorded("alltoallv_spread");
  set.add_custom("NCCL_TESTS_ALLTOALLV_MATRIX_FILE", "FILE", "square matrix of the blocks' bytes",
                 {}, [&spec] { return rows_of(spec.alltoallv_bytes); })
      .reads_file();
  set.add_custom("NCCL_TESTS_ALLTOALLV_MATRIX_SCALE", "X", "factor of the matrix's numbers", {},
                 [] { return SettingValue(); })  // is in the matrix
      .per_process();
  set.add_custom("NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY", "0|1",
                 "print what each rank sends and receives", {},
                 [&spec] { return setting_of(spec.alltoallv_summary); })
      .per_process();
}

}  // namespace

void declare_spec(FlagSet& set, Options& o, const AcceptedFlags& taken) {
  CollectiveOptions& spec = o.spec;
  const auto counted = [](int most) { return in_range(1, most); };
  set.begin(Group::what);
  set.add_custom(
         "--skew", "NAME",
         "lengths of the blocks: equal, linear (growing with the rank) or one-large (the last "
         "rank's 1000 times any other's)",
         [&spec](const std::string& text) { spec.skew = parse_skew(text); },
         [&spec] { return std::string(skew_names[static_cast<std::size_t>(spec.skew)]); })
      .offers({skew_names.begin(), skew_names.end()})
      .needs(taken.skew)
      .on(Page::what, "lengths of the blocks: equal, linear or one-large")
      .recorded("skew");
  set.add(spec.window, "--window", "N", "messages in flight before the other rank answers",
          counted(1 << 16))
      .needs(taken.pairs)
      .on(Page::what)
      .recorded("window");
  set.add(spec.bidirectional, "--bidirectional", "0|1",
          "both ranks of a pair send at the same time instead of answering", zero_or_one())
      .needs(taken.pairs)
      .recorded("bidirectional");
  set.add(spec.objects, "--objects", "K", "K objects, items or keys in each list", counted(1 << 20))
      .needs(taken.objects)
      .on(Page::what)
      .recorded("objects");
  set.add_custom(
         "--tensors", "LIST",
         "tensors that share a size: as in resnet50 or llama-block, or uniform:N, N equal ones",
         [&spec](const std::string& text) {
           spec.tensors = parse_tensors(text);
           spec.tensors_name = text;
         },
         [&spec] { return spec.tensors_name; })
      .offers({"resnet50", "llama-block", "uniform:"})
      .needs(taken.tensors)
      .on(Page::what, "tensors as in resnet50 or llama-block, or uniform:N")
      .recorded("tensors");
  set.add(spec.bucket_mib, "--bucket-mb", "MIB",
          "largest bucket of tensors that travel together, in MiB; 0: every tensor alone; -1: one "
          "bucket for all",
          at_least(-1))
      .needs(taken.buckets)
      .on(Page::what, "largest bucket of tensors that travel together; -1: one for all")
      .recorded("bucket_mib");
  set.add_custom(
         "--no-async", "", "wait for each operation before starting the next",
         [&spec](const std::string& /*text*/) { spec.async_operations = false; },
         [&spec] { return setting_of(!spec.async_operations); })
      .needs(taken.async_operations)
      .recorded("no_async");
  set.add_custom(
         "--via", "NAME",
         "gpu: all_gather_object of the lists; cpu: a file of each rank in a shared folder; the "
         "names are mmengine's",
         [&spec](const std::string& text) {
           spec.via_files = parse_name(text, via_names()) == "cpu";
         },
         [&spec] { return std::string(spec.via_files ? "cpu" : "gpu"); })
      .offers(via_names())
      .needs(taken.via)
      .on(Page::what, "gpu: as objects; cpu: through files in a shared folder")
      .recorded("via");
  set.add(spec.shared_dir, "--shared-dir", "FOLDER",
          "shared FOLDER in which --via cpu makes a folder of its own", parse_file)
      .needs(taken.via)
      .recorded("shared_dir")
      .per_process()
      .written_by_all();
  declare_matrix(set, spec, taken.matrix);
}

}  // namespace ccl_tests
