#include "src/judge/digest_file.hpp"

#include <fmt/format.h>
#include <sys/file.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"

namespace ccl_tests {
namespace {

constexpr std::size_t digits = 16;
constexpr std::string_view gap = "  ";
constexpr std::size_t longest_line = 1000;

constexpr const char* accepted = "a file that --digests has written, or the name of a new one";

std::string reason() { return std::generic_category().message(errno); }

}  // namespace

DigestFile::DigestFile(std::string path) : path_(std::move(path)) {
  if (std::filesystem::exists(path_) && !std::filesystem::is_regular_file(path_))
    throw UsageError(fmt::format("--digests: {} is no file; accepted: {}", quote(path_), accepted));
  file_.reset(std::fopen(path_.c_str(), "ae"));
  if (!file_)
    throw UsageError(fmt::format("--digests: cannot write {}: {}; accepted: {}", quote(path_),
                                 reason(), accepted));
  identity_ = identity_of(::fileno(file_.get()), path_);
  // What two runs at once add would not be compared. Some network file systems have no locks.
  if (::flock(::fileno(file_.get()), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw UsageError(fmt::format(
        "--digests: another run writes {} now; accepted: a file of its own for each run",
        quote(path_)));
  read();
}

void DigestFile::read() {
  std::ifstream in(path_);
  if (!in)
    throw UsageError(fmt::format("--digests: cannot read {}: {}; accepted: {}", quote(path_),
                                 reason(), accepted));
  std::array<char, longest_line> buffer;
  for (std::size_t number = 1; in.getline(buffer.data(), buffer.size()) || in.gcount() > 0;
       ++number) {
    const bool whole = !in.fail() && !in.eof();
    const std::string line(buffer.data());
    const bool is_digest = whole && line.size() > digits + gap.size() &&
                           line.find_first_not_of("0123456789abcdef") == digits &&
                           line.compare(digits, gap.size(), gap) == 0;
    if (!is_digest)
      throw UsageError(
          fmt::format("--digests: line {} of {} is not a digest and a row; accepted: {}", number,
                      quote(path_), accepted));
    const Known known{line.substr(0, digits), true};
    const auto [at, added] = known_.try_emplace(line.substr(digits + gap.size()), known);
    if (at->second.digest != known.digest)
      throw UsageError(
          fmt::format("--digests: line {} of {} is another digest of a row above it; accepted: {}",
                      number, quote(path_), accepted));
  }
  if (in.bad()) throw Error(fmt::format("--digests: cannot read {}: {}", quote(path_), reason()));
}

std::optional<DigestFile::Known> DigestFile::compare(const std::string& row,
                                                     const std::string& digest) {
  const auto [at, added] = known_.try_emplace(row, Known{digest, false});
  if (!added) return at->second;
  if (!file_) return std::nullopt;
  check();
  const std::string line = fmt::format("{}{}{}\n", digest, gap, row);
  if (std::fputs(line.c_str(), file_.get()) < 0 || std::fflush(file_.get()) != 0)
    throw Error(fmt::format("--digests: cannot write {}: {}", quote(path_), reason()));
  return std::nullopt;
}

void DigestFile::check() const {
  if (!file_) return;
  if (const auto lost = lost_name(::fileno(file_.get()), path_, identity_); !lost.empty())
    throw Error(fmt::format("--digests: cannot write {}: {}", quote(path_), lost));
}

}  // namespace ccl_tests
