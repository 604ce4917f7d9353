// Flags that the tool appends to the user's commands.
#pragma once

#include <cstddef>
#include <set>
#include <string>

namespace ccl_tests::compare {

// Returns whether the command says which sizes it measures: -b, -e, -f, -i, --sizes and their long
// names, or --tensors.
bool chooses_sizes(const std::string& command);

// Returns the command with " -J 'file'", and with " --sizes LIST" if `sizes` is not empty.
std::string with_flags(const std::string& command, const std::string& file,
                       const std::set<std::size_t>& sizes);

}  // namespace ccl_tests::compare
