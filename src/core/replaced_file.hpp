// A file that others read at any time: they see the old one or the new one, whole.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace ccl_tests {

// Written beside the file that it replaces, and renamed. What a link leads to is replaced; the permissions
// of a file that is there stay, a new one is readable by all.
class ReplacedFile {
 public:
  // Throws Error that names `path` and the reason: it is not a regular file, or the
  // folder cannot be written to.
  explicit ReplacedFile(const std::string& path);
  const std::string& path() const { return path_; }

  // Throws Error.
  void replace(std::string_view text);

 private:
  std::string path_;
  ::mode_t mode_ = 0644;
};

}  // namespace ccl_tests
