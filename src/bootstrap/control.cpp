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
#include "src/bootstrap/job_key.hpp"
#include "src/bootstrap/net.hpp"
#include "src/bootstrap/store_client.hpp"
#include "src/bootstrap/wait_notice.hpp"
#include "src/core/error.hpp"
#include "src/core/host.hpp"

namespace ccl_tests {
namespace {

// One descriptor for each process's connection and for connections of strangers, and some more.
void allow_files(int processes) {
  rlimit limit{};
  const rlim_t wanted = static_cast<rlim_t>(processes) + unverified_beside(processes).most + 256;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// Of many processes that wait for rank 0, one on each host says so.
bool speaks(const Launch& launch) { return launch.process <= 1 || launch.local_process == 0; }

void say_nothing(std::string_view /*line*/) {}

class Joined : public Control {
 public:
  Joined(const Launch& launch, const JoinOptions& options,
         std::function<void(const Failure&)> on_failure, std::function<void(std::string_view)> log)
      : launch_(launch),
        limit_s_(options.init_timeout_s),
        deadline_(deadline_in(limit_s_)),
        log_(std::move(log)),
        from_process_0_(options.from_process_0),
        store_key_(launch.key_prefix + "control"),
        master_name_(address_text(launch.master_host, launch.master_port)),
        notice_(std::in_place,
                speaks(launch) ? log_ : std::function<void(std::string_view)>(say_nothing)) {
    link_options_.on_failure = std::move(on_failure);
    link_options_.stopped_heartbeats = stopped_heartbeats(
        options.silence_limit_s, link_options_.heartbeat_s, link_options_.silent_heartbeats);
    Hello& self = link_options_.self;
    self.version = options.version;
    self.host = this_host();
    self.process = launch.process;
    self.processes = launch.processes;
    self.ranks_per_process = options.ranks_per_process;
    self.pid = ::getpid();
    if (may_share_port()) self.settings = options.settings;
    self.refusal = options.refusal;
  }

  ~Joined() override {
    notice_.reset();
    link_.reset();
    if (!server_) return;
    if (failed_early_) server_->wait_all_came(5);
    server_->wait_all_left(2);
  }

  void meet() {
    try {
      find_all();
      notice_.reset();
    } catch (const Timeout&) {  // whoever is missing has had its time
      throw;
    } catch (const Error&) {
      failed_early_ = !unknown_.suspected();  // nobody comes to a name that is none
      throw;
    }
  }

  void find_all() {
    if (from_process_0_) {
      find_through_mpi();
    } else if (launch_.agent_store) {
      return find_through_store();
    } else {
      if (launch_.process == 0) listen_at_master();
      find([this](std::string&) {
        return ServerAddress{launch_.master_host, launch_.master_port, {}};
      });
    }
    await_all();
    link_->report_failures();
  }

  int process() const override { return launch_.process; }
  int processes() const override { return launch_.processes; }
  std::vector<std::string> local_addresses() const override {
    return server_ ? server_->local_addresses() : link_->local_addresses();
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
    if (server_) server_->wait_all_reported(limit_s);
  }

 private:
  using LookUp = std::function<std::optional<ServerAddress>(std::string& why)>;

  // Whether another job may come to the port: nothing tells this one's processes from that one's.
  bool may_share_port() const {
    return launch_.job.empty() && launch_.secret.empty() && !launch_.master_host.empty() &&
           !launch_.agent_store;
  }
  void open_server(const Listen& listen, const std::string& token);
  void attach();
  void listen_at_master();
  void tell_who_listens_here(const std::string& why);
  void await_all();
  void say_others(const OtherSettings& error);
  void find_through_mpi();
  void find_through_store();
  void publish(StoreClient& store);
  void withdraw(StoreClient& store);
  void find(const LookUp& look_up);
  bool try_one(const ServerAddress& address, TimePoint deadline, std::string& why);
  std::string all_addresses() const;
  void find_one_of(const std::string& addresses);
  std::optional<ServerAddress> look_up(std::string& why);

  Launch launch_;
  double limit_s_;
  TimePoint deadline_;
  std::function<void(std::string_view)> log_;
  std::function<std::string(const std::string&)> from_process_0_;
  std::string store_key_, master_name_, token_;
  bool failed_early_ = false;  // while processes may be on their way
  UnknownName unknown_;
  std::string others_;  // the process 0 of other settings that was there last
  LinkOptions link_options_;
  std::unique_ptr<ControlServer> server_;
  std::unique_ptr<ControlClient> link_;
  std::optional<WaitNotice> notice_;  // until all have come; last: its thread asks the server
};

void Joined::open_server(const Listen& listen, const std::string& token) {
  allow_files(launch_.processes);
  token_ = token;
  ControlServerOptions options;
  options.self = link_options_.self;
  options.key = job_key(launch_.job + token, launch_.secret);
  options.listen = listen;
  options.init_timeout_s = limit_s_;
  options.may_be_shared = may_share_port();
  options.strangers = unverified_beside(launch_.processes);
  options.stopped_heartbeats = link_options_.stopped_heartbeats;
  options.log = log_;
  server_ = std::make_unique<ControlServer>(std::move(options));
}

// Process 0's own connection, without the network.
void Joined::attach() {
  link_options_.key = job_key(launch_.job + token_, launch_.secret);
  try {
    link_ = std::make_unique<ControlClient>(link_options_, server_->attach(), deadline_);
  } catch (const NoServer& error) {  // its thread has no CPU
    throw Timeout(fmt::format("rank 0 does not hear from its own control thread within {:g} s: {}",
                              limit_s_, error.what()));
  }
}

void Joined::listen_at_master() {
  const bool inherited = launch_.listener >= 0;
  try {
    open_server({address_to_listen_on(launch_.master_host), launch_.master_port, launch_.listener},
                {});
  } catch (const std::system_error& error) {
    if (inherited)
      throw Error(fmt::format("CCL_LISTENER={} is not a socket that listens: {}", launch_.listener,
                              error.code().message()));
    const std::string why =
        fmt::format("rank 0 cannot listen on port {} (MASTER_PORT): {}; another job?",
                    launch_.master_port, error.code().message());
    tell_who_listens_here(why);
    throw Error(why);
  }
}

// The process 0 of another job, which has the port, tells this one's processes when they come there.
void Joined::tell_who_listens_here(const std::string& why) {
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

// Rank 0 knows who is missing.
void Joined::await_all() {
  if (server_) {
    notice_->set([this] {
      const std::vector<std::string> missing = server_->missing();
      return fmt::format("{}: {}{}", more_processes(launch_, missing.size()), join_names(missing),
                         launch_.by_np() ? "" : " (alone: --launcher local)");
    });
  } else {
    notice_->set(
        launch_.launcher == "environment"
            ? fmt::format("the other processes, with rank 0 at {}, which names them", master_name_)
            : std::string());
  }
  link_->wait_welcome(limit_s_);
}

void Joined::find_through_mpi() {
  notice_->set("the exchange of rank 0's address through MPI");
  if (launch_.process != 0) return find_one_of(from_process_0_({}));
  open_server({}, random_hex(32));
  attach();
  from_process_0_(all_addresses());
}

void Joined::find_through_store() {
  std::optional<StoreClient> store;
  if (launch_.process == 0) {
    notice_->set(fmt::format("the store at {} (MASTER_ADDR and MASTER_PORT)", master_name_));
    try {
      store.emplace(launch_.master_host, launch_.master_port, deadline_);
    } catch (const Timeout& error) {
      throw Timeout(fmt::format("rank 0 cannot reach {} (MASTER_ADDR and MASTER_PORT): {}",
                                master_name_, error.what()));
    }
    open_server({address_to_listen_on(launch_.master_host)}, random_hex(32));
    attach();
    publish(*store);
  } else {
    find([this](std::string& why) { return look_up(why); });
  }
  await_all();
  // Nobody goes on before the address is gone from the store, which may serve another run next.
  if (store) withdraw(*store);
  link_->all_gather({}, limit_s_);
  link_->report_failures();
}

void Joined::publish(StoreClient& store) {
  const bool loopback = store.local_address_is_loopback();
  const ServerAddress address{loopback ? launch_.master_host : store.local_address(),
                              server_->port(), token_};
  store.set(store_key_, to_text(address), deadline_);
}

// A store that is gone took the address with it: the job, which has met, does not need it.
void Joined::withdraw(StoreClient& store) {
  try {
    store.remove(store_key_, deadline_in(std::min(limit_s_, 10.0)));
  } catch (const Error& error) {
    log_(fmt::format("after all ranks have met: {}", error.what()));
  }
}

// Nothing if the store cannot be asked now.
std::optional<ServerAddress> Joined::look_up(std::string& why) {
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

bool Joined::try_one(const ServerAddress& address, TimePoint deadline, std::string& why) {
  try {
    link_options_.key = job_key(launch_.job + address.token, launch_.secret);
    link_ = std::make_unique<ControlClient>(link_options_, address.host, address.port,
                                            std::min(deadline_, deadline));
    return true;
  } catch (const NoServer& error) {
    if (const auto* const others = dynamic_cast<const OtherSettings*>(&error)) say_others(*others);
    if (!launch_.names_come_late) unknown_.answered(address.host, error.code());
    why += fmt::format("{}its control port {}: {}", why.empty() ? "" : "; ",
                       address_text(address.host, address.port), error.what());
    return false;
  }
}

// An address may be a previous run's, or its host not be reachable yet: asked for again each time. A
// server that is known to be this job's may be slow to answer; a store's address may be stale.
void Joined::find(const LookUp& look_up) {
  using namespace std::chrono_literals;
  std::string why;
  notice_->set(fmt::format("rank 0 at {} (MASTER_ADDR and MASTER_PORT)", master_name_));
  for (std::chrono::milliseconds pause = 10ms; std::chrono::steady_clock::now() < deadline_;
       pause = std::min(2 * pause, std::chrono::milliseconds(500ms))) {
    why.clear();
    const std::optional<ServerAddress> address = look_up(why);
    if (address && try_one(*address, launch_.agent_store ? deadline_in(10) : deadline_, why))
      return;
    notice_->set(fmt::format("rank 0 at {} (MASTER_ADDR and MASTER_PORT): {}", master_name_, why));
    if (unknown_.suspected()) pause = 1s;
    std::this_thread::sleep_until(std::min(std::chrono::steady_clock::now() + pause, deadline_));
  }
  if (launch_.process == 0)
    throw Timeout(
        fmt::format("rank 0 cannot reach {} (MASTER_ADDR and MASTER_PORT): {}", master_name_, why));
  const std::string where =
      fmt::format("rank 0 did not appear at {} (MASTER_ADDR and MASTER_PORT) within {:g} s: {}",
                  master_name_, limit_s_, why);
  if (others_.empty()) throw Timeout(where);
  throw UsageError(where);
}

void Joined::say_others(const OtherSettings& error) {
  if (std::exchange(others_, error.what()) == error.what()) return;
  log_(fmt::format(
      "{} (at {}): it is another job's rank 0, or the flags are wrong; this process looks "
      "for its own rank 0 for up to {:g} s",
      others_, master_name_, limit_s_));
}

// One line for each address of this host: without a store's connection nobody knows which of them
// the others can reach.
std::string Joined::all_addresses() const {
  std::string text;
  for (const std::string& host : host_addresses())
    text += to_text({host, server_->port(), token_}) + '\n';
  return text;
}

void Joined::find_one_of(const std::string& addresses) {
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
                            limit_s_, why));
}

}  // namespace

void decline(const Launch& launch, const Failure& why, double limit_s) {
  const bool mpirun_ends_all = launch.master_host.empty();
  if (launch.processes == 1 || launch.by_np() || mpirun_ends_all) return;
  JoinOptions options;
  options.init_timeout_s = limit_s;
  options.refusal = why;
  try {
    Joined(launch, options, nullptr, say_nothing).meet();
  } catch (const Error&) {  // all who are there have heard, or nobody is there
  }
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
