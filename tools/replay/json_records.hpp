// The parts of a JSON file of any size that matter, one at a time.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace ccl_tests::replay {

// Calls take(name, record) for each record of a file: the elements of the array that is the whole file (name empty);
// of an object that is the whole file the elements of the members `lists`, and the members `values` as they are. Skips all
// else. Keeps one record in memory. Throws Error that names the file and the byte: no JSON, cut off, a record
// of more than 16 MiB or 1000 levels.
void for_each_record(
    const std::string& path, const std::set<std::string>& lists,
    const std::set<std::string>& values,
    const std::function<void(const std::string& name, const nlohmann::json& record)>& take);

}  // namespace ccl_tests::replay
