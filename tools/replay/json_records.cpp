#include "tools/replay/json_records.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <istream>
#include <streambuf>
#include <system_error>
#include <utility>
#include <vector>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "tools/replay/json_values.hpp"

namespace ccl_tests::replay {
namespace {

using Json = nlohmann::json;

// A file that is read in pieces. Throws Error if too much of the file is read between two calls of progress(): the parser keeps
// a whole text, number or record in memory.
class PieceBuffer : public std::streambuf {
 public:
  explicit PieceBuffer(const std::string& path)
      : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) fail(std::generic_category().message(errno));
  }
  ~PieceBuffer() override {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  PieceBuffer(const PieceBuffer&) = delete;
  PieceBuffer& operator=(const PieceBuffer&) = delete;

  void progress() { since_ = 0; }
  std::size_t bytes() const { return read_ - static_cast<std::size_t>(egptr() - gptr()); }
  bool at_end() const { return at_end_; }
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(fmt::format("cannot read {}: {}", quote(path_, shown_path_characters), why));
  }

 protected:
  int_type underflow() override {
    constexpr std::size_t most = 16 << 20;
    ::ssize_t got = 0;
    do got = ::read(descriptor_, piece_.data(), piece_.size());
    while (got < 0 && errno == EINTR);
    if (got < 0) fail(std::generic_category().message(errno));
    at_end_ = got == 0;
    if (at_end_) return traits_type::eof();
    read_ += static_cast<std::size_t>(got);
    since_ += static_cast<std::size_t>(got);
    if (since_ > most) fail(fmt::format("the record before byte {} has more than 16 MiB", read_));
    setg(piece_.data(), piece_.data(), piece_.data() + got);
    return traits_type::to_int_type(*gptr());
  }

 private:
  const std::string& path_;
  int descriptor_;
  std::array<char, 1 << 16> piece_{};
  std::size_t read_ = 0, since_ = 0;
  bool at_end_ = false;
};

// What the parser finds, made into records.
class Events : public nlohmann::json_sax<Json> {
 public:
  using Take = std::function<void(const std::string&, const Json&)>;
  Events(PieceBuffer& buffer, const std::set<std::string>& lists,
         const std::set<std::string>& values, const Take& take)
      : buffer_(buffer), lists_(lists), values_(values), take_(take) {}

  bool null() override { return value(Json()); }
  bool boolean(bool v) override { return value(v); }
  bool number_integer(number_integer_t v) override { return value(v); }
  bool number_unsigned(number_unsigned_t v) override { return value(v); }
  bool number_float(number_float_t v, const string_t& /*text*/) override { return value(v); }
  bool string(string_t& v) override { return value(std::move(v)); }
  bool binary(binary_t& /*v*/) override { return false; }
  bool start_object(std::size_t /*elements*/) override { return open(Json::object()); }
  bool start_array(std::size_t /*elements*/) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& v) override {
    (open_.empty() ? member_ : key_) = v;
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    if (buffer_.at_end())
      buffer_.fail(
          fmt::format("it ends at byte {} in the middle of a record: cut off?", buffer_.bytes()));
    buffer_.fail(fmt::format("it is not JSON at byte {}", position));
  }

 private:
  // Returns true if a value that begins now is a record.
  bool begins_record() const {
    if (depth_ == 1) return array_ || values_.contains(member_);
    return depth_ == 2 && !array_ && in_list_;
  }
  bool open(Json container) {
    if (depth_ >= most_levels)
      buffer_.fail(fmt::format("the record before byte {} has more than {} levels", buffer_.bytes(),
                               most_levels));
    if (!open_.empty() || begins_record()) {
      open_.push_back(&put(std::move(container)));
    } else {
      if (depth_ == 0) array_ = container.is_array();
      if (depth_ == 1) in_list_ = container.is_array() && lists_.contains(member_);
      buffer_.progress();
    }
    ++depth_;
    return true;
  }
  bool close() {
    --depth_;
    if (open_.empty()) return true;
    open_.pop_back();
    if (open_.empty()) give();
    return true;
  }
  bool value(Json v) {
    if (!open_.empty()) {
      put(std::move(v));
    } else if (begins_record()) {
      root_ = std::move(v);
      give();
    } else {
      buffer_.progress();
    }
    return true;
  }
  Json& put(Json v) {
    if (open_.empty()) return root_ = std::move(v);
    Json& parent = *open_.back();
    if (parent.is_object()) return parent[key_] = std::move(v);
    parent.push_back(std::move(v));
    return parent.back();
  }
  void give() {
    buffer_.progress();
    take_(array_ ? std::string() : member_, root_);
    root_ = nullptr;
  }

  PieceBuffer& buffer_;
  const std::set<std::string>& lists_;
  const std::set<std::string>& values_;
  const Take& take_;
  std::size_t depth_ = 0;  // containers that are open
  bool array_ = false;     // the file is one
  bool in_list_ = false;
  std::string member_, key_;
  Json root_;
  std::vector<Json*> open_;  // of the record
};

}  // namespace

void for_each_record(const std::string& path, const std::set<std::string>& lists,
                     const std::set<std::string>& values, const Events::Take& take) {
  PieceBuffer buffer(path);
  std::istream stream(&buffer);
  Events events(buffer, lists, values, take);
  Json::sax_parse(stream, &events);
}

}  // namespace ccl_tests::replay
