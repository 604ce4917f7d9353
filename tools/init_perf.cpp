// init_perf: how long a job takes to start, by phase.
#include "src/programs/program.hpp"

int main(int argc, char** argv) { return ccl_tests::run_program(ccl_tests::init_spec, argc, argv); }
