#include "tools/acceptance/programs.hpp"

#include <fmt/format.h>

#include "collectives/collectives.hpp"
#include "src/core/capabilities.hpp"
#include "src/core/communicator.hpp"
#include "src/core/error.hpp"
#include "src/core/library_call.hpp"
#include "src/record/quantity_text.hpp"

namespace ccl_tests::acceptance {
namespace {

constexpr std::size_t answer = 1;  // element

bool sends(const Shape& s) { return s.self.rank == 0; }

Layout layout(const Shape& s) {
  return {.send = sends(s) ? s.count : answer,
          .recv = sends(s) ? answer : s.count,
          .count = s.count,
          .table_count = s.count,
          .algbw_bytes = s.count * s.type_bytes};
}

std::vector<ExpectedBlock> expected(const Shape& s) {
  return {{.count = sends(s) ? answer : s.count, .source_rank = 1 - s.self.rank}};
}

// Ranks without a peer post empty groups, because groups are collective on loopback.
void send_one_way(Communicator& c, const Call& call) {
  const bool first = call.self.rank == 0;
  const auto turn = [&](bool sends, std::size_t count) {
    Call message = call;
    message.count = count;
    c.begin_group();
    if (call.peer >= 0) sends ? c.send(message) : c.recv(message);
    c.end_group();
  };
  turn(first, call.count);
  c.fence();  // the answer begins when everything has come
  turn(!first, answer);
}

}  // namespace

const Collective one_way = {
    .name = "one_way",
    .about = "a message from one rank to another",
    .domain = {.paired = true},
    .unsupported = [](const Shape& s) -> std::optional<std::string> {
      if (s.count >= answer) return std::nullopt;
      return "a message of no elements has no end";
    },
    .layout = layout,
    .expected = expected,
    .bus_factor = [](const Shape& /*s*/) { return 1.0; },
    .make = [](ControlChannel& /*channel*/, Communicator& communicator, const Shape& /*shape*/,
               DataType /*type*/) -> std::unique_ptr<Operation> {
      return std::make_unique<LibraryCall<send_one_way>>(communicator);
    },
    .needs = {.in_steps = true, .host_waits = true, .operations = {OperationId::transfer}},
};

const Collective& program_named(std::string_view name) {
  if (name == one_way.name) return one_way;
  for (const Collective* collective : collectives::all())
    if (collective->name == name) return *collective;
  throw Error(fmt::format("there is no program {}", name));
}

DataType usual_type(const Collective& program) {
  return program.domain.types.empty() ? DataType::float32 : program.domain.types.front();
}

std::optional<ReduceOp> usual_op(const Collective& program) {
  if (!program.domain.reduces) return std::nullopt;
  return program.domain.ops.empty() ? ReduceOp::sum : program.domain.ops.front();
}

void Verified::add(const PointRows& found) {
  for (const Row& row : found.rows) {
    ++rows_;
    for (const Measurement* cell : {&row.out_of_place, &row.in_place}) {
      calls_ += cell->calls;
      verified_ += cell->verified_calls;
    }
  }
  if (wrong_.empty() && !found.wrong.empty()) wrong_ = found.wrong.front();
}

Check Verified::judged(const std::string& id, const std::string& subject) const {
  const std::string begin = subject.empty() ? "" : subject + ": ";
  Check check{.id = id,
              .subject = "run",
              .verdict = Verdict::pass,
              .reason = "OK",
              .text = fmt::format("{}{} right, {} of {} verified", begin, counted(rows_, "row"),
                                  verified_, counted(calls_, "call")),
              .numbers = {{"rows", static_cast<double>(rows_)},
                          {"verified_calls", static_cast<double>(verified_)}}};
  if (!wrong_.empty()) {
    check.verdict = Verdict::fail;
    check.reason = "WRONG_DATA";
    check.text = begin + wrong_;
  } else if (verified_ == 0) {
    check.verdict = Verdict::inconclusive;
    check.reason = "NOT_VERIFIED";
    check.text = begin + "no call could be verified";
  }
  return check;
}

}  // namespace ccl_tests::acceptance
