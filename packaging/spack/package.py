# Builds a clone:  spack repo add FOLDER_OF_A_REPOSITORY && spack develop --path CLONE ccl-tests@main && spack install ccl-tests@main
from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class CclTests(CMakePackage, CudaPackage):
    """Tests and times collective communication over NCCL, Gloo and MPI. Programs take the flags of nccl-tests,
    compare every element with the expected result, and say how reliable each time is."""

    license("BSD-3-Clause", checked_by="ccl-tests")

    version("main", branch="main")

    variant("gloo", default=True, description="Module for Gloo")
    variant("mpi", default=True, description="Module for the MPI of the spec: Open MPI or MPICH")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("help2man", type="build")
    depends_on("pkgconfig", type="build", when="+mpi")

    depends_on("fmt@9:")
    depends_on("nlohmann-json")
    depends_on("asio")
    depends_on("xxhash")
    depends_on("tomlplusplus")
    depends_on("zlib-api")
    depends_on("hwloc@2:")
    depends_on("gloo", when="+gloo")
    depends_on("mpi", when="+mpi")
    depends_on("cuda@12:", when="+cuda")
    depends_on("nccl@2.27:", when="+cuda")

    generator("ninja")

    def cmake_args(self):
        arguments = [
            self.define("CCL_TESTS", False),
            self.define("CCL_SIMGRID", "OFF"),
            self.define("CCL_GLOO", "ON" if self.spec.satisfies("+gloo") else "OFF"),
            self.define("CCL_OPENMPI", "ON" if self.spec.satisfies("^[virtuals=mpi] openmpi") else "OFF"),
            self.define("CCL_MPICH", "ON" if self.spec.satisfies("^[virtuals=mpi] mpich") else "OFF"),
            self.define("CCL_CUDA", "ON" if self.spec.satisfies("+cuda") else "OFF"),
            self.define("CCL_NCCL", "ON" if self.spec.satisfies("+cuda") else "OFF"),
        ]
        architectures = self.spec.variants["cuda_arch"].value if self.spec.satisfies("+cuda") else ("none",)
        if "none" not in architectures:
            arguments.append(self.define("CMAKE_CUDA_ARCHITECTURES", ";".join(architectures)))
        return arguments

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_results(self):
        Executable(self.prefix.bin.all_reduce_perf)("--backend", "gloo", "-t", "2", "-b", "8", "-e", "64K")
