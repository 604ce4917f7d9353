#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <tuple>

#include "src/bootstrap/launch.hpp"
#include "src/core/error.hpp"

namespace ccl_tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

Launch detect(const Variables& variables, const std::string& choice = "auto",
              const std::string& backend = {}) {
  const auto environment = [&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  return detect_launch(environment, choice, backend);
}

template <class Exception>
std::string refusal(const Variables& variables, const std::string& choice = "auto",
                    const std::string& backend = {}) {
  try {
    detect(variables, choice, backend);
  } catch (const Exception& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Launch, NoVariables) {
  const Launch launch = detect({});
  EXPECT_EQ(launch.launcher, "none");
  EXPECT_EQ(launch.process, 0);
  EXPECT_EQ(launch.processes, 1);
  EXPECT_FALSE(launch.agent_store);
}

TEST(Launch, PlainEnvironment) {
  const Launch launch = detect({{"RANK", "3"},
                                {"WORLD_SIZE", "8"},
                                {"LOCAL_RANK", "1"},
                                {"MASTER_ADDR", "node0"},
                                {"MASTER_PORT", "1234"}});
  EXPECT_EQ(launch.launcher, "environment");
  EXPECT_EQ(launch.process, 3);
  EXPECT_EQ(launch.processes, 8);
  EXPECT_EQ(launch.local_process, 1);
  EXPECT_EQ(launch.master_host, "node0");
  EXPECT_EQ(launch.master_port, 1234);
  EXPECT_FALSE(launch.agent_store);
  EXPECT_EQ(launch.key_prefix, "ccl-tests/none/0/");
}

TEST(Launch, KnowsTheJobAndItsSecret) {
  const Variables plain = {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}};
  EXPECT_EQ(detect(plain).job, "");
  EXPECT_EQ(detect(plain).secret, "");
  EXPECT_EQ(detect(plain).listener, -1);
  Variables more = plain;
  more.insert({{"CCL_JOB_SECRET", "s"}, {"TORCHELASTIC_RUN_ID", "7"}, {"CCL_LISTENER", "5"}});
  EXPECT_EQ(detect(more).job, "ccl-tests/7/0/");
  EXPECT_EQ(detect(more).secret, "s");
  EXPECT_EQ(detect(more).listener, 5);
  EXPECT_EQ(detect({{"SLURM_PROCID", "0"},
                    {"SLURM_STEP_NUM_TASKS", "1"},
                    {"SLURM_JOB_ID", "12"},
                    {"SLURM_STEP_ID", "3"}})
                .job,
            "slurm 12.3");
}

TEST(Launch, DefaultPort) {
  EXPECT_EQ(detect({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}}).master_port, 29500);
}

TEST(Launch, Torchrun) {
  Variables variables = {{"RANK", "0"},
                         {"WORLD_SIZE", "2"},
                         {"MASTER_ADDR", "a"},
                         {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                         {"TORCHELASTIC_RUN_ID", "job7"},
                         {"TORCHELASTIC_RESTART_COUNT", "2"}};
  EXPECT_EQ(detect(variables).launcher, "torchrun");
  EXPECT_TRUE(detect(variables).agent_store);
  EXPECT_EQ(detect(variables).key_prefix, "ccl-tests/job7/2/");
  variables["TORCHELASTIC_USE_AGENT_STORE"] = "False";
  EXPECT_FALSE(detect(variables).agent_store);
  variables["CCL_LAUNCHER"] = "local processes";
  EXPECT_EQ(detect(variables).launcher, "local processes");
}

TEST(Launch, OneProcessNeedsNoAddress) {
  EXPECT_EQ(detect({{"RANK", "0"}, {"WORLD_SIZE", "1"}}).processes, 1);
}

TEST(Launch, SeveralProcessesNeedAnAddress) {
  EXPECT_THAT(refusal<UsageError>({{"RANK", "0"}, {"WORLD_SIZE", "2"}}), HasSubstr("MASTER_ADDR"));
  EXPECT_THAT(
      refusal<UsageError>({{"RANK", "0"}, {"WORLD_SIZE", "1000000000"}, {"MASTER_ADDR", "a"}}),
      HasSubstr("WORLD_SIZE: '1000000000'"));
}

class BadNumber : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(BadNumber, IsAUsageErrorThatNamesTheVariable) {
  Variables variables = {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}};
  variables[GetParam().first] = GetParam().second;
  EXPECT_THAT(refusal<UsageError>(variables), HasSubstr(GetParam().first));
}

INSTANTIATE_TEST_SUITE_P(
    Launch, BadNumber,
    testing::Values(std::pair{"RANK", "x"}, std::pair{"RANK", "-1"}, std::pair{"RANK", "2"},
                    std::pair{"RANK", "1 "}, std::pair{"RANK", ""}, std::pair{"WORLD_SIZE", "0"},
                    std::pair{"WORLD_SIZE", "99999999999"}, std::pair{"LOCAL_RANK", "1.0"},
                    std::pair{"MASTER_PORT", "65536"}, std::pair{"MASTER_PORT", "0"}));

TEST(Launch, HalfOfThePair) {
  EXPECT_THAT(refusal<UsageError>({{"RANK", "0"}}), HasSubstr("WORLD_SIZE"));
  EXPECT_THAT(refusal<UsageError>({{"WORLD_SIZE", "4"}}), HasSubstr("RANK"));
}

// What launchers set, for task 2 of 4.
const Variables open_mpi = {{"OMPI_COMM_WORLD_SIZE", "4"},
                            {"OMPI_COMM_WORLD_RANK", "2"},
                            {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}};
const Variables hydra = {{"PMI_SIZE", "4"}, {"PMI_RANK", "2"}, {"MPI_LOCALRANKID", "1"}};
const Variables srun = {{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "2"},
                        {"SLURM_LOCALID", "1"},        {"SLURM_STEP_NODELIST", "n[03-04,7]"},
                        {"SLURM_STEP_NUM_NODES", "3"}, {"SLURM_JOB_ID", "1000"},
                        {"SLURM_STEP_ID", "7"}};

Variables operator+(Variables a, const Variables& b) {
  a.insert(b.begin(), b.end());
  return a;
}

TEST(Launch, Mpirun) {
  for (const auto& [variables, name, module] :
       {std::tuple{open_mpi, "mpirun (Open MPI)", "mpi-openmpi"},
        std::tuple{hydra, "mpirun (MPICH)", "mpi-mpich"}}) {
    const Launch launch = detect(variables);
    EXPECT_EQ(launch.launcher, name);
    EXPECT_EQ(launch.mpi_module, module);
    EXPECT_EQ(launch.process, 2);
    EXPECT_EQ(launch.processes, 4);
    EXPECT_EQ(launch.local_process, 1);
    EXPECT_EQ(launch.master_host, "");
  }
}

TEST(Launch, Srun) {
  const Launch launch = detect(srun);
  EXPECT_EQ(launch.launcher, "srun");
  EXPECT_EQ(launch.mpi_module, "");
  EXPECT_EQ(launch.process, 2);
  EXPECT_EQ(launch.processes, 4);
  EXPECT_EQ(launch.local_process, 1);
  EXPECT_EQ(launch.master_host, "n03");
  EXPECT_GE(launch.master_port, 10000);
  EXPECT_LT(launch.master_port, 32768);
  Variables next = srun;
  next["SLURM_STEP_ID"] = "8";
  EXPECT_NE(detect(next).master_port, launch.master_port);
  EXPECT_EQ(detect(srun + Variables{{"MASTER_PORT", "444"}}).master_port, 444);
  EXPECT_EQ(detect(srun + Variables{{"MASTER_ADDR", "a"}}).master_host, "a");
  next["SLURM_STEP_NUM_NODES"] = "1";
  EXPECT_EQ(detect(next).master_host, "127.0.0.1");
  next = srun;
  next.erase("SLURM_STEP_NODELIST");
  EXPECT_THAT(refusal<Error>(next), HasSubstr("SLURM_STEP_NODELIST"));
}

TEST(Launch, Order) {
  const Variables own = {{"RANK", "0"}, {"WORLD_SIZE", "8"}, {"MASTER_ADDR", "a"}};
  EXPECT_EQ(detect(open_mpi + srun).launcher, "mpirun (Open MPI)");  // mpirun in an allocation
  EXPECT_EQ(detect(srun + Variables{{"PMI_SIZE", "4"}, {"PMI_RANK", "2"}}).launcher, "srun");
  for (const Variables& launcher : {open_mpi, hydra, srun})
    EXPECT_EQ(detect(own + launcher).processes, 8);
  EXPECT_EQ(detect(own + open_mpi + Variables{{"TORCHELASTIC_RUN_ID", "x"}}).launcher, "torchrun");
}

TEST(Launch, Choice) {
  const Variables own = {{"RANK", "0"}, {"WORLD_SIZE", "8"}, {"MASTER_ADDR", "a"}};
  const Variables all = own + open_mpi + srun;
  EXPECT_EQ(detect(all, "env").launcher, "environment");
  EXPECT_EQ(detect(all, "mpi").launcher, "mpirun (Open MPI)");
  EXPECT_EQ(detect(all, "slurm").launcher, "srun");
  EXPECT_EQ(detect(all, "local").launcher, "none");
  EXPECT_THAT(refusal<UsageError>(all, "torchrun"), HasSubstr("not set: TORCHELASTIC_RUN_ID"));
  EXPECT_THAT(refusal<UsageError>({}, "env"), HasSubstr("not set: RANK, WORLD_SIZE"));
  EXPECT_THAT(refusal<UsageError>({{"RANK", "1"}}, "env"), HasSubstr("WORLD_SIZE"));
  const Variables batch = {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}};
  EXPECT_EQ(detect(batch).launcher, "none");
  EXPECT_THAT(refusal<UsageError>(batch, "slurm"), HasSubstr("not set: SLURM_STEP_NUM_TASKS;"));
  EXPECT_EQ(detect(all + Variables{{"CCL_LAUNCHER", "local processes"}}, "local").processes, 8);
}

TEST(Launch, MpiWithoutMpirun) {
  EXPECT_EQ(detect({}, "mpi").processes, 1);
  EXPECT_EQ(detect({{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}}, "mpi").processes, 1);
  for (const Variables& others : {srun, Variables{{"WORLD_SIZE", "4"}},
                                  srun + Variables{{"PMI_SIZE", "4"}, {"PMI_RANK", "2"}}})
    EXPECT_THAT(refusal<UsageError>(others, "mpi"), HasSubstr("not set: OMPI_COMM_WORLD_RANK"));
}

TEST(Launch, PmiStartsMpiWhoeverSpeaksIt) {
  const Variables two = {{"PMI_RANK", "2"}, {"PMI_SIZE", "4"}};
  for (const auto& [more, name, module, local] :
       {std::tuple{Variables{}, "PMI", "", -1},
        std::tuple{Variables{{"PMI_LOCAL_RANK", "3"}}, "PMI", "", 3},
        std::tuple{Variables{{"PALS_RANKID", "2"}, {"PALS_LOCAL_RANKID", "1"}}, "Cray PALS", "", 1},
        std::tuple{Variables{{"FLUX_TASK_RANK", "2"}, {"FLUX_TASK_LOCAL_ID", "1"}}, "Flux", "", 1},
        std::tuple{Variables{{"FLUX_TASK_RANK", "2"},
                             {"FLUX_TASK_LOCAL_ID", "1"},
                             {"SLURM_PROCID", "0"},  // of the step that runs Flux
                             {"SLURM_STEP_NUM_TASKS", "1"}},
                   "Flux", "", 1}}) {
    for (const char* choice : {"auto", "mpi"}) {
      const Launch launch = detect(two + more, choice);
      EXPECT_EQ(launch.launcher, name);
      EXPECT_EQ(launch.mpi_module, module);
      EXPECT_EQ(launch.process, 2);
      EXPECT_EQ(launch.processes, 4);
      EXPECT_EQ(launch.local_process, local);
      EXPECT_EQ(launch.size_name, "PMI_SIZE");
    }
  }
  EXPECT_EQ(detect(two + srun).launcher, "srun");
}

// Returns what a launch is refused for with the exit code of a failure.
std::string failure(const Variables& variables, const std::string& choice = "auto") {
  try {
    detect(variables, choice);
  } catch (const Error& error) {
    return error.code() == Exit::failed ? error.what() : "another exit code";
  }
  return "accepted";
}

// One variable is enough: a rank without a number of processes, or a number without a rank.
TEST(Launch, OfSeveralProcessesThatCannotMeetIsRefusedByTheNameOfAnyVariable) {
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
      {"PMI_RANK", "PMI_SIZE"},
      {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
      {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
      {"MPIRUN_RANK", "MPIRUN_NPROCS"},
      {"FLUX_TASK_RANK", "FLUX_JOB_SIZE"},
      {"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE"},
      {"MPI_RANKID", "MPI_NRANKS"},
      {"MPIRANK", "MPISIZE"},
      {"HOROVOD_RANK", "HOROVOD_SIZE"},
      {"PADDLE_TRAINER_ID", "PADDLE_TRAINERS_NUM"},
      {"PET_NODE_RANK", "PET_NNODES"},
      {"GROUP_RANK", "GROUP_WORLD_SIZE"},
      {"ROLE_RANK", "ROLE_WORLD_SIZE"},
      {"PMIX_RANK", ""},
      {"PALS_RANKID", ""},
      {"ALPS_APP_PE", ""},
      {"PMI_FORK_RANK", ""},
      {"MP_CHILD", ""},
      {"LAMRANK", ""}};
  for (const auto& [rank, size] : pairs) {
    const bool is_known =
        rank == "OMPI_COMM_WORLD_RANK" || rank == "PMI_RANK" || rank == "SLURM_PROCID";
    for (const char* choice : {"auto", "mpi"}) {
      EXPECT_THAT(failure({{rank, "1"}}, choice),
                  AllOf(HasSubstr(rank + "=1"), HasSubstr("start ")));
      if (rank != "SLURM_PROCID")
        EXPECT_THAT(failure({{rank, "0"}}, choice), HasSubstr(rank + "=0"));
      if (size.empty() || (is_known && std::string(choice) == "mpi")) continue;
      EXPECT_THAT(failure({{size, "3"}}, choice), AllOf(HasSubstr(size + "=3"), HasSubstr(rank)));
      if (is_known) continue;
      EXPECT_THAT(failure({{rank, "0"}, {size, "3"}}, choice), HasSubstr(size + "=3"));
      EXPECT_EQ(detect({{rank, "0"}, {size, "1"}}, choice).processes, 1);
    }
    const Variables another = {{rank, "2"}};
    EXPECT_EQ(detect(another, "local").processes, 1);
    EXPECT_EQ(
        detect(another +
               Variables{{"CCL_LAUNCHER", "local processes"}, {"RANK", "0"}, {"WORLD_SIZE", "1"}})
            .processes,
        1);
    EXPECT_THAT(failure(another + Variables{{"RANK", "0"}, {"WORLD_SIZE", "1"}}),
                HasSubstr("WORLD_SIZE=1, but " + rank + "=2"));
    EXPECT_EQ(detect(another + Variables{{"RANK", "2"}, {"WORLD_SIZE", "3"}, {"MASTER_ADDR", "a"}})
                  .processes,
              3);
  }
  EXPECT_THAT(failure({{"PMIX_RANK", "1"}}), HasSubstr("RANK=$PMIX_RANK WORLD_SIZE=N"));
  EXPECT_THAT(failure({{"MV2_COMM_WORLD_RANK", "1"}, {"MV2_COMM_WORLD_SIZE", "2"}}),
              HasSubstr("WORLD_SIZE=$MV2_COMM_WORLD_SIZE MASTER_ADDR=HOST"));
  EXPECT_THAT(failure({{"PET_NNODES", "1:4"}}), HasSubstr("torchrun --no-python"));
}

// As the training operator of Kubernetes sets them in pod 1 of two.
TEST(Launch, APyTorchJobsPodsAreNotRanks) {
  const Variables pod = {{"RANK", "1"},
                         {"WORLD_SIZE", "4"},
                         {"PET_NODE_RANK", "1"},
                         {"PET_NNODES", "2"},
                         {"MASTER_ADDR", "a"}};
  const Variables each = {{"PET_NPROC_PER_NODE", "2"}};
  EXPECT_THAT(failure(pod + each), AllOf(HasSubstr("PET_NPROC_PER_NODE=2"), HasSubstr("torchrun")));
  EXPECT_EQ(detect(pod).processes, 4);
  for (const Variables& right :
       {Variables{{"LOCAL_RANK", "1"}}, Variables{{"PET_NPROC_PER_NODE", "auto"}},
        Variables{{"PET_NPROC_PER_NODE", "1"}}, Variables{{"RANK", "3"}},
        Variables{{"WORLD_SIZE", "2"}}})
    EXPECT_EQ(detect(right + pod + each).process, right.contains("RANK") ? 3 : 1);
}

TEST(Launch, SaysWhichVariablesTellWhereRank0Is) {
  const auto names = [](const Variables& variables) {
    const Launch launch = detect(variables);
    return launch.host_name + " " + launch.port_name;
  };
  EXPECT_EQ(names({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}}),
            "MASTER_ADDR MASTER_PORT");
  const Variables step = {
      {"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_PROCID", "1"}, {"SLURM_STEP_NODELIST", "n[1-2]"}};
  EXPECT_EQ(names(step), "SLURM_STEP_NODELIST SLURM_JOB_ID");
  EXPECT_EQ(names(step + Variables{{"SLURM_STEP_RESV_PORTS", "12001"}}),
            "SLURM_STEP_NODELIST SLURM_STEP_RESV_PORTS");
  EXPECT_EQ(names(step + Variables{{"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}}),
            "MASTER_ADDR MASTER_PORT");
}

TEST(Launch, AJobOfOneProcessIsNotRefusedForARankThatTellsNoSize) {
  for (const Variables& one : {Variables{{"JSM_NAMESPACE_RANK", "0"}, {"JSM_NAMESPACE_SIZE", "1"}},
                               Variables{{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}},
                               Variables{{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}})
    EXPECT_EQ(detect(one + Variables{{"PMIX_RANK", "0"}, {"ALPS_APP_PE", "0"}}).processes, 1);
  // A batch script, and a shell within it.
  EXPECT_EQ(detect({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}).launcher, "none");
  EXPECT_EQ(
      detect({{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}, {"JOB_COMPLETION_INDEX", "1"}}).launcher,
      "none");
}

TEST(Launch, OnlyWhoeverAsksForItMayBeAPartOfALargerWorld) {
  const Variables own = {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}};
  EXPECT_FALSE(detect({}).may_be_part);
  EXPECT_FALSE(detect({}, "mpi").may_be_part);
  EXPECT_FALSE(detect(own).may_be_part);
  EXPECT_TRUE(detect(own, "env").may_be_part);
  EXPECT_FALSE(detect({{"RANK", "0"}, {"WORLD_SIZE", "1"}}, "env").may_be_part);
  EXPECT_TRUE(detect({}, "local").may_be_part);
}

// Variables of each launcher, of `size` processes: one may be left over inside another.
Variables of_launcher(int launcher, const std::string& size) {
  const std::array<Variables, 4> all = {
      Variables{{"OMPI_COMM_WORLD_SIZE", size}, {"OMPI_COMM_WORLD_RANK", "0"}},
      Variables{{"PMI_SIZE", size}, {"PMI_RANK", "0"}, {"MPI_LOCALRANKID", "0"}},
      Variables{
          {"SLURM_STEP_NUM_TASKS", size}, {"SLURM_PROCID", "0"}, {"SLURM_STEP_NODELIST", "n"}},
      Variables{{"WORLD_SIZE", size}, {"RANK", "0"}, {"MASTER_ADDR", "n"}}};
  return all.at(static_cast<std::size_t>(launcher));
}
constexpr std::array sizes_of = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS",
                                 "WORLD_SIZE"};

TEST(Launch, ALauncherOfOneProcessInsideOrAroundAnotherOfSeveralIsRefused) {
  for (int one = 0; one < 4; ++one) {
    for (int several = 0; several < 4; ++several) {
      if (one == several) continue;
      const auto i = static_cast<std::size_t>(one), j = static_cast<std::size_t>(several);
      const Variables both = of_launcher(one, "1") + of_launcher(several, "2");
      const Launch larger = detect(of_launcher(several, "2"));
      try {  // either the launcher of several is taken, or both are named
        EXPECT_EQ(detect(both).processes, larger.processes);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), Exit::failed);
        EXPECT_THAT(error.what(), HasSubstr(std::string(sizes_of.at(i)) + "=1"));
        EXPECT_THAT(error.what(), HasSubstr(std::string(sizes_of.at(j)) + "=2"));
      }
      EXPECT_EQ(detect(of_launcher(one, "2") + of_launcher(several, "2")).processes, 2);
      EXPECT_EQ(detect(both, "local").processes, 1);
      if (several == 3) continue;  // RANK and WORLD_SIZE come before all others
      for (const char* none : {"", "0", "1"})
        EXPECT_EQ(detect(of_launcher(one, "1") + Variables{{sizes_of.at(j), none}}).processes, 1);
    }
  }
}

TEST(Launch, TheBackendsOwnMpirunIsPreferred) {
  const Variables left = of_launcher(0, "1") + hydra;
  EXPECT_THAT(refusal<Error>(left), HasSubstr("OMPI_COMM_WORLD_SIZE=1, but PMI_SIZE=4"));
  EXPECT_EQ(detect(left, "auto", "mpi-mpich").launcher, "mpirun (MPICH)");
  EXPECT_EQ(detect(left, "mpi", "mpi-mpich").processes, 4);
  EXPECT_THAT(refusal<Error>(left, "auto", "mpi-openmpi"), HasSubstr("PMI_SIZE=4"));
  const Variables other = of_launcher(1, "1") + open_mpi;
  EXPECT_EQ(detect(other, "auto", "mpi-openmpi").launcher, "mpirun (Open MPI)");
  EXPECT_THAT(refusal<Error>(other, "auto", "mpi-mpich"),
              HasSubstr("PMI_SIZE=1, but OMPI_COMM_WORLD_SIZE=4"));
  EXPECT_EQ(detect(open_mpi, "auto", "mpi-mpich").launcher, "mpirun (Open MPI)");
}

TEST(Launch, AJobOfSeveralProcessesInsideALargerOne) {
  const Variables pair = of_launcher(3, "2");
  for (const Variables& around : {open_mpi, hydra, srun})
    EXPECT_THAT(refusal<Error>(pair + around), HasSubstr("WORLD_SIZE=2, but "));
  EXPECT_EQ(detect(pair + srun, "env").processes, 2);
  // An agent on each of four nodes, and a daemon of mpirun on each.
  EXPECT_EQ(detect(pair + srun + Variables{{"TORCHELASTIC_RUN_ID", "x"}}).processes, 2);
  EXPECT_EQ(detect(of_launcher(0, "2") + srun).processes, 2);
  EXPECT_THAT(refusal<Error>(of_launcher(0, "2") + hydra, "mpi"), HasSubstr("PMI_SIZE=4"));
}

TEST(Launch, MasterAddrIsAHostAlone) {
  const auto host = [](const std::string& text) {
    return detect({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", text}}).master_host;
  };
  for (const char* good : {"node-1.example", "my_host", "10.0.0.7", "::1", "fe80::1%eth0"})
    EXPECT_EQ(host(good), good);
  EXPECT_EQ(host("[::1]"), "::1");
  EXPECT_EQ(host("[fe80::1%eth0]"), "fe80::1%eth0");
  for (const char* bad :
       {"node1:29500", "tcp://node1", "[::1]:29500", "10.0.0.7:1", "[node1]", "[10.0.0.7]",
        "user@node1", "node1,node2", "node1 ", "node1\n", "a/b", "["})
    EXPECT_THAT(refusal<UsageError>({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", bad}}),
                HasSubstr("MASTER_PORT"))
        << bad;
}

TEST(Launch, SaysHowManyMoreAreWaitedFor) {
  EXPECT_EQ(more_processes(detect(srun), 3), "3 more tasks of srun step 1000.7");
  EXPECT_EQ(more_processes(detect(srun), 1), "1 more task of srun step 1000.7");
  EXPECT_EQ(more_processes(detect(open_mpi), 1), "1 more process (OMPI_COMM_WORLD_SIZE=4)");
  EXPECT_EQ(more_processes(detect(of_launcher(3, "8")), 7), "7 more processes (WORLD_SIZE=8)");
}

TEST(Launch, OnKubernetesANameComesWithItsPod) {
  const Variables two = {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "pod-0.job"}};
  EXPECT_FALSE(detect(two).names_come_late);
  EXPECT_TRUE(detect(two + Variables{{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}}).names_come_late);
}

TEST(Launch, PortsOfSrun) {
  const auto port = [](const Variables& more) { return detect(more + srun).master_port; };
  EXPECT_EQ(port({{"SLURM_STEP_RESV_PORTS", "12001-12003"}}), 12001);
  EXPECT_EQ(port({{"SLURM_STEP_RESV_PORTS", "12001,12005-12006"}}), 12001);
  EXPECT_EQ(port({{"SLURM_STEP_RESV_PORTS", "12001"}, {"MASTER_PORT", "444"}}), 444);
  EXPECT_EQ(port({{"SLURM_STEP_RESV_PORTS", ""}}), port({}));
  EXPECT_THAT(refusal<UsageError>(srun + Variables{{"SLURM_STEP_RESV_PORTS", "x"}}),
              HasSubstr("SLURM_STEP_RESV_PORTS"));
  for (const char* job : {"0", "1000", "4294967295"}) {
    for (const char* step : {"0", "7", "4294967290"}) {  // the last: salloc's interactive step
      const int made = port({{"SLURM_JOB_ID", job}, {"SLURM_STEP_ID", step}});
      EXPECT_GE(made, 10000) << job << '.' << step;
      EXPECT_LT(made, 32768) << job << '.' << step;
    }
  }
}

class Launcher : public testing::TestWithParam<Variables> {};

TEST_P(Launcher, OfSeveralProcessesThatAreEachToldToBeAloneIsRefused) {
  const Variables alone = {{"RANK", "0"}, {"WORLD_SIZE", "1"}};
  EXPECT_THAT(refusal<Error>(GetParam() + alone), HasSubstr("alone"));
}

TEST_P(Launcher, WithoutItsRankIsRefused) {
  Variables variables = GetParam();
  for (const char* rank : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"})
    variables.erase(rank);
  EXPECT_THAT(refusal<Error>(variables), HasSubstr("MASTER_ADDR"));
}

TEST_P(Launcher, WithBadNumbersIsAUsageError) {
  for (const char* value : {"", "x", "-1", "4"}) {
    Variables variables = GetParam();
    for (auto& [name, text] : variables) {
      if (name.ends_with("RANK") || name == "SLURM_PROCID") text = value;
    }
    EXPECT_NE(refusal<UsageError>(variables), "accepted") << value;
  }
}

INSTANTIATE_TEST_SUITE_P(Launch, Launcher, testing::Values(open_mpi, hydra, srun));

TEST(NodeList, FirstHost) {
  EXPECT_EQ(first_host("n1"), "n1");
  EXPECT_EQ(first_host("n1,n2"), "n1");
  EXPECT_EQ(first_host("n[01-03,07]"), "n01");
  EXPECT_EQ(first_host("n[7]"), "n7");
  EXPECT_EQ(first_host("n[9,11-12],gpu[1-2]"), "n9");
  EXPECT_EQ(first_host("gpu-a,n[1-2]"), "gpu-a");
  EXPECT_EQ(first_host("rack[2-3]-node[10-12].cluster"), "rack2-node10.cluster");
  EXPECT_EQ(first_host("a1,b[2-4]-ib"), "a1");
  EXPECT_EQ(first_host("b[2-4]-ib,a1"), "b2-ib");
  EXPECT_EQ(first_host("n[0-1][5-7]"), "n05");
  EXPECT_EQ(first_host("10.0.0.[3-9]"), "10.0.0.3");
  EXPECT_EQ(first_host(""), "");
  EXPECT_EQ(first_host("n[1-2"), "");
}

}  // namespace
}  // namespace ccl_tests
