// init_perf: how long a job takes to start, by phase.
#include "src/programs/program.hpp"

int main(int argc, char** argv) { return ccl_tests::run_init_program(argc, argv); }
