// Finds the peers in the folder of a gang of Kubernetes pods.
#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>
#include <thread>

#include "src/bootstrap/claims.hpp"
#include "src/bootstrap/launch.hpp"
#include "src/bootstrap/net.hpp"
#include "src/bootstrap/wait_notice.hpp"
#include "src/core/deadline.hpp"
#include "src/core/error.hpp"
#include "src/core/quote.hpp"

namespace ccl_tests {
namespace {

constexpr std::string_view prefix = "gang:";

std::string trimmed(const std::string& text) {
  constexpr const char* blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  return first == std::string::npos ? std::string()
                                    : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// Returns nothing if the file is not there yet.
std::string file_text(const std::string& folder, const char* name) {
  std::ostringstream text;
  if (std::ifstream file(folder + '/' + name); file) text << file.rdbuf();
  return trimmed(text.str());
}

int number(const std::string& folder, const char* name, const std::string& text, int least,
           int most) {
  return static_cast<int>(
      whole_number(fmt::format("--launcher gang: {}/{}", folder, name), text, least, most));
}

// Returns each pod's rank.
std::map<std::string, int> read_peers(const std::string& folder, int pods) {
  std::map<std::string, int> peers;
  std::istringstream lines(file_text(folder, "peers"));
  for (std::string line; std::getline(lines, line);) {
    line = trimmed(line);
    if (line.empty()) continue;
    const std::size_t first = line.find(';');
    const std::size_t last = line.rfind(';');
    if (first == std::string::npos || first == last)
      throw UsageError(
          fmt::format("--launcher gang: {}/peers: {} is not accepted; accepted: pod;ip;rank",
                      folder, quote(line)));
    peers[line.substr(0, first)] = number(folder, "peers", line.substr(last + 1), 0, pods - 1);
  }
  return peers;
}

// The members that are there so far.
struct Gang {
  int pods = 0;  // 0: not known yet
  std::map<std::string, int> peers;
  std::string master;

  // Returns what is missing; empty: nothing.
  std::string missing() const {
    if (pods == 0) return "expected_count is missing";
    if (master.empty()) return "master_addr is missing";
    if (peers.size() >= static_cast<std::size_t>(pods)) return {};
    return fmt::format("{} of {} pods are there", peers.size(), pods);
  }
};

Gang read_gang(const std::string& folder) {
  Gang gang;
  const std::string count = file_text(folder, "expected_count");
  if (count.empty()) return gang;
  gang.pods = number(folder, "expected_count", count, 1, 1 << 20);
  gang.peers = read_peers(folder, gang.pods);
  gang.master = file_text(folder, "master_addr");
  return gang;
}

}  // namespace

std::optional<std::string> gang_folder(const std::string& launcher) {
  if (!launcher.starts_with(prefix)) return std::nullopt;
  return launcher.substr(prefix.size());
}

Launch gang_launch(const std::string& folder, const Environment& environment, double limit_s,
                   const std::function<void(std::string_view)>& log) {
  const std::string pod = environment("POD_NAME").value_or("");
  if (pod.empty())
    throw UsageError("--launcher gang: POD_NAME is not set; accepted: the name of this pod");
  Deadline deadline(limit_s);
  WaitNotice notice(log);
  Gang gang = read_gang(folder);
  for (; !gang.missing().empty(); gang = read_gang(folder)) {
    notice.set("the pods of " + folder + ": " + gang.missing());
    if (deadline.expired())
      throw Timeout(fmt::format("--launcher gang: {} after {} s: {} (--init-timeout)", folder,
                                limit_s, gang.missing()));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  const auto found = gang.peers.find(pod);
  if (found == gang.peers.end())
    throw UsageError(fmt::format("--launcher gang: {}/peers does not name this pod, {} (POD_NAME)",
                                 folder, quote(pod)));
  Launch launch;
  launch.launcher = "gang";
  launch.process = found->second;
  launch.processes = gang.pods;
  launch.size_name = folder + "/expected_count";
  launch.host_name = folder + "/master_addr";
  launch.port_name = folder + "/master_port";
  launch.master_host = host_alone(launch.host_name, gang.master);
  launch.names_come_late = environment("KUBERNETES_SERVICE_HOST").has_value();
  const std::string port = file_text(folder, "master_port");
  launch.master_port = port.empty() ? 29500 : number(folder, "master_port", port, 1, 65535);
  launch.job = "gang " + file_text(folder, "gang_id");
  launch.key_prefix = "ccl-tests/gang/";
  launch.secret = environment("CCL_JOB_SECRET").value_or("");
  refuse_contradiction(environment, launch, true);
  return launch;
}

}  // namespace ccl_tests
