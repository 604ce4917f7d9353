// A job from its first line to its exit code: how it was started, its library, its peers, its ranks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "src/bootstrap/launch.hpp"
#include "src/job/ranks.hpp"

namespace ccl_tests {

// A program's work in each process beside its ranks. Everything may be left out.
struct JobHooks {
  // Called on the main thread once launcher, library and place of the buffers are known, and before
  // any process is waited for. ranks: of the whole job. May throw UsageError, Unsupported.
  std::function<void(const Process& process, int ranks)> check;
  // Called in a process that has ranks, before it looks for the others: opens files.
  std::function<void(const Process& process)> open;
  // Is told in process 0 what its first rank does, from the start of the libraries on. Called off the clock.
  std::function<void(const std::string& what)> doing;
  // See WriteEnd. Without it the exit code is that of the failure, or what the ranks returned.
  WriteEnd write_end;
  // Is given what the first rank of process 0 does, and an action that clears the terminal's status
  // line, which is to be called before anything is printed on stdout.
  std::function<void(std::function<std::string()> activity, std::function<void()> clear)> show;
};

// Runs `body` on all ranks of the job that this process belongs to; with --np in processes that it
// starts. Returns the exit code, which is the same in all processes unless one was killed. Failures
// are printed on stderr in one line; who fails before it has joined tells the others. Throws Error if
// the launcher's variables cannot be understood.
int run_job(const JobSetup& options, const RankBody& body, const JobHooks& hooks = {});

// As run_job, for main(): sets signals up, prints what is thrown, tells the other ranks, which may wait
// for this one, and returns an exit code for it.
int run_main(const std::string& program, const std::vector<std::string>& arguments,
             const std::function<int()>& main);

// Returns whether the variables of the launcher (--launcher) say that this is its first process.
bool is_first_process(const std::string& launcher);

// Prints a page, as --help, in the first process of those that a launcher started with these
// arguments. Returns the exit code.
int print_page(const std::string& page, const std::vector<std::string>& arguments);

// Prints a line on stderr behind the program's name and the host's.
void say(const std::string& program, const std::string& line);

}  // namespace ccl_tests
