#include "src/bootstrap/job_key.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <random>
#include <utility>

#include "src/core/sha256.hpp"

namespace ccl_tests {

std::string job_key(std::string_view job, std::string_view secret) {
  return hmac_sha256(secret, job);
}

std::string job_proof(const std::string& key, Side side, std::string_view nonce) {
  std::string text = side == Side::process ? "process " : "server ";
  return hmac_sha256(key, text.append(nonce));
}

bool are_equal(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |=
        static_cast<unsigned char>(a[i]) ^ static_cast<unsigned>(static_cast<unsigned char>(b[i]));
  return difference == 0;
}

std::string random_bytes(std::size_t count) {
  std::random_device random;
  std::string out;
  while (out.size() < count) out += static_cast<char>(random() & 0xff);
  return out;
}

std::string random_hex(std::size_t digits) {
  constexpr std::string_view digit = "0123456789abcdef";
  std::random_device random;
  std::string out;
  while (out.size() < digits) out += digit[random() % 16];
  return out;
}

namespace {

// What must be the same in all processes.
struct Term {
  std::string name, value;
  bool operator==(const Term&) const = default;
};
using Terms = std::array<Term, 4>;

Terms terms_of(const Hello& hello) {
  return {{{"the version", hello.version},
           {"WORLD_SIZE", std::to_string(hello.processes)},
           {"the number of ranks in a process", std::to_string(hello.ranks_per_process)},
           {"the digest of its flags", hello.settings}}};
}

// Processes that say the same.
struct Party {
  Terms terms;
  std::vector<std::string> names;
};

std::vector<Party> parties_of(const std::vector<Hello>& all) {
  std::vector<Party> parties;
  for (const Hello& hello : all) {
    const Terms terms = terms_of(hello);
    auto party = std::find_if(parties.begin(), parties.end(),
                              [&](const Party& known) { return known.terms == terms; });
    if (party == parties.end()) party = parties.insert(party, {terms, {}});
    party->names.push_back(hello.name());
  }
  return parties;
}

}  // namespace

std::string join_names(const std::vector<std::string>& names) {
  constexpr std::size_t shown = 16;
  std::string out;
  for (std::size_t i = 0; i < names.size() && i < shown; ++i) {
    out += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > shown) out += fmt::format(" and {} more", names.size() - shown);
  return out;
}

bool agree(const Hello& a, const Hello& b) { return terms_of(a) == terms_of(b); }

bool agree_but_for_flags(const Hello& a, Hello b) {
  b.settings = a.settings;
  return agree(a, b);
}

std::string difference(const Hello& hello, const Hello& from) {
  const Terms terms = terms_of(hello), others = terms_of(from);
  const auto [one, other] = std::mismatch(terms.begin(), terms.end(), others.begin());
  if (one == terms.end()) return {};
  return fmt::format("{} is {}, on {} it is {}", one->name, one->value, from.name(), other->value);
}

std::string disagreement(std::vector<Hello> all) {
  std::sort(all.begin(), all.end(),
            [](const Hello& a, const Hello& b) { return a.process < b.process; });
  const std::vector<Party> parties = parties_of(all);
  const Party& most = *std::max_element(
      parties.begin(), parties.end(),
      [](const Party& a, const Party& b) { return a.names.size() < b.names.size(); });
  std::vector<std::string> lines;
  for (const Party& party : parties) {
    const auto [theirs, others] =
        std::mismatch(party.terms.begin(), party.terms.end(), most.terms.begin());
    if (theirs == party.terms.end()) continue;
    lines.push_back(fmt::format("{}: {} is {}, on {} it is {}", join_names(party.names),
                                theirs->name, theirs->value, most.names.front(), others->value));
  }
  return fmt::format("the processes do not agree: {}", fmt::join(lines, "; "));
}

std::string twice(const Hello& a, const Hello& b) {
  return fmt::format(
      "{} {} twice: on {} (pid {}) and on {} (pid {}): started twice, or two jobs on one "
      "MASTER_PORT",
      a.ranks(), a.ranks_per_process == 1 ? "exists" : "exist", a.host, a.pid, b.host, b.pid);
}

}  // namespace ccl_tests
