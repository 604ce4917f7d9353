#include "tools/replay/json_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <istream>
#include <streambuf>
#include <utility>
#include <vector>

#include "src/core/quote.hpp"
#include "tools/replay/json_values.hpp"

namespace ccl_tests::replay {
namespace {

using Json = nlohmann::json;

// A trace that is read in pieces. Throws Error if too much of it is read between two calls of
// progress(): the parser keeps a whole text, number or record in memory.
class PieceBuffer : public std::streambuf {
 public:
  explicit PieceBuffer(const TracePlace& place) : file_(place) {}

  void progress() { since_ = 0; }
  std::size_t bytes() const { return read_ - static_cast<std::size_t>(egptr() - gptr()); }
  bool at_end() const { return at_end_; }
  [[noreturn]] void fail(const std::string& why) const { file_.fail(why); }

 protected:
  int_type underflow() override {
    constexpr std::size_t most = 16 << 20, longest_word = 64;
    std::size_t got = file_.read(piece_.data(), piece_.size() - longest_word);
    at_end_ = got == 0;
    if (at_end_) return traits_type::eof();
    // A word is not divided.
    while (got < piece_.size() && is_of_word(piece_[got - 1]) && file_.read(&piece_[got], 1) > 0)
      ++got;
    not_numbers_.replace({piece_.data(), got});
    read_ += got;
    since_ += got;
    if (since_ > most) fail(fmt::format("the record before byte {} has more than 16 MiB", read_));
    setg(piece_.data(), piece_.data(), piece_.data() + got);
    return traits_type::to_int_type(*gptr());
  }

 private:
  TraceFile file_;
  NotNumbers not_numbers_;
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
  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::detail::exception& error) override {
    buffer_.fail(where(error.what()) + why_not_json(position, token));
  }

 private:
  // Returns the place that the parser names, of "... at line 1, column 5: ...": "line 1, column 5:
  // ".
  static std::string where(const std::string& error) {
    const std::size_t at = error.find("line ");
    const std::size_t end = error.find(':', at);
    return at == std::string::npos || end == std::string::npos ? ""
                                                               : error.substr(at, end - at) + ": ";
  }
  // The traces that PyTorch leaves are not JSON in ways of their own.
  std::string why_not_json(std::size_t position, const std::string& token) const {
    constexpr const char* known = "PyTorch's observer leaves such files (pytorch issue 126703)";
    const std::string whole = fmt::format("whole before it: {} records", count_);
    const bool between = open_.empty() && (depth_ == 2 ? in_list_ : array_ && depth_ == 1);
    if (buffer_.at_end())
      return fmt::format(
          "it ends at byte {} in the middle of a record: cut off? {}; accepted: a trace that its "
          "writer completed, as unregister_callback() does",
          buffer_.bytes(), whole);
    if (depth_ == 0 && begun_)
      return fmt::format("{} follows the document; {}; to keep what is before it: head -c {}",
                         token.ends_with('{') ? "a second one" : "text", known, position - 1);
    if (between && token.ends_with('{'))
      return fmt::format("a comma is missing; {}; {}: insert it", known, whole);
    if (between && token.ends_with(']'))
      return fmt::format("a comma has no record behind it; {}; {}: remove it", known, whole);
    constexpr std::size_t shown = 16;
    return fmt::format("it is not JSON at byte {}: unexpected {}; {}", position,
                       quote(token.substr(token.size() - std::min(token.size(), shown))), whole);
  }
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
      begun_ = true;
      if (depth_ == 0 ? array_ : depth_ == 1 && in_list_) {
        count_ = 0;
        take_(array_ ? std::string() : member_, Json(Json::value_t::discarded));
      }
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
    ++count_;
    take_(array_ ? std::string() : member_, root_);
    root_ = nullptr;
  }

  PieceBuffer& buffer_;
  const std::set<std::string>& lists_;
  const std::set<std::string>& values_;
  const Take& take_;
  std::size_t depth_ = 0;  // containers that are open
  std::size_t count_ = 0;  // of the list's records so far
  bool begun_ = false;
  bool array_ = false;  // the file is one
  bool in_list_ = false;
  std::string member_, key_;
  Json root_;
  std::vector<Json*> open_;  // of the record
};

}  // namespace

void for_each_record(const TracePlace& place, const std::set<std::string>& lists,
                     const std::set<std::string>& values, const Events::Take& take) {
  PieceBuffer buffer(place);
  std::istream stream(&buffer);
  Events events(buffer, lists, values, take);
  Json::sax_parse(stream, &events);
}

}  // namespace ccl_tests::replay
