#include "tools/replay/trace_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "src/core/quote.hpp"

namespace ccl_tests::replay {
namespace {

// Of the headers of an archive.
constexpr std::size_t block_bytes = 512;
// Traces pack to a tenth or a fiftieth. A file that is made to fill memory or time packs to a
// thousandth.
constexpr std::size_t looked_at_from = std::size_t{1} << 30, most_times = 256;

// Returns a text up to its first zero byte.
std::string ended(const std::string& text) { return text.substr(0, text.find('\0')); }

// Returns the text of a header's field.
std::string field(const std::string& header, std::size_t at, std::size_t bytes) {
  return ended(header.substr(at, bytes));
}

// Returns the name that "30 path=NAME\n27 mtime=..." gives to the next member.
std::string path_of(const std::string& records) {
  constexpr std::string_view key = " path=";
  const std::size_t at = records.find(key);
  if (at == std::string::npos) return {};
  return records.substr(at + key.size(), records.find('\n', at) - at - key.size());
}

}  // namespace

std::string TracePlace::text() const {
  std::string all = quote(file, shown_path_characters);
  for (const std::string& part : {member, process})
    if (!part.empty()) all += ", " + quote(part, shown_path_characters);
  return all;
}

TraceFile::TraceFile(const TracePlace& place) : place_(place), file_(nullptr, ::gzclose) {
  const int descriptor = ::open(place.file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) fail(std::generic_category().message(errno));
  file_.reset(::gzdopen(descriptor, "rb"));
  if (file_ == nullptr) {
    ::close(descriptor);
    fail("no memory");
  }
  struct ::stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
    fail("it is no regular file, which can be read twice; accepted: a file");
  if (place.member.empty()) return;
  for (std::string name; name != place.member;)
    if ((name = next_member()).empty()) fail("the archive has no such file");
}

Error cannot_read(const TracePlace& place, const std::string& why) {
  return Error(fmt::format("cannot read {}: {}", place.text(), why));
}

std::size_t TraceFile::unpack(char* to, std::size_t most) {
  const int got = ::gzread(file_.get(), to, static_cast<unsigned>(most));
  int code = Z_OK;
  ::gzerror(file_.get(), &code);
  if (code == Z_ERRNO) fail(std::generic_category().message(errno));
  if (code == Z_BUF_ERROR && got <= 0) fail("it is cut off: its compressed data have no end");
  if (got < 0) fail("its compressed data are damaged");
  unpacked_ += static_cast<std::size_t>(got);
  if (unpacked_ > looked_at_from && ::gzdirect(file_.get()) == 0 &&
      unpacked_ / most_times > static_cast<std::size_t>(::gzoffset(file_.get())))
    fail(fmt::format("it unpacks to more than {} times its size, as no trace does", most_times));
  return static_cast<std::size_t>(got);
}

std::size_t TraceFile::read(char* to, std::size_t most) {
  constexpr std::string_view byte_order = "\xef\xbb\xbf";
  std::size_t got = unpack(to, std::min(most, left_));
  left_ -= got;
  if (at_begin_ && std::string_view(to, got).starts_with(byte_order)) {
    got -= byte_order.size();
    std::memmove(to, to + byte_order.size(), got);
  }
  at_begin_ = false;
  return got;
}

std::string TraceFile::block(std::size_t bytes) {
  std::string all(bytes, '\0');
  all.resize(unpack(all.data(), bytes));
  return all;
}

std::string TraceFile::next_member() {
  constexpr std::size_t longest_name = 1 << 16;
  std::string long_name;
  if (unpacked_ == 0) left_ = 0;
  for (;;) {
    for (left_ += padding_; left_ > 0; left_ -= std::min(left_, longest_name))
      block(std::min(left_, longest_name));
    const std::string header = block(block_bytes);
    if (header.empty() || header[0] == '\0') return {};
    if (!is_archive(header)) fail("the archive is damaged");
    left_ = std::strtoull(field(header, 124, 12).c_str(), nullptr, 8);
    padding_ = (block_bytes - left_ % block_bytes) % block_bytes;
    at_begin_ = true;
    const char type = header[156];
    if (type == 'L' || type == 'x') {  // the next member's name, of GNU and of POSIX
      if (left_ > longest_name) fail("the archive has a name of more than 64 KiB");
      const std::string data = block(left_);
      long_name = type == 'L' ? ended(data) : path_of(data);
      left_ = 0;
      continue;
    }
    const std::string folder = field(header, 345, 155);
    const std::string name = field(header, 0, 100);
    if (type == '0' || type == '\0')
      return !long_name.empty() ? long_name : folder.empty() ? name : folder + "/" + name;
    long_name.clear();
  }
}

std::string head_of(const TracePlace& place) {
  constexpr std::size_t looked_at = 1 << 16;
  TraceFile file(place);
  std::string head(looked_at, '\0');
  head.resize(file.read(head.data(), head.size()));
  return head;
}

bool is_archive(std::string_view head) {
  return head.size() >= block_bytes && head.substr(257, 5) == "ustar";
}

std::vector<std::string> members_of(const std::string& file) {
  TraceFile archive({file});
  std::vector<std::string> names;
  for (std::string name; !(name = archive.next_member()).empty();) names.push_back(name);
  sort_by_number(names);
  return names;
}

void for_each_line(const TracePlace& place,
                   const std::function<void(std::string_view line, bool ended)>& take) {
  constexpr std::size_t longest_line = 1 << 20;
  TraceFile file(place);
  std::string begun, piece(1 << 16, '\0');  // a line without its end
  while (const std::size_t got = file.read(piece.data(), piece.size())) {
    std::string_view rest(piece.data(), got);
    for (std::size_t end = 0; (end = rest.find('\n')) != std::string_view::npos;) {
      begun += rest.substr(0, end);
      rest.remove_prefix(end + 1);
      take(begun, true);
      begun.clear();
    }
    begun += rest;
    if (begun.size() > longest_line)
      file.fail(fmt::format("a line has more than {} bytes", longest_line));
  }
  if (!begun.empty()) take(begun, false);
}

void sort_by_number(std::vector<std::string>& names) {
  std::sort(names.begin(), names.end(), [](const std::string& one, const std::string& other) {
    return ::strverscmp(one.c_str(), other.c_str()) < 0;
  });
}

}  // namespace ccl_tests::replay
