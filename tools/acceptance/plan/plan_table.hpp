// A table of a plan's file.
#pragma once

#include <toml++/toml.h>

#include <functional>
#include <string>
#include <vector>

namespace ccl_tests::acceptance {

// Each key is read once; those that are not are refused. What is not accepted throws UsageError with the file's
// name, the line, the key, and what is.
class PlanTable {
 public:
  // source: what messages call the file; where: the tables around this one, each with a full stop behind it.
  PlanTable(const toml::table& table, std::string source, std::string where);

  // These call take, or set the value, if the key is there.
  using Take = std::function<void(const std::string&)>;
  void word(const char* key, const Take& take);  // a text that is not empty
  void text(const char* key, const Take& take);  // a number, too, as its text
  template <class T>
  void read(const char* key, T& value, T (*parse)(const std::string&)) {
    text(key, [&](const std::string& given) { value = parse(given); });
  }
  void flag(const char* key, bool& value);
  void list(const char* key, const Take& take);  // for each element
  // For the table of that name, or for each table of an array of them.
  void tables(const char* key, const std::function<void(PlanTable&)>& take);

  const toml::node* find(const char* key);  // null: it is not there
  void refuse_other_keys() const;

 private:
  void in_line(const toml::node& node, const char* key, const std::function<void()>& read) const;
  [[noreturn]] void fail(const toml::node& node, const char* key, const std::string& why) const;

  const toml::table& table_;
  std::string source_, where_;
  std::vector<std::string> keys_;
};

}  // namespace ccl_tests::acceptance
