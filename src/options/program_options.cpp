// Options that only some programs take.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "src/options/option_declarations.hpp"
#include "src/options/tensor_lists.hpp"

namespace ccl_tests {
namespace {

void declare_skew(Declarations& d, Options& o, const Collective& collective) {
  if (!collective.flags.skew) return;
  d.add("--skew", "NAME",
        "lengths of the ranks' blocks: equal, linear (growing with the rank) or one-large (the "
        "last rank's 1000 times any other's) [equal]",
        [&](const std::string& t) {
          const std::string name = parse_choice(t, {skew_names[0], skew_names[1], skew_names[2]});
          const auto* const found = std::find(skew_names.begin(), skew_names.end(), name);
          o.spec.skew = static_cast<Skew>(found - skew_names.begin());
        });
}

void declare_mode(Declarations& d, Options& o, const Collective& collective) {
  if (collective.mode.empty()) return;
  std::vector<std::string> names = {std::string(collective.mode)};
  for (const Collective* form : collective.modes) names.emplace_back(form->mode);
  d.add("--mode", "NAME", fmt::format("{} [{}]", fmt::join(names, ", "), names.front()),
        [&o, names](const std::string& t) { o.mode = parse_name(t, names); });
}

void declare_pairs(Declarations& d, Options& o, const Collective& collective) {
  if (!collective.domain.paired) return;
  d.add("--pairs", "LIST", "pairs of ranks, 0:1,2:3 or all [0:1]",
        [&](const std::string& t) { o.pairing = parse_pairs(t); });
  d.flag01("--concurrent", o.concurrent,
           "pairs without a common rank at the same time instead of one after the other [0]");
  d.add("--window", "N", "messages in flight before the other rank answers [1]",
        [&](const std::string& t) {
          o.spec.window = static_cast<std::size_t>(parse_int(t, 1, 1 << 16));
        });
  d.flag01("--bidirectional", o.spec.bidirectional,
           "both ranks of a pair send at the same time instead of answering [0]");
}

void declare_composite(Declarations& d, Options& o, const CollectiveFlags& takes) {
  if (takes.objects)
    d.add("--objects", "K", fmt::format("objects, items or keys of one list [{}]", o.spec.objects),
          [&](const std::string& t) {
            o.spec.objects = static_cast<std::size_t>(parse_int(t, 1, 1 << 20));
          });
  if (takes.tensors)
    d.add("--tensors", "LIST",
          "resnet50, llama-block or uniform:N; a size is divided in their proportions [uniform:16]",
          [&](const std::string& t) {
            o.spec.tensors = parse_tensors(t);
            o.spec.tensors_name = t;
          });
  if (takes.buckets)
    d.add("--bucket-mb", "MIB",
          fmt::format("largest bucket of tensors that travel together, in MiB; 0: every tensor "
                      "alone; -1: one bucket for all [{}]",
                      o.spec.bucket_mib),
          [&](const std::string& t) { o.spec.bucket_mib = parse_number(t, -1); });
  if (takes.async_operations)
    d.flag("--no-async", "each operation waited for before the next is started",
           [&] { o.spec.async_operations = false; });
  if (takes.via) {
    d.add("--via", "NAME",
          "gpu: all_gather_object of the lists; cpu: a file of each rank in a shared folder; the "
          "names are mmengine's [gpu]",
          [&](const std::string& t) {
            o.spec.via_files = parse_choice(t, {"gpu", "cpu"}) == "cpu";
          });
    d.add("--shared-dir", "FOLDER", "where --via cpu makes its folder [.]",
          [&](const std::string& t) {
            if (t.empty()) throw UsageError("'' is no folder; accepted: one that is there");
            o.spec.shared_dir = t;
          });
  }
}

}  // namespace

void declare_program(Declarations& d, Options& o, const Collective& collective) {
  declare_skew(d, o, collective);
  declare_mode(d, o, collective);
  declare_pairs(d, o, collective);
  declare_composite(d, o, collective.flags);
}

}  // namespace ccl_tests
