// The parts of a JSON file of any size that matter, one at a time.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tools/replay/trace_file.hpp"

namespace ccl_tests::replay {

// Calls take(name, record) for each record of a trace: the elements of the array that is the whole
// trace (name empty); of an object that is the whole trace the elements of the members `lists`, and
// the members `values` as they are. Calls take(name, a discarded value) where such an array begins.
// Skips all else. Keeps one record in memory. Throws Error that names the line and the record: no
// JSON, cut off, a record of more than 16 MiB or 1000 levels.
void for_each_record(
    const TracePlace& place, const std::set<std::string>& lists,
    const std::set<std::string>& values,
    const std::function<void(const std::string& name, const nlohmann::json& record)>& take);

}  // namespace ccl_tests::replay
