// One pattern's rows, held to the host's verifier: filled, right, and wrong in every way.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tools/mirrored_row.hpp"
#include "tools/verifier_check.hpp"
#include "tools/verifier_faults.hpp"
#include "verify/verifier.hpp"

namespace ccl_tests::tools {

class PatternCheck {
 public:
  // Results go to `report`. row, random and report outlive it; loops: of the row's device.
  PatternCheck(std::shared_ptr<const verify::Pattern> pattern, verify::Loops& loops,
               MirroredRow& row, std::mt19937_64& random, CheckReport& report);

  // A row of `count` elements, shifted by `shift`; of its faults every `every`-th.
  void contiguous(std::size_t count, std::size_t shift, std::size_t slot, std::size_t every = 1);

  // Segments of one receive buffer. gap: an element that none of them names.
  void segments(const std::vector<ExpectedBlock>& segments, std::optional<std::size_t> gap,
                std::size_t slot);

 private:
  enum class Expect { right, wrong, either };  // either: the host's verifier is the only judge

  void put(const ExpectedBlock& s, std::size_t slot);
  void input(std::size_t count, std::size_t slot);
  void poison(std::size_t count, std::span<const ExpectedBlock> segments, std::size_t slot);
  void guards(std::size_t bytes);
  void inject(Fault fault, std::span<const ExpectedBlock> segments, std::size_t slot);
  Expect expected_of(const Fault& fault) const;
  void hold(const std::string& what, Expect expect, std::span<const ExpectedBlock> segments,
            std::size_t slot);
  void judge(const std::string& what, Expect expect,
             const std::pair<verify::Mismatch, verify::Mismatch>& both);
  void filled(const char* what);
  void say(const std::string& line);

  std::shared_ptr<const verify::Pattern> pattern_;
  verify::Verifier host_, device_;
  verify::Table without_;
  MirroredRow& row_;
  std::mt19937_64& random_;
  CheckReport& report_;
  std::string where_;
};

}  // namespace ccl_tests::tools
