// A file that is complete after every write, also when the process is killed between two of them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ccl_tests {

// Unbuffered. A write that fails throws Error naming path and reason and leaves the file as it was.
class OutputFile {
 public:
  // Never overwrites: .0, .1, ... goes before `suffix` (which path ends with; empty: to the end)
  // until the name is free. Throws UsageError.
  static OutputFile create(const std::string& path, std::string_view suffix);

  // Takes over an empty file, open for reading and writing.
  OutputFile(int descriptor, std::string path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  const std::string& path() const { return path_; }
  void append(std::string_view text) { replace_end(0, text); }
  // The file's last `bytes` bytes give way to `text`.
  void replace_end(std::size_t bytes, std::string_view text);
  // The bytes from `at` on give way to `text`, which ends within the file.
  void overwrite(std::size_t at, std::string_view text);
  void close();

 private:
  void restore(std::size_t at, std::string_view old) noexcept;
  [[noreturn]] void fail(int error) const;

  int descriptor_;
  std::string path_;
  std::size_t size_ = 0;
};

}  // namespace ccl_tests
