#include "tests/fake_gpu/nccl_group.hpp"

#include <algorithm>
#include <thread>
#include <utility>

namespace fake_gpu {
namespace {

// An operation on its way through a stream.
struct Work {
  std::shared_ptr<Communicator> communicator;
  std::function<void(Communicator&)> run;
  bool captured = false;  // owned by keep_for_graphs
};

// Graphs may run what they captured until the process ends.
Work* keep_for_graphs(std::unique_ptr<Work> work) {
  static auto* const mutex = new std::mutex;
  static auto* const kept = new std::vector<std::unique_ptr<Work>>;
  const std::lock_guard lock(*mutex);
  kept->push_back(std::move(work));
  return kept->back().get();
}

void execute(void* data) {
  auto* const work = static_cast<Work*>(data);
  work->run(*work->communicator);
  if (work->captured) return;
  const auto communicator = work->communicator;
  delete work;
  --communicator->enqueued;
}

class OnDevice {
 public:
  explicit OnDevice(int device) {
    cudaGetDevice(&before_);
    cudaSetDevice(device);
  }
  ~OnDevice() { cudaSetDevice(before_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
};

void order(cudaStream_t first, cudaStream_t second) {
  cudaEvent_t event = nullptr;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  cudaEventRecord(event, first);
  cudaStreamWaitEvent(second, event, cudaEventWaitDefault);
  cudaEventDestroy(event);
}

// Work on several streams is work on the first; the others wait for it, and it for them. What is
// not captured follows the communicator's earlier work on any stream.
ncclResult_t launch(const std::shared_ptr<Communicator>& on,
                    const std::vector<cudaStream_t>& streams,
                    std::function<void(Communicator&)> run) {
  const OnDevice device(on->device());
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(streams.front(), &capturing) != cudaSuccess) {
    return refuse(ncclInvalidArgument, "the stream is none");
  }
  const bool captured = capturing != cudaStreamCaptureStatusNone;
  auto work = std::make_unique<Work>(Work{on, std::move(run), captured});
  for (const auto stream : streams) {
    if (stream != streams.front()) order(stream, streams.front());
  }
  if (!captured) {
    if (on->last_event == nullptr) {
      cudaEventCreateWithFlags(&on->last_event, cudaEventDisableTiming);
    } else if (on->last_stream != streams.front()) {
      cudaStreamWaitEvent(streams.front(), on->last_event, cudaEventWaitDefault);
    }
    if (cudaEventRecord(on->last_event, streams.front()) != cudaSuccess) {
      return refuse(ncclInvalidArgument, "the stream is not of the communicator's device");
    }
    ++on->enqueued;
  }
  Work* const launched = captured ? keep_for_graphs(std::move(work)) : work.release();
  const auto error = cudaLaunchHostFunc(streams.front(), &execute, launched);
  if (error != cudaSuccess) {
    if (!captured) {
      delete launched;
      --on->enqueued;
    }
    return refuse(ncclUnhandledCudaError, cudaGetErrorString(error));
  }
  if (!captured) {
    cudaEventRecord(on->last_event, streams.front());
    on->last_stream = streams.front();
  }
  for (const auto stream : streams) {
    if (stream != streams.front()) order(streams.front(), stream);
  }
  return ncclSuccess;
}

// Those of one communicator: the collectives in their order, then all messages together.
ncclResult_t launch(const std::vector<Issue>& issues) {
  const auto& on = issues.front().communicator;
  std::vector<Request> messages, all;
  std::vector<cudaStream_t> streams;
  for (const Issue& issue : issues) all.push_back(issue.request);
  on->tell(all);
  for (const Issue& issue : issues) {
    if (issue.request.message()) {
      messages.push_back(issue.request);
      if (std::count(streams.begin(), streams.end(), issue.stream) == 0) {
        streams.push_back(issue.stream);
      }
      continue;
    }
    const auto result =
        launch(on, {issue.stream}, [request = issue.request](Communicator& c) { c.run(request); });
    if (result != ncclSuccess) return result;
  }
  if (messages.empty()) return ncclSuccess;
  return launch(on, streams, [messages](Communicator& c) { c.run(messages); });
}

bool self_messages_match(const std::vector<Issue>& issues) {
  int balance = 0;
  for (const Issue& issue : issues) {
    if (!issue.request.message() || issue.request.root != issue.communicator->rank()) continue;
    balance += issue.request.kind == Kind::send ? 1 : -1;
  }
  return balance == 0;
}

ncclResult_t launch_all(const std::vector<Issue>& issues) {
  std::vector<std::vector<Issue>> parts;
  for (const Issue& issue : issues) {
    const auto same = [&](const auto& p) { return p.front().communicator == issue.communicator; };
    auto part = std::find_if(parts.begin(), parts.end(), same);
    if (part == parts.end()) part = parts.insert(part, std::vector<Issue>());
    part->push_back(issue);
  }
  if (!std::all_of(parts.begin(), parts.end(), self_messages_match)) {
    return refuse(ncclInvalidUsage, "a send to or receive from the rank itself has no counterpart");
  }
  auto result = ncclSuccess;
  for (const auto& part : parts) {
    const auto& on = part.front().communicator;
    if (on->defers()) {
      on->defer([part] { return launch(part); });
      result = ncclInProgress;
    } else if (const auto error = launch(part); error != ncclSuccess) {
      return error;
    }
  }
  return result;
}

ncclResult_t run(const std::vector<Job>& jobs) {
  std::vector<std::thread> threads;
  std::vector<ncclResult_t> results(jobs.size(), ncclSuccess);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    for (const auto& busy : jobs[i].busy) busy->busy = true;
    const auto work = [job = jobs[i]] {
      const auto result = job.run();
      for (const auto& busy : job.busy) busy->busy = false;
      return result;
    };
    if (!jobs[i].blocking) {
      results[i] = ncclInProgress;
      std::thread(work).detach();
    } else if (jobs.size() == 1) {
      results[i] = work();
    } else {
      threads.emplace_back([&results, i, work] { results[i] = work(); });
    }
  }
  for (auto& thread : threads) thread.join();
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].report(results[i]);
  return *std::max_element(results.begin(), results.end(), [](auto a, auto b) {
    return (a == ncclInProgress ? 0 : a) < (b == ncclInProgress ? 0 : b);
  });
}

}  // namespace

Handles<Communicator>& communicators() {
  static auto* const all = new Handles<Communicator>;
  return *all;
}

std::string& last_message() {
  thread_local std::string message;
  return message;
}

ncclResult_t refuse(ncclResult_t result, std::string message) {
  last_message() = std::move(message);
  return result;
}

Group& Group::of_thread() {
  thread_local Group group;
  return group;
}

ncclResult_t Group::end() {
  if (depth_ == 0) return refuse(ncclInvalidUsage, "ncclGroupEnd without ncclGroupStart");
  if (--depth_ > 0) return ncclSuccess;
  const auto issues = std::exchange(issues_, {});
  const auto jobs = std::exchange(jobs_, {});
  const auto error = std::exchange(error_, ncclSuccess);
  if (error != ncclSuccess) {
    for (const Job& job : jobs) job.report(error);
    return error;
  }
  if (!issues.empty() && !jobs.empty()) {
    for (const Job& job : jobs) job.report(ncclInvalidUsage);
    return refuse(ncclInvalidUsage, "a group of operations and of new communicators");
  }
  if (!jobs.empty()) return run(jobs);
  return issues.empty() ? ncclSuccess : launch_all(issues);
}

ncclResult_t Group::add(Issue issue) {
  if (depth_ == 0) return launch_all({std::move(issue)});
  issues_.push_back(std::move(issue));
  return ncclSuccess;
}

ncclResult_t Group::add(Job job) {
  if (depth_ == 0) return run({std::move(job)});
  jobs_.push_back(std::move(job));
  return ncclSuccess;
}

ncclResult_t Group::note(ncclResult_t result) {
  if (depth_ > 0 && result != ncclSuccess && result != ncclInProgress) error_ = result;
  return result;
}

}  // namespace fake_gpu
