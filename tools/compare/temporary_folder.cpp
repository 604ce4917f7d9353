#include "tools/compare/temporary_folder.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"

namespace ccl_tests::compare {

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) throw Error(fmt::format("TMPDIR is not a folder: {}", error.message()));
  std::string name = (parent / "ccl-compare-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw Error(fmt::format("cannot make the folder {}: {}", quote(name, shown_path_characters),
                            std::generic_category().message(errno)));
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace ccl_tests::compare
