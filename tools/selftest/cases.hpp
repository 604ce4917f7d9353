// The cases that ccl_selftest tries.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/core/collective.hpp"
#include "src/inject/fault.hpp"
#include "src/record/record.hpp"
#include "src/run/point.hpp"

namespace ccl_tests::selftest {

// Programs that are one operation of the library: what is spoiled there is what they verify. The others
// are made of these operations, and send lengths that a fault would make impossible.
std::vector<const Collective*> tested_programs();

// No data, less than an element of some types, odd, a page and its neighbours, primes.
std::vector<std::size_t> default_sizes();

// The fault of case `number`: at a rank whose result it can change, to one call. calls: of a row.
Fault fault_of(FaultKind kind, const Collective& collective, int ranks, std::size_t number,
               std::size_t calls);

// Why the fault changes no result of this row; nullopt: it changes one.
std::optional<std::string> why_harmless(FaultKind kind, const Collective& collective,
                                        const SweepPoint& point, int ranks);

// Whether what verification says of a wrong result is what was done; nullopt: it has no words for this kind.
std::optional<bool> is_named(FaultKind kind, const Collective& collective, const Mismatch& found);

}  // namespace ccl_tests::selftest
