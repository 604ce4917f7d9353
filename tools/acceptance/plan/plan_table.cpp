#include "tools/acceptance/plan/plan_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "src/core/error.hpp"

namespace ccl_tests::acceptance {
namespace {

std::string text_of(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto number = node.value<double>()) return fmt::format("{}", *number);
  throw UsageError("a text or a number is expected");
}

}  // namespace

PlanTable::PlanTable(const toml::table& table, std::string source, std::string where)
    : table_(table), source_(std::move(source)), where_(std::move(where)) {}

void PlanTable::word(const char* key, const Take& take) {
  const toml::node* const node = find(key);
  if (node == nullptr) return;
  const auto given = node->value_exact<std::string>();
  if (!given || given->empty()) fail(*node, key, "accepted: a text, \"...\"");
  take(*given);
}

void PlanTable::text(const char* key, const Take& take) {
  if (const toml::node* node = find(key)) in_line(*node, key, [&] { take(text_of(*node)); });
}

void PlanTable::flag(const char* key, bool& value) {
  const toml::node* const node = find(key);
  if (node == nullptr) return;
  const auto given = node->value_exact<bool>();
  if (!given) fail(*node, key, "accepted: true and false");
  value = *given;
}

void PlanTable::list(const char* key, const Take& take) {
  const toml::node* const node = find(key);
  if (node == nullptr) return;
  if (!node->is_array()) fail(*node, key, "accepted: a list, [\"...\", \"...\"]");
  for (const toml::node& item : *node->as_array()) in_line(item, key, [&] { take(text_of(item)); });
}

void PlanTable::tables(const char* key, const std::function<void(PlanTable&)>& take) {
  const toml::node* const node = find(key);
  if (node == nullptr) return;
  const auto one = [&](const toml::node& item) {
    if (!item.is_table()) fail(item, key, "accepted: a table");
    PlanTable table(*item.as_table(), source_, where_ + key + ".");
    take(table);
    table.refuse_other_keys();
  };
  if (const toml::array* const array = node->as_array()) {
    for (const toml::node& item : *array) one(item);
  } else {
    one(*node);
  }
}

const toml::node* PlanTable::find(const char* key) {
  if (std::find(keys_.begin(), keys_.end(), key) == keys_.end()) keys_.emplace_back(key);
  return table_.get(key);
}

void PlanTable::refuse_other_keys() const {
  for (const auto& [key, node] : table_) {
    if (std::find(keys_.begin(), keys_.end(), key.str()) != keys_.end()) continue;
    throw UsageError(fmt::format("{}:{}: no key {}{}; accepted: {}", source_,
                                 node.source().begin.line, where_, std::string(key.str()),
                                 fmt::join(keys_, ", ")));
  }
}

void PlanTable::in_line(const toml::node& node, const char* key,
                        const std::function<void()>& read) const {
  try {
    read();
  } catch (const UsageError& e) {
    fail(node, key, e.what());
  }
}

void PlanTable::fail(const toml::node& node, const char* key, const std::string& why) const {
  throw UsageError(
      fmt::format("{}:{}: {}{}: {}", source_, node.source().begin.line, where_, key, why));
}

}  // namespace ccl_tests::acceptance
