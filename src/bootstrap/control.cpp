#include "src/bootstrap/control.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>

#include "src/bootstrap/control_client.hpp"
#include "src/bootstrap/control_server.hpp"
#include "src/bootstrap/job_key.hpp"
#include "src/bootstrap/net.hpp"
#include "src/bootstrap/store_client.hpp"
#include "src/bootstrap/wait_notice.hpp"
#include "src/core/error.hpp"
#include "src/core/host.hpp"

namespace ccl_tests {
namespace {

// The control plane of a job of one process.
class Alone : public Control {
 public:
  int process() const override { return 0; }
  int processes() const override { return 1; }
  std::vector<std::string> local_addresses() const override { return {}; }
  std::vector<std::string> exchange(ExchangeKind, const Team&, std::string_view bytes,
                                    double) override {
    const std::lock_guard lock(mutex_);
    if (failure_) throw_failure(*failure_);
    return {std::string(bytes)};
  }
  void abort(const Failure& why) noexcept override {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = why;
    changed_.notify_all();
  }
  Failure wait_failure(double limit_s) override {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, seconds_to_duration(limit_s), [this] { return failure_.has_value(); });
    return failure_.value_or(Failure{});
  }
  bool wait_process_0_gone(double) override { return false; }
  void end_report(double) override {}
  void report_status(std::function<std::vector<RankStatus>()>) override {}

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Failure> failure_;
};

// Allows one descriptor for each process's connection and for connections of strangers, and some
// more.
void allow_files(int processes) {
  rlimit limit{};
  const rlim_t wanted = static_cast<rlim_t>(processes) + unverified_beside(processes).most + 256;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

void say_nothing(std::string_view /*line*/) {}

class Joined : public Control {
 public:
  Joined(const Launch& launch, const JoinOptions& options,
         std::function<void(const Failure&)> on_failure, std::function<void(std::string_view)> log)
      : launch_(launch),
        options_(options),
        deadline_(deadline_in(options.init_timeout_s)),
        log_(std::move(log)),
        store_key_(launch.key_prefix + "control"),
        master_(address_text(launch.master_host, launch.master_port)),
        where_(fmt::format("{} ({} and {})", master_, launch.host_name, launch.port_name)) {
    // One process on each host says that it waits for rank 0.
    const bool speaks = launch.process <= 1 || launch.local_process == 0;
    notice_.emplace(speaks ? log_ : say_nothing);
    link_options_.on_failure = std::move(on_failure);
    if (options.silence_limit_s > 0)
      link_options_.stopped_heartbeats = static_cast<int>(
          std::clamp(std::ceil(options.silence_limit_s / link_options_.heartbeat_s), 5.0, 1e6));
    link_options_.self = {.version = options.version,
                          .host = this_host(),
                          .process = launch.process,
                          .processes = launch.processes,
                          .ranks_per_process = options.ranks_per_process,
                          .pid = ::getpid(),
                          .settings = may_share_port() ? options.settings : std::string(),
                          .refusal = options.refusal};
  }

  ~Joined() override {
    notice_.reset();
    link_.reset();
    if (!server_) return;
    if (failed_early_) server_->attendance.wait_all_came(5);
    server_->attendance.wait_all_left(2);
  }

  void meet() {
    try {
      find_all();
      notice_.reset();
    } catch (const Error& error) {
      const bool had_time = error.code() == Exit::timed_out;  // whoever is missing
      // Nobody comes to a name that is none, or to another host.
      failed_early_ = !had_time && !unknown_.suspected() && is_own_ != false;
      throw;
    }
  }

  int process() const override { return launch_.process; }
  int processes() const override { return launch_.processes; }
  std::vector<std::string> local_addresses() const override {
    return server_ ? server_->attendance.local_addresses() : link_->local_addresses();
  }
  std::vector<std::string> exchange(ExchangeKind kind, const Team& team, std::string_view bytes,
                                    double limit_s) override {
    return link_->exchange(kind, team, bytes, limit_s);
  }
  void abort(const Failure& why) noexcept override { link_->abort(why); }
  Failure wait_failure(double limit_s) override { return link_->wait_failure(limit_s); }
  void report_status(std::function<std::vector<RankStatus>()> statuses) override {
    link_->report_status(std::move(statuses));
  }
  bool wait_process_0_gone(double limit_s) override {
    return process() != 0 && link_->wait_process_0_gone(limit_s);
  }
  void end_report(double limit_s) override {
    link_->end_report();
    if (server_) server_->attendance.wait_all_reported(limit_s);
  }

 private:
  // Returns whether another job may come to the port: nothing tells this one's processes from that
  // one's.
  bool may_share_port() const {
    return launch_.job.empty() && launch_.secret.empty() && !launch_.master_host.empty() &&
           !launch_.agent_store;
  }

  void find_all() {
    std::unique_ptr<StoreClient> store;  // of process 0: it has the address
    if (options_.from_process_0) {
      find_through_mpi();
    } else if (launch_.agent_store && launch_.process == 0) {
      store = listen_by_store();
    } else {
      if (launch_.process == 0) listen_at_master();
      find();
    }
    await_all();
    if (launch_.agent_store) {
      // Nobody goes on before the address is gone from the store, which may serve another run next.
      if (store) withdraw(*store);
      all_gather({}, options_.init_timeout_s);
    }
    link_->report_failures();
  }

  void open_server(const Listen& listen, const std::string& token) {
    allow_files(launch_.processes);
    token_ = token;
    server_ = std::make_unique<ControlServer>(
        ControlServerOptions{.self = link_options_.self,
                             .key = job_key(launch_.job + token, launch_.secret),
                             .listen = listen,
                             .init_timeout_s = options_.init_timeout_s,
                             .stopped_heartbeats = link_options_.stopped_heartbeats,
                             .may_be_shared = may_share_port(),
                             .strangers = unverified_beside(launch_.processes),
                             .log = log_});
  }

  // Makes process 0's own connection, without the network.
  void attach() {
    link_options_.key = job_key(launch_.job + token_, launch_.secret);
    try {
      link_ = std::make_unique<ControlClient>(link_options_, server_->attach(), deadline_);
    } catch (const NoServer& error) {  // its thread has no CPU
      throw Timeout(
          fmt::format("rank 0 does not hear from its own control thread within {:g} s: {}",
                      options_.init_timeout_s, error.what()));
    }
  }

  void listen_at_master() {
    const Listen listen{address_to_listen_on(launch_.master_host), launch_.master_port,
                        launch_.listener};
    try {
      open_server(listen, {});
    } catch (const std::system_error& error) {
      if (launch_.listener >= 0)
        throw Error(fmt::format("CCL_LISTENER={} is not a socket that listens: {}",
                                launch_.listener, error.code().message()));
      const std::string why = fmt::format(
          "rank 0 cannot listen on port {} ({}): {}; another job? Set another MASTER_PORT",
          launch_.master_port, launch_.port_name, error.code().message());
      tell_who_listens_here(why);
      throw Error(why);
    }
  }

  // Tells the process 0 of another job, which has the port. It tells this one's processes when they
  // come there.
  void tell_who_listens_here(const std::string& why) {
    constexpr double limit_s = 2;
    LinkOptions options = link_options_;
    if (options.self.refusal.code == 0) options.self.refusal = {exit_code(Exit::failed), why};
    options.key = job_key(launch_.job, launch_.secret);
    try {
      ControlClient(options, launch_.master_host, launch_.master_port, deadline_in(limit_s))
          .wait_failure(limit_s);
    } catch (const NoServer&) {  // another program's port
    } catch (const Error&) {     // it has heard
    }
  }

  // Waits until all are here. Rank 0 knows who is missing.
  void await_all() {
    if (server_)
      notice_->set([this] {
        const std::vector<std::string> missing = server_->missing();
        return fmt::format("{}: {}{}{}", more_processes(launch_, missing.size()),
                           join_names(missing), launch_.by_np() ? "" : " (alone: --launcher local)",
                           for_this_host());
      });
    else if (launch_.launcher == "environment")
      notice_->set("the other processes, with rank 0 at " + master_ + ", which names them");
    else
      notice_->set("");
    link_->wait_welcome(options_.init_timeout_s);
  }

  void find_through_mpi() {
    notice_->set("the exchange of rank 0's address through MPI");
    if (launch_.process != 0) return find_one_of(options_.from_process_0({}));
    open_server({}, random_hex(32));
    attach();
    // Without a store's connection nobody knows which address of this host the others can reach.
    std::string addresses;
    for (const std::string& host : host_addresses())
      addresses += to_text({host, server_->port(), token_}) + '\n';
    options_.from_process_0(addresses);
  }

  void find_one_of(const std::string& addresses) {
    std::string why;
    notice_->set("rank 0, at the addresses that MPI carried");
    do {
      why.clear();
      std::istringstream lines(addresses);
      for (std::string line; std::getline(lines, line);) {
        const std::optional<ServerAddress> address = parse_address(line);
        if (address && try_one(*address, deadline_in(3), why)) return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    } while (std::chrono::steady_clock::now() < deadline_);
    throw Timeout(fmt::format("rank 0 cannot be reached at any of its addresses within {:g} s: {}",
                              options_.init_timeout_s, why));
  }

  // Returns the store that says where process 0 listens.
  std::unique_ptr<StoreClient> listen_by_store() {
    notice_->set("the store at " + where_);
    std::unique_ptr<StoreClient> store;
    try {
      store = std::make_unique<StoreClient>(launch_.master_host, launch_.master_port, deadline_);
    } catch (const Timeout& error) {
      throw Timeout(fmt::format("rank 0 cannot reach {}: {}", where_, error.what()));
    }
    open_server({address_to_listen_on(launch_.master_host)}, random_hex(32));
    attach();
    const std::string own = store->local_address();
    const bool is_loopback = !address_to_listen_on(own).empty();
    store->set(store_key_,
               to_text({is_loopback ? launch_.master_host : own, server_->port(), token_}),
               deadline_);
    return store;
  }

  // Takes the address back. A store that is gone took it along: the job, which has met, does not
  // need it.
  void withdraw(StoreClient& store) {
    try {
      store.remove(store_key_, deadline_in(std::min(options_.init_timeout_s, 10.0)));
    } catch (const Error& error) {
      log_(fmt::format("after all ranks have met: {}", error.what()));
    }
  }

  // Returns where rank 0 listens; nothing if the store cannot be asked now.
  std::optional<ServerAddress> look_up(std::string& why) {
    if (!launch_.agent_store) return ServerAddress{launch_.master_host, launch_.master_port, {}};
    try {
      StoreClient store(launch_.master_host, launch_.master_port, deadline_);
      return parse_address(store.get(store_key_, deadline_));
    } catch (const UsageError&) {  // there is no such name
      throw;
    } catch (const Error& error) {
      why = error.what();
      return std::nullopt;
    }
  }

  bool try_one(const ServerAddress& address, TimePoint deadline, std::string& why) {
    try {
      link_options_.key = job_key(launch_.job + address.token, launch_.secret);
      link_ = std::make_unique<ControlClient>(link_options_, address.host, address.port,
                                              std::min(deadline_, deadline));
      return true;
    } catch (const NoServer& error) {
      if (const auto* const other = dynamic_cast<const OtherSettings*>(&error)) say_others(*other);
      if (!launch_.names_come_late) unknown_.answered(address.host, error.code);
      why += fmt::format("{}its control port {}: {}", why.empty() ? "" : "; ",
                         address_text(address.host, address.port), error.what());
      return false;
    }
  }

  // Learns whether rank 0's address is one of this host's. An agent's store may be on any host.
  // Returns why that is not known.
  std::string ask_whose_address() try {
    if (is_own_ || launch_.agent_store || launch_.by_np() || unknown_.suspected()) return {};
    is_own_ = any_is_own(resolve(launch_.master_host, launch_.master_port,
                                 std::min(deadline_, deadline_in(patience_s))));
    return {};
  } catch (const std::system_error& error) {
    return error.what();
  }

  // Returns what is wrong with rank 0's address if nobody is found there.
  std::string wrong_address() const {
    if (!is_own_ || *is_own_ == (launch_.process == 0)) return {};
    if (launch_.process != 0)
      return fmt::format("; {} is this host itself: if rank 0 is on another host, set MASTER_ADDR",
                         launch_.master_host);
    return fmt::format(
        "; {} is no address of this host, {}, which is rank 0's and has {}; set MASTER_ADDR to one "
        "that all ranks reach",
        launch_.master_host, this_host(), fmt::join(host_addresses(), ", "));
  }

  // Returns a warning for ranks on other hosts, which nobody has announced.
  std::string for_this_host() const {
    const bool is_given = launch_.host_name == "MASTER_ADDR" && !launch_.by_np();
    if (!is_given || address_to_listen_on(launch_.master_host).empty()) return {};
    return fmt::format("; MASTER_ADDR={} is for ranks on this host only", launch_.master_host);
  }

  // Finds rank 0. An address may be a previous run's, or its host not be reachable yet: asked for
  // again each time. A server that is known to be this job's may be slow to answer; a store's
  // address may be stale. Another host's address may lead to rank 0: that of a Kubernetes Service,
  // or of a router.
  void find() {
    using namespace std::chrono_literals;
    std::string why;
    notice_->set("rank 0 at " + where_);
    const TimePoint patient_until = deadline_in(patience_s);
    if (launch_.process == 0) why = ask_whose_address();
    for (std::chrono::milliseconds pause = 10ms; std::chrono::steady_clock::now() < deadline_;
         pause = std::min(2 * pause, std::chrono::milliseconds(500ms))) {
      why.clear();
      const bool elsewhere = launch_.process == 0 && is_own_ == false;
      const std::optional<ServerAddress> address = look_up(why);
      const TimePoint until = launch_.agent_store ? deadline_in(10)
                              : elsewhere         ? deadline_in(patience_s)
                                                  : deadline_;
      if (address && try_one(*address, until, why)) return;
      ask_whose_address();
      why += wrong_address();
      notice_->set(fmt::format("rank 0 at {}: {}", where_, why));
      if (elsewhere && server_->missing().size() < static_cast<std::size_t>(launch_.processes))
        return attach();  // others come
      if (elsewhere && !launch_.names_come_late && std::chrono::steady_clock::now() > patient_until)
        throw Error(fmt::format("rank 0 does not find itself at {}: {}", where_, why));
      if (unknown_.suspected()) pause = 1s;
      std::this_thread::sleep_until(std::min(std::chrono::steady_clock::now() + pause, deadline_));
    }
    if (launch_.process == 0) throw Timeout(fmt::format("rank 0 cannot reach {}: {}", where_, why));
    const std::string absent = fmt::format("rank 0 did not appear at {} within {:g} s: {}", where_,
                                           options_.init_timeout_s, why);
    if (others_.empty()) throw Timeout(absent);
    throw UsageError(absent);
  }

  void say_others(const OtherSettings& error) {
    if (std::exchange(others_, error.what()) == error.what()) return;
    log_(fmt::format(
        "{} (at {}): it is another job's rank 0, or the flags are wrong; this process looks "
        "for its own rank 0 for up to {:g} s",
        others_, master_, options_.init_timeout_s));
  }

  static constexpr double patience_s = 3;  // with an address that is not rank 0's
  Launch launch_;
  JoinOptions options_;
  TimePoint deadline_;
  std::function<void(std::string_view)> log_;
  std::string store_key_, master_, where_, token_;
  bool failed_early_ = false;  // while processes may be on their way
  UnknownName unknown_;
  std::optional<bool> is_own_;  // rank 0's address is this host's; nullopt: not known
  std::string others_;          // the process 0 of other settings that was there last
  LinkOptions link_options_;
  std::unique_ptr<ControlServer> server_;
  std::unique_ptr<ControlClient> link_;
  std::optional<WaitNotice> notice_;  // until all have come; last: its thread asks the server
};

}  // namespace

std::unique_ptr<Control> alone() { return std::make_unique<Alone>(); }

bool decline(const Launch& launch, const Failure& why, double limit_s) {
  const bool mpirun_ends_all = launch.master_host.empty();
  if (launch.processes == 1 || launch.by_np() || mpirun_ends_all) return false;
  JoinOptions options;
  options.init_timeout_s = limit_s;
  options.refusal = why;
  try {
    Joined(launch, options, nullptr, say_nothing).meet();
  } catch (const FailureThrown& thrown) {  // all who are there have heard
    return thrown.failure.message.starts_with("rank 0 ");
  } catch (const std::exception&) {  // nobody can be told
  }
  return false;
}

std::unique_ptr<Control> join(const Launch& launch, const JoinOptions& options,
                              std::function<void(const Failure&)> on_failure,
                              std::function<void(std::string_view)> log) {
  if (launch.processes == 1) return alone();
  if (!log) log = say_nothing;
  auto joined = std::make_unique<Joined>(launch, options, std::move(on_failure), std::move(log));
  joined->meet();
  return joined;
}

}  // namespace ccl_tests
