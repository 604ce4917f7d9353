#include "src/core/given_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"

namespace ccl_tests {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

}  // namespace

std::string read_given_file(const std::string& path, std::size_t most) {
  const auto fail = [&](const std::string& why) {
    throw Error(fmt::format("cannot read {}: {}", quote(path, shown_path_characters), why));
  };
  const auto because_of = [](int number) { return std::generic_category().message(number); };
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) fail(because_of(errno));
  constexpr std::size_t piece = 1 << 16;
  std::string text;
  for (std::size_t used = 0;;) {
    text.resize(used + piece);
    const ::ssize_t got = ::read(file.number(), text.data() + used, piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(because_of(errno));
    used += static_cast<std::size_t>(got);
    text.resize(used);
    if (got == 0) return text;
    if (used > most) fail(fmt::format("it has more than {} bytes", most));
  }
}

}  // namespace ccl_tests
