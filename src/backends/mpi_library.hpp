// Which MPI library this process uses: a module of MPI is linked to none, and takes what is loaded.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ccl_tests {

// Returns the module ("mpi-mpich") whose ABI a module's file has, which may be a test's
// ("ccl-mpi-mpich-pieces.so"). Empty for other modules.
std::string mpi_module_of(const std::filesystem::path& module_file);

// Returns the MPI libraries of the installation that a launcher ("/opt/mpich/bin/mpiexec.hydra")
// belongs to.
std::vector<std::string> mpi_libraries_of(const std::filesystem::path& launcher);

// Returns the program of MPI's launcher that started this process. Empty if there is none.
std::filesystem::path mpi_launcher();

// Loads the MPI library of this process for the first of `modules` that takes it, and returns that
// module. Tries what is loaded already, the folders of LD_LIBRARY_PATH and OMPI_LIBDIR_LOC, and the
// installation of `launcher`; if that has no MPI library, the folder that CMake found and those of
// the dynamic loader. asked: the value of --backend, for messages. Throws Unsupported if no library fits.
std::string load_mpi(const std::string& asked, const std::vector<std::string>& modules,
                     const std::filesystem::path& launcher);

// Returns the library for `module` of mpi_launcher()'s installation if `library` is not of that.
// Empty if it is, and if the launcher or its library is not known.
std::string launchers_other_mpi(const std::filesystem::path& library, const std::string& module);

}  // namespace ccl_tests
