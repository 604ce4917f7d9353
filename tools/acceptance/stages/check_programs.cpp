// Is every program right, on each of its types, at odd sizes?
#include <fmt/format.h>

#include <algorithm>

#include "collectives/collectives.hpp"
#include "src/core/capabilities.hpp"
#include "tools/acceptance/stages/stages.hpp"
#include "tools/acceptance/team.hpp"

namespace ccl_tests::acceptance {
namespace {

constexpr std::size_t elements = 1021;  // a prime: no rank count divides it
// A prime number of the widest elements, a little over what libraries divide evenly among blocks of threads.
constexpr std::size_t many_bytes = 65539 * sizeof(double);

// The first operation that is defined on the type; all of them on the first type.
std::vector<std::optional<ReduceOp>> ops_to_try(const Collective& program, DataType type,
                                                bool first) {
  if (!program.domain.reduces) return {std::nullopt};
  std::vector<std::optional<ReduceOp>> ops;
  for (const ReduceOp op : ops_of(type)) {
    const auto& defined = program.domain.ops;
    if (!defined.empty() && std::find(defined.begin(), defined.end(), op) == defined.end())
      continue;
    ops.emplace_back(op);
    if (!first) break;
  }
  return ops;
}

std::vector<DataType> types_of(const Collective& program) {
  const auto& defined = program.domain.types;
  if (!defined.empty()) return {defined.begin(), defined.end()};
  if (program.domain.reduces || program.needs.step_times) {
    std::vector<DataType> all(all_types().begin(), all_types().end());
    std::stable_partition(all.begin(), all.end(),
                          [](DataType type) { return type == DataType::float32; });
    return all;
  }
  return {DataType::float32, DataType::uint8};  // data are moved by their width alone
}

class Program {
 public:
  Program(Context& context, const Collective& program) : context_(context), program_(program) {}

  void run() {
    const Capabilities& library = context_.team.library();
    if (const auto why = why_never(program_, context_.team)) return skip(*why);
    const Shape shape{elements, 4, {0, context_.team.rank().ranks(), 0}, context_.team.spec()};
    if (program_.unsupported != nullptr)
      if (const auto why = program_.unsupported(shape)) return skip(*why);
    bool first = true;
    for (const DataType type : types_of(program_)) {
      for (const auto& op : ops_to_try(program_, type, first)) {
        if (library.why_not(type, op)) continue;
        verified_.add(
            context_.team.checked_rows(program_.name, type, op, elements * size_of(type)));
        if (first) verified_.add(context_.team.checked_rows(program_.name, type, op, many_bytes));
      }
      first = false;
    }
    context_.journal.add(verified_.check(id(), std::string(program_.name)));
  }

 private:
  void skip(const std::string& why) {
    context_.journal.add({.id = id(),
                          .verdict = Verdict::skipped,
                          .reason = "UNSUPPORTED",
                          .text = std::string(program_.name) + ": " + why});
  }
  std::string id() const { return fmt::format("sanity/{}", program_.name); }

  Context& context_;
  const Collective& program_;
  Verified verified_;
};

}  // namespace

void check_programs(Context& context) {
  context.journal.begin_stage("sanity",
                              "every program on its types, at odd sizes, each call verified");
  const auto all = collectives::all();
  std::vector<const Collective*> programs(all.begin(), all.end());
  std::erase_if(programs, [](const Collective* program) {
    return program->domain.paired || !program->domain.sweeps;
  });
  const auto number = static_cast<double>(programs.size());
  for (std::size_t done = 0; done < programs.size(); ++done) {
    context.journal.at({"program", static_cast<double>(done), number, number});
    Program(context, *programs[done]).run();
  }
  context.journal.end_stage();
}

}  // namespace ccl_tests::acceptance
