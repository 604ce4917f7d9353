// One connection of a store's server, and the keys that all of them share. Only for .cpp files:
// includes Asio.
#pragma once

#include <array>
#include <asio/ip/tcp.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/bootstrap/probation.hpp"
#include "src/bootstrap/store_request.hpp"

namespace ccl_tests {

class StoreSession;

struct StoreKeys {
  void set(const std::string& key, std::string value);
  void changed(const std::string& key);  // wakes those who wait for it
  const std::string* first_missing(const std::vector<std::string>& keys) const;

  std::unordered_map<std::string, std::string> values;
  std::unordered_map<std::string, std::set<StoreSession*>>
      waiting;  // under one key that is missing
  std::set<std::shared_ptr<StoreSession>> sessions;
  std::array<char, 65536> chunk{};  // for whoever reads
};

// Used on the thread of its socket only. On probation until it has said VALIDATE, and again
// while a request is incomplete.
class StoreSession : public std::enable_shared_from_this<StoreSession> {
 public:
  StoreSession(asio::ip::tcp::socket socket, StoreKeys& keys, Probation& probation)
      : socket_(std::move(socket)), keys_(keys), probation_(probation) {}

  void start();
  void wake();  // one of the keys that it waits for has come

 private:
  void read();
  void take();
  void serve(const StoreRequest& request);
  void wait();
  void stop_waiting();
  void set_complete(bool complete);
  std::int64_t add(const std::string& key, std::int64_t amount);
  const std::string& compare_set(const StoreRequest& request);
  const std::string& value_of(const std::string& key) const;
  void write();
  void close();

  template <class T>
  void answer(T value) {
    put(out_, value);
    write();
  }
  void answer_blob(std::string_view bytes) {
    put_blob(out_, bytes);
    write();
  }

  asio::ip::tcp::socket socket_;
  StoreKeys& keys_;
  Probation& probation_;
  std::optional<Probation::Place> on_probation_;
  std::string in_, out_, under_way_;
  bool valid_ = false, writing_ = false;
  std::vector<std::string> wanted_;
  std::optional<std::string> waits_under_;  // the key in StoreKeys::waiting
};

}  // namespace ccl_tests
