#include "src/options/flags.hpp"

namespace ccl_tests {

void set_program_defaults(Options& o, const Collective& collective) {
  if (!collective.domain.ops.empty()) o.sweep.ops = {collective.domain.ops.front()};
  if (!collective.domain.types.empty()) o.sweep.types = {collective.domain.types.front()};
  o.sweep.mode = collective.mode;
}

void declare_flags(FlagSet& set, Options& o, const Collective& collective, AskedTexts& asked) {
  const Taken taken = taken_by(collective);
  declare_sizes(set, o, taken);
  declare_sweep(set, o, taken, collective);
  declare_spec(set, o, taken);
  declare_measure(set, o, taken);
  declare_check(set, o, taken);
  declare_job(set, o);
  declare_library(set, o);
  declare_output(set, o, taken, asked);
  declare_gpus(set, o, taken);
}

}  // namespace ccl_tests
