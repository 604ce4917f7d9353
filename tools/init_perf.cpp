// init_perf: how long a job takes to start, by phase.
#include "src/init_run.hpp"
#include "src/program.hpp"

int main(int argc, char** argv) {
  return ccl::run_program(ccl::init_spec, argc, argv, ccl::run_init);
}
