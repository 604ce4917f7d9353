#include "src/bootstrap/control.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <random>
#include <sstream>
#include <thread>

#include "src/bootstrap/control_client.hpp"
#include "src/bootstrap/control_server.hpp"
#include "src/bootstrap/net.hpp"
#include "src/bootstrap/store_client.hpp"
#include "src/bootstrap/store_server.hpp"
#include "src/core/error.hpp"
#include "src/core/host.hpp"

namespace ccl_tests {
namespace {

class Alone : public Control {
 public:
  int process() const override { return 0; }
  int processes() const override { return 1; }

  std::vector<std::string> all_gather(const Team& /*team*/, std::string_view bytes,
                                      double) override {
    const std::lock_guard lock(mutex_);
    if (failure_) throw_failure(*failure_);
    return {std::string(bytes)};
  }
  void abort(int code, std::string_view message) noexcept override {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = Failure{code, std::string(message)};
    changed_.notify_all();
  }
  Failure wait_failure(double limit_s) override {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, seconds_to_duration(limit_s), [this] { return failure_.has_value(); });
    return failure_.value_or(Failure{});
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Failure> failure_;
};

// Where process 0's hub listens, as the store carries it: "host:port token".
struct HubAddress {
  std::string host;
  int port = 0;
  std::string token;
};

std::string to_text(const HubAddress& address) {
  return address_text(address.host, address.port) + " " + address.token;
}

std::optional<HubAddress> parse_address(const std::string& text) {
  const std::size_t space = text.rfind(' ');
  if (space == std::string::npos) return std::nullopt;
  const std::size_t colon = text.rfind(':', space);
  if (colon == std::string::npos || colon == 0) return std::nullopt;
  HubAddress address{text.substr(0, colon), std::atoi(text.c_str() + colon + 1),
                     text.substr(space + 1)};
  if (address.host.front() == '[') address.host = address.host.substr(1, colon - 2);
  return address;
}

std::string random_token() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

// One descriptor for each process's connection to the hub and to the store, and for the strangers
// there, and some more.
void allow_files(int processes) {
  rlimit limit{};
  const rlim_t wanted =
      2 * (static_cast<rlim_t>(processes) + probation_beside(processes).most) + 256;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

class Joined : public Control {
 public:
  Joined(const Launch& launch, const JoinOptions& options,
         std::function<void(const Failure&)> on_failure, std::function<void(std::string_view)> log)
      : launch_(launch),
        limit_s_(options.init_timeout_s),
        deadline_(deadline_in(limit_s_)),
        log_(std::move(log)),
        from_process_0_(options.from_process_0),
        key_(launch.key_prefix + "control"),
        store_name_(address_text(launch.master_host, launch.master_port)) {
    link_options_.on_failure = std::move(on_failure);
    Hello& self = link_options_.self;
    self.version = options.version;
    self.host = this_host();
    self.process = launch.process;
    self.processes = launch.processes;
    self.ranks_per_process = options.ranks_per_process;
    self.pid = ::getpid();
  }

  ~Joined() override {
    link_.reset();
    if (!hub_) return;
    if (failed_early_) hub_->wait_all_came(5);
    hub_->wait_all_left(2);
  }

  void meet() {
    try {
      find_all();
    } catch (const Timeout&) {  // whoever is missing has had its time
      throw;
    } catch (const Error&) {
      failed_early_ = true;
      throw;
    }
  }

  void find_all() {
    std::optional<StoreClient> store;
    if (launch_.process == 0) {
      if (!from_process_0_) host_store();
      open_hub();
      if (from_process_0_) {
        from_process_0_(all_addresses());
      } else {
        publish(store);
      }
    } else if (from_process_0_) {
      find_one_of(from_process_0_({}));
    } else {
      find();
    }
    link_->wait_welcome(limit_s_);
    // Nobody goes on before the address is gone from the store, which may serve another run next.
    if (store) withdraw(*store);
    link_->all_gather({}, limit_s_);
    server_.reset();  // its port serves other jobs now
    link_->report_failures();
  }

  int process() const override { return launch_.process; }
  int processes() const override { return launch_.processes; }
  std::vector<std::string> all_gather(const Team& team, std::string_view bytes,
                                      double limit_s) override {
    return link_->all_gather(team, bytes, limit_s);
  }
  void abort(int code, std::string_view message) noexcept override { link_->abort(code, message); }
  Failure wait_failure(double limit_s) override { return link_->wait_failure(limit_s); }

 private:
  void open_hub();
  void host_store();
  void publish(std::optional<StoreClient>& store);
  void withdraw(StoreClient& store);
  void find();
  std::string all_addresses() const;
  void find_one_of(const std::string& addresses);
  std::optional<HubAddress> look_up(std::string& why);

  Launch launch_;
  double limit_s_;
  TimePoint deadline_;
  std::function<void(std::string_view)> log_;
  std::function<std::string(const std::string&)> from_process_0_;
  std::string key_, store_name_;
  bool failed_early_ = false;  // while processes may be on their way
  LinkOptions link_options_;
  std::unique_ptr<StoreServer> server_;
  std::unique_ptr<ControlServer> hub_;
  std::unique_ptr<ControlClient> link_;
};

void Joined::host_store() {
  allow_files(launch_.processes);
  if (!launch_.agent_store) {
    try {
      server_ = std::make_unique<StoreServer>(launch_.master_port, std::string(),
                                              probation_beside(launch_.processes));
    } catch (const std::system_error& error) {
      throw Error(fmt::format("rank 0 cannot listen on port {} (MASTER_PORT): {}; another job?",
                              launch_.master_port, error.code().message()));
    }
  }
}

void Joined::open_hub() {
  allow_files(launch_.processes);
  link_options_.self.token = random_token();
  HubOptions hub_options;
  hub_options.self = link_options_.self;
  hub_options.init_timeout_s = limit_s_;
  hub_options.strangers = probation_beside(launch_.processes);
  hub_options.log = log_;
  hub_ = std::make_unique<ControlServer>(std::move(hub_options));
  link_ = std::make_unique<ControlClient>(link_options_, hub_->attach(), deadline_);
}

void Joined::publish(std::optional<StoreClient>& store) {
  try {
    store.emplace(launch_.master_host, launch_.master_port, deadline_);
  } catch (const Timeout& error) {
    throw Timeout(fmt::format("rank 0 cannot reach {} (MASTER_ADDR and MASTER_PORT): {}",
                              store_name_, error.what()));
  }
  const bool loopback = store->local_address_is_loopback();
  const HubAddress address{loopback ? launch_.master_host : store->local_address(), hub_->port(),
                           link_options_.self.token};
  store->set(key_, to_text(address), deadline_);
}

// A store that is gone took the address with it: the job, which has met, does not need it.
void Joined::withdraw(StoreClient& store) {
  try {
    store.remove(key_, deadline_in(std::min(limit_s_, 10.0)));
  } catch (const Error& error) {
    log_(fmt::format("after all ranks have met: {}", error.what()));
  }
}

// Nothing while the store cannot be asked: rank 0 may host it, and be about to start or to end.
std::optional<HubAddress> Joined::look_up(std::string& why) {
  try {
    StoreClient store(launch_.master_host, launch_.master_port, deadline_);
    return parse_address(store.get(key_, deadline_));
  } catch (const Error& error) {
    why = error.what();
    return std::nullopt;
  }
}

// An address may be a previous run's, or its host not be reachable yet: asked for again each time.
void Joined::find() {
  using namespace std::chrono_literals;
  std::string why;
  for (auto pause = 50ms; std::chrono::steady_clock::now() < deadline_;
       pause = std::min(2 * pause, 1000ms)) {
    if (const std::optional<HubAddress> address = look_up(why)) {
      try {
        link_options_.self.token = address->token;
        link_ = std::make_unique<ControlClient>(link_options_, address->host, address->port,
                                                std::min(deadline_, deadline_in(10)));
        return;
      } catch (const NoHub& error) {
        why = fmt::format("its control port {}: {}", address_text(address->host, address->port),
                          error.what());
      }
    }
    std::this_thread::sleep_until(std::min(std::chrono::steady_clock::now() + pause, deadline_));
  }
  throw Timeout(
      fmt::format("rank 0 did not appear at {} (MASTER_ADDR and MASTER_PORT) within {:g} s: {}",
                  store_name_, limit_s_, why));
}

// One line for each address of this host: without a store's connection nobody knows which of them
// the others can reach.
std::string Joined::all_addresses() const {
  std::string text;
  for (const std::string& host : local_addresses())
    text += to_text({host, hub_->port(), link_options_.self.token}) + '\n';
  return text;
}

void Joined::find_one_of(const std::string& addresses) {
  std::string why;
  do {
    why.clear();
    std::istringstream lines(addresses);
    for (std::string line; std::getline(lines, line);) {
      const std::optional<HubAddress> address = parse_address(line);
      if (!address) continue;
      try {
        link_options_.self.token = address->token;
        link_ = std::make_unique<ControlClient>(link_options_, address->host, address->port,
                                                std::min(deadline_, deadline_in(3)));
        return;
      } catch (const NoHub& error) {
        why += fmt::format("{}{}: {}", why.empty() ? "" : "; ",
                           address_text(address->host, address->port), error.what());
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  } while (std::chrono::steady_clock::now() < deadline_);
  throw Timeout(fmt::format("rank 0 cannot be reached at any of its addresses within {:g} s: {}",
                            limit_s_, why));
}

}  // namespace

std::unique_ptr<Control> alone() { return std::make_unique<Alone>(); }

std::unique_ptr<Control> join(const Launch& launch, const JoinOptions& options,
                              std::function<void(const Failure&)> on_failure,
                              std::function<void(std::string_view)> log) {
  if (launch.processes == 1) return alone();
  if (!log) log = [](std::string_view) {};
  auto joined = std::make_unique<Joined>(launch, options, std::move(on_failure), std::move(log));
  joined->meet();
  return joined;
}

}  // namespace ccl_tests
