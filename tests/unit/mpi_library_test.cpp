#include "src/backends/mpi_library.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "src/core/error.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ccl_tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(MpiLibrary, ModuleOfAFile) {
  EXPECT_EQ(mpi_module_of("lib/ccl-tests/ccl-mpi-openmpi.so"), "mpi-openmpi");
  EXPECT_EQ(mpi_module_of("./ccl-mpi-mpich-pieces.so"), "mpi-mpich");
  EXPECT_EQ(mpi_module_of("./ccl-gloo.so"), "");
  EXPECT_EQ(mpi_module_of("ccl-mpi-mpich/ccl-gloo.so"), "");
}

TEST(MpiLibrary, LibrariesBesideALauncher) {
  const TemporaryFolder folder;
  const std::string plain = folder.write("plain/lib/libmpi.so.12", "");
  folder.write("plain/lib/libmpi.so", "");
  std::filesystem::create_symlink("lib", folder.file("plain/lib64"));
  EXPECT_THAT(mpi_libraries_of(folder.file("plain/bin/mpiexec.hydra")), ElementsAre(plain));

  const std::string debian = folder.write("usr/lib/x86_64-linux-gnu/libmpich.so.12", "");
  EXPECT_THAT(mpi_libraries_of(folder.file("usr/bin/hydra_pmi_proxy")), ElementsAre(debian));
  const std::string fedora = folder.write("openmpi/lib64/libmpi.so.40", "");
  EXPECT_THAT(mpi_libraries_of(folder.file("openmpi/bin/prted")), ElementsAre(fedora));

  EXPECT_THAT(mpi_libraries_of(folder.file("none/bin/mpirun")), IsEmpty());
  EXPECT_THAT(mpi_libraries_of({}), IsEmpty());
}

std::string why_refused(const std::string& module, const std::filesystem::path& launcher) {
  try {
    return "took " + load_mpi(module, {module}, launcher);
  } catch (const Unsupported& e) {
    return e.what();
  }
}

// The launcher's MPI is never replaced by another one that happens to be installed.
TEST(MpiLibrary, RefusesWhatTheLauncherHasNot) {
  unsetenv("LD_LIBRARY_PATH");
  unsetenv("OMPI_LIBDIR_LOC");
  const TemporaryFolder folder;
  const std::string library = folder.write("lib/libmpi.so.12", "no library");
  const std::string launcher = folder.file("bin/mpirun");
  const std::string other = why_refused("mpi-openmpi", launcher);
  EXPECT_THAT(other, HasSubstr("the MPI of " + launcher + " is " + library));
  EXPECT_THAT(other, HasSubstr("but libmpi.so.40 is needed"));
  EXPECT_THAT(why_refused("mpi-mpich", launcher), HasSubstr("(" + library));
}

}  // namespace
}  // namespace ccl_tests
