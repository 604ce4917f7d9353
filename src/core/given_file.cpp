#include "src/core/given_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"

namespace ccl_tests {
namespace {

// An open file.
class GivenFile {
 public:
  explicit GivenFile(const std::string& path)
      : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat status {};
    if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) fail_by_errno();
    is_new_pipe_ = S_ISFIFO(status.st_mode);
  }
  ~GivenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  GivenFile(const GivenFile&) = delete;
  GivenFile& operator=(const GivenFile&) = delete;

  // Returns the next bytes, until the next call; none at the end. Does not wait for ever for who
  // writes a pipe.
  std::string_view next() {
    constexpr int patience_s = 30;
    for (;;) {
      const ::ssize_t got = ::read(descriptor_, piece_.data(), piece_.size());
      if (got == 0 && is_new_pipe_) fail("it is a pipe that nobody writes to; use a file");
      if (got >= 0) {
        is_new_pipe_ = false;
        return {piece_.data(), static_cast<std::size_t>(got)};
      }
      ::pollfd data{descriptor_, POLLIN, 0};
      if (errno == EAGAIN && ::poll(&data, 1, patience_s * 1000) == 0)
        fail(fmt::format("it is a pipe, and nothing came for {} s; use a file", patience_s));
      else if (errno != EAGAIN && errno != EINTR)
        fail_by_errno();
    }
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(fmt::format("cannot read {}: {}", quote(path_, shown_path_characters), why));
  }

 private:
  [[noreturn]] void fail_by_errno() const { fail(std::generic_category().message(errno)); }

  const std::string& path_;
  int descriptor_;
  bool is_new_pipe_ = false;  // of which nothing has been read
  std::array<char, 1 << 16> piece_{};
};

}  // namespace

std::string read_given_file(const std::string& path, std::size_t most) {
  GivenFile file(path);
  std::string text;
  for (std::string_view piece = file.next(); !piece.empty(); piece = file.next()) {
    text += piece;
    if (text.size() > most) file.fail(fmt::format("it has more than {} bytes", most));
  }
  return text;
}

void for_each_given_line(const std::string& path, std::size_t most,
                         const std::function<bool(std::string_view line, bool ended)>& take) {
  GivenFile file(path);
  std::string begun;  // a line without its end
  for (std::string_view piece = file.next(); !piece.empty(); piece = file.next()) {
    for (std::size_t end = 0; (end = piece.find('\n')) != std::string_view::npos;) {
      begun += piece.substr(0, end);
      piece.remove_prefix(end + 1);
      if (!take(begun, true)) return;
      begun.clear();
    }
    begun += piece;
    if (begun.size() > most) file.fail(fmt::format("a line has more than {} bytes", most));
  }
  if (!begun.empty()) take(begun, false);
}

}  // namespace ccl_tests
