#!/usr/bin/env bash
# Makes ccl-tests-VERSION-x86_64.tar.gz: programs, modules, manual pages, completion, recipes and plot.py, and what they need but
# glibc, the driver, NCCL and MPI. It runs wherever it is unpacked: ./bin/all_reduce_perf
#   scripts/package.sh [--portable]      builds everything for glibc 2.28, then packs it; needs Debian 12 and its archive
#   scripts/package.sh --prefix TREE     packs a build tree or an installed one, for machines with this one's glibc or a newer one
#   --output FOLDER   of the archive [.]; --folder FOLDER: the packed tree itself, in a new folder, and no archive
#   --work FOLDER     of the portable build, which a next call goes on with [build-portable]
#   --gloo FOLDER     sources of Gloo for the portable build [those of Debian]
# The last line says which glibc and libstdc++ the programs need.
# Exit codes: 0 done, 2 usage, 3 not possible here, 4 a build failed, or the result needs more than it should.
set -euo pipefail
export LC_ALL=C

say() { printf 'package: %s\n' "$*" >&2; }
die() { local code=$1; shift; say "$@"; exit "$code"; }
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname -- "$here")
prefix='' output=$PWD folder='' work=$root/build-portable gloo='' portable=false
while (($#)); do
  case $1 in
    --portable) portable=true; shift ;;
    --prefix | --output | --folder | --work | --gloo)
      [[ -n ${2:-} ]] || die 2 "$1: no value; accepted: one value after the flag"
      declare "${1#--}=$2"
      shift 2
      ;;
    -h | --help) sed -n '2,10s/^# //p' "$0"; exit 0 ;;
    *) die 2 "$1: not known; accepted: the flags that --help lists" ;;
  esac
done
[[ -z $prefix ]] || ! $portable || die 2 "--portable with --prefix: a tree that is built cannot be made portable; accepted: one of them"
[[ -n $prefix ]] || portable=true
[[ -z $gloo || -f $gloo/gloo/config.h.in ]] || die 2 "--gloo: '$gloo' has no gloo/config.h.in; accepted: a folder with Gloo's sources"
[[ -z $folder || ! -e $folder || -z $(ls -A "$folder" 2>/dev/null) ]] || die 2 "--folder: '$folder' is not empty; accepted: a new folder"
for tool in readelf patchelf ldd; do
  command -v "$tool" >/dev/null || die 3 "$tool is not here; install the packages binutils and patchelf"
done
mkdir -p "$output" 2>/dev/null || die 2 "--output: cannot make '$output'"
output=$(cd -- "$output" && pwd)
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
# Runs a command whose output is shown only if the command fails.
quietly() { "$@" >"$temporary/log" 2>&1 </dev/null || { tail -n 40 "$temporary/log" >&2; die 4 "failed: $*"; }; }

# Builds for an old glibc, that of RHEL 8, though the sysroot is of Debian 11: what is newer is hidden from the linker. What the old
# libstdc++.so.6 lacks comes from the libstdc++.a of this machine's compiler. So the machine's own libstdc++.so.6, which may be much
# newer, serves us and the libraries beside us.
newest_glibc=2.28 newest_libstdcxx=3.4.25 newest_cxxabi=1.3.11
portable_build() {
  local sysroot libraries link target package
  for package in g++ cmake ninja make dpkg-source python3 help2man; do
    command -v "$package" >/dev/null || die 3 "$package is not here; install the packages g++, cmake, ninja-build, make, dpkg-dev, python3 and help2man"
  done
  mkdir -p "$work" || die 2 "--work: cannot make '$work'"
  work=$(cd -- "$work" && pwd)
  sysroot=$work/sysroot libraries=$work/sysroot/usr/lib/x86_64-linux-gnu
  if [[ ! -e $work/sysroot.done || ! -e $libraries/libz.a ]]; then
    say 'unpacking a sysroot of Debian 11'
    rm -rf "$sysroot" "$work/tree"
    bash "$here/debian_root.sh" --alone bullseye "$sysroot" libc6 libc6-dev linux-libc-dev libcrypt1 libgcc-s1 libstdc++6
    bash "$here/debian_root.sh" --alone bookworm "$sysroot" nlohmann-json3-dev libasio-dev libxxhash-dev libtomlplusplus-dev zlib1g-dev \
      libopenmpi-dev libopenmpi3 libmpich-dev libmpich12
    while IFS= read -r link; do  # absolute links would lead out of the sysroot
      target=$(readlink "$link")
      ln -sfn "$sysroot$target" "$link"
    done < <(find "$sysroot" -type l -lname '/*' ! -lname "$sysroot/*")
    rm -f "$libraries/libz.so"  # a link to what is not there: libz.a is linked
    sed -i 's/^\(Libs:.* -lmpich\) .*/\1/' "$libraries/pkgconfig/mpich.pc"  # the others are what a static MPICH needs
    mkdir -p "$work/fallback"
    cp -L "$libraries"/libstdc++.so.6 "$libraries"/libgcc_s.so.1 "$work/fallback/"
    for link in libc.so.6 libm.so.6 libpthread.so.0 librt.so.1 libdl.so.2; do
      quietly python3 "$here/hide_symbols.py" "$(readlink -f "$libraries/$link")" "GLIBC_$newest_glibc"
    done
    quietly python3 "$here/hide_symbols.py" "$(readlink -f "$libraries/libstdc++.so.6")" "GLIBCXX_$newest_libstdcxx" "CXXABI_$newest_cxxabi"
    cp "$(g++ -print-file-name=libstdc++.a)" "$libraries/"
    # libstdc++.a asks whether a process has one thread only, which glibc says from 2.32 on.
    printf 'char __libc_single_threaded;\n' | gcc -x c -fPIC -O2 -c - -o "$libraries/single_threaded.o"
    printf 'INPUT ( %s %s %s )\n' /usr/lib/x86_64-linux-gnu/{libstdc++.so.6,libstdc++.a,single_threaded.o} >"$libraries/libstdc++.so"
    # Waits until a time of the monotonic clock are functions of glibc from 2.30 on.
    mkdir -p "$work/include/bits"
    {
      printf '#include_next <bits/c++config.h>\n'
      printf '#undef _GLIBCXX_USE_PTHREAD_%s\n' COND_CLOCKWAIT MUTEX_CLOCKLOCK RWLOCK_CLOCKLOCK
    } >"$work/include/bits/c++config.h"
    touch "$work/sysroot.done"
  fi
  cat >"$temporary/toolchain.cmake" <<TOOLCHAIN
set(CMAKE_SYSROOT $sysroot)
set(CMAKE_C_COMPILER gcc)
set(CMAKE_CXX_COMPILER g++)
set(CMAKE_CXX_FLAGS_INIT "-isystem $work/include")
set(CMAKE_CUDA_FLAGS_INIT "-Xcompiler=--sysroot=$sysroot")
foreach(kind EXE SHARED MODULE)
  set(CMAKE_\${kind}_LINKER_FLAGS_INIT "--sysroot=$sysroot -B$libraries/ -Wl,--exclude-libs,ALL")
endforeach()
TOOLCHAIN
  # CMake reads such a file into a new tree only.
  cmp -s "$temporary/toolchain.cmake" "$work/toolchain.cmake" || rm -rf "$work/tree" "$work/libraries.done"
  cp "$temporary/toolchain.cmake" "$work/"
  export PKG_CONFIG_SYSROOT_DIR=$sysroot PKG_CONFIG_LIBDIR=$libraries/pkgconfig
  local configure=(cmake -G Ninja -DCMAKE_TOOLCHAIN_FILE="$work/toolchain.cmake" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_LIBDIR=lib)
  local static=(-DCMAKE_INSTALL_PREFIX="$sysroot/usr" -DBUILD_SHARED_LIBS=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON)
  if [[ ! -e $work/libraries.done ]]; then
    say 'building fmt, Gloo and hwloc'
    rm -rf "$work/sources"
    bash "$here/debian_root.sh" --source bookworm "$work/sources" fmtlib hwloc
    if [[ -n $gloo ]]; then
      cp -a "$gloo" "$work/sources/gloo"
    else
      bash "$here/debian_root.sh" --source bookworm "$work/sources" gloo ||
        die 3 "Debian's archive does not give Gloo's sources now; accepted: --gloo FOLDER, a checkout of Gloo (Debian 12 has commit 5b14351)"
    fi
    cd "$work/sources"
    quietly "${configure[@]}" "${static[@]}" -S fmtlib -B fmt-build -DFMT_TEST=OFF -DFMT_DOC=OFF
    quietly cmake --build fmt-build --target install
    # Gloo of 2022 forgets an include, which g++ 12 misses.
    quietly "${configure[@]}" "${static[@]}" -S gloo -B gloo-build -DCMAKE_CXX_FLAGS="-isystem $work/include -include array" -DBUILD_TEST=OFF -DBUILD_BENCHMARK=OFF -DUSE_REDIS=OFF -DUSE_IBVERBS=OFF -DUSE_LIBUV=OFF
    quietly cmake --build gloo-build --target install
    mkdir hwloc-build && cd hwloc-build
    quietly ../hwloc/configure CC="gcc --sysroot=$sysroot -B$libraries/" --prefix="$sysroot/usr" --libdir="$libraries" --with-pic \
      --enable-static --disable-shared --disable-libxml2 --disable-cairo --disable-pci --disable-opencl --disable-cuda --disable-nvml \
      --disable-rsmi --disable-levelzero --disable-gl --disable-libudev --disable-plugins --disable-doxygen
    quietly make -C hwloc install
    quietly make -C include install
    cd "$root"
    touch "$work/libraries.done"
  fi
  say 'building the suite'
  quietly "${configure[@]}" -S "$root" -B "$work/tree" -DCCL_TESTS=OFF -DCCL_SIMGRID=OFF -DCCL_GLOO=ON -DCCL_OPENMPI=ON -DCCL_MPICH=ON
  sed -n '/^-- Modules:/,/^--/p' "$temporary/log" | grep '^  ' >&2 || true
  quietly cmake --build "$work/tree"
  prefix=$work/tree
}

# The version of an installed tree.
version_of() { sed -n 's/^set(PACKAGE_VERSION "\(.*\)")$/\1/p' "$1"/lib*/cmake/ccl-tests/ccl-tests-config-version.cmake; }

# Prints the ELF files of a tree.
elf_files() { find "$1" -type f -size +0 -exec sh -c 'for file; do if [ "$(head -c 4 "$file" | tail -c 3)" = ELF ]; then echo "$file"; fi; done' sh {} +; }

# Prints the newest version KIND_x.y that the files on stdin need: KIND is GLIBC, GLIBCXX or CXXABI.
newest_needed() { # KIND
  # Needed versions have lines of their own ("0x0010:   Name: GLIBC_2.34  Flags: none"). Relative relocations need glibc 2.36.
  xargs -d '\n' readelf -V 2>/dev/null | sed -nE 's/^ +0x[0-9a-f]+: +Name: (GLIBC_ABI_DT_RELR|[A-Z]+_[0-9.]+) .*/\1/p' |
    sed 's/GLIBC_ABI_DT_RELR/GLIBC_2.36/' | sed -n "s/^$1_//p" | sort -uV | tail -n 1
}

# Copies what FILE needs into lib/, and what that needs: all but glibc, the driver, NCCL and MPI. Of libstdc++ and libgcc_s the
# machine's own come first: libraries beside us may need newer ones.
add_libraries() { # FILE
  local name path
  while read -r name path; do
    case $name in
      libc.so.* | libm.so.* | libmvec.so.* | libpthread.so.* | libdl.so.* | librt.so.* | libresolv.so.* | libutil.so.* | ld-linux*) continue ;;
      libcuda.so.* | libnvidia-ml.so.* | libnccl.so.* | libmpi.so.* | libmpich.so.* | libmpi_abi.so.*) continue ;;
      libstdc++.so.6 | libgcc_s.so.1) add_library "$name" "$path" "$tree/lib/fallback" ;;
      *) add_library "$name" "$path" "$tree/lib" ;;
    esac
  done < <(ldd "$1" | awk -v needed="$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p')" '
    BEGIN { count = split(needed, names, "\n"); for (i = 1; i <= count; ++i) direct[names[i]] = 1 }
    $1 in direct { print $1, $3 }')
}
add_library() { # NAME FILE FOLDER
  local file=$2
  [[ ! -e $3/$1 && ! -e $tree/lib/$1 ]] || return 0
  if $portable; then file=$work/fallback/$1; fi
  [[ -r $file ]] || die 4 "$1 is needed, but was not found"
  mkdir -p "$3"
  cp -L "$file" "$3/$1"
  chmod 644 "$3/$1"
  $portable || add_notices "$(dpkg -S "*/$(basename -- "$(readlink -f "$file")")" 2>/dev/null | sed -n '1s/:.*//p')"
  add_libraries "$3/$1"
  # shellcheck disable=SC2016  # the loader's variable
  patchelf --set-rpath '$ORIGIN' "$3/$1"
}
# Copies the copyright notices of packages.
add_notices() { # PACKAGE...
  local package file
  mkdir -p "$tree/share/doc/ccl-tests"
  for package; do
    for file in "$work/sysroot/usr/share/doc/$package/copyright" "$work/sources/$package/debian/copyright" "$work/sources/$package/LICENSE" \
      "/usr/share/doc/$package/copyright"; do
      [[ ! -r $file ]] || { cp -L "$file" "$tree/share/doc/ccl-tests/copyright.$package"; break; }
    done
  done
}

# Lays out the tree that is packed.
lay_out() {
  local file folders
  if [[ -e $prefix/CMakeCache.txt ]]; then
    quietly cmake --install "$prefix" --prefix "$tree" --strip
  else
    cp -a "$prefix/." "$tree/"
  fi
  [[ -d $tree/lib ]] || mv "$tree"/lib64 "$tree/lib" 2>/dev/null || die 2 "--prefix: '$prefix' has no lib; accepted: a build tree or an installed one"
  add_notices nlohmann-json3-dev libasio-dev libxxhash-dev libtomlplusplus-dev zlib1g-dev
  if $portable; then add_notices fmtlib hwloc gloo libstdc++6 libgcc-s1; fi
  while IFS= read -r file; do add_libraries "$file"; done < <(elf_files "$tree")
  # The folders of the machine's libraries come before the fallback.
  # shellcheck disable=SC2016  # the loader's variable
  folders='$ORIGIN/../lib:/lib/MACHINE-linux-gnu:/usr/lib/MACHINE-linux-gnu:/lib64:/usr/lib64:$ORIGIN/../lib/fallback'
  for file in "$tree"/bin/*; do patchelf --set-rpath "${folders//MACHINE/$(uname -m)}" "$file"; done
  # shellcheck disable=SC2016
  for file in "$tree"/lib/ccl-tests/*.so; do patchelf --set-rpath '$ORIGIN/..' "$file"; done
  # shellcheck disable=SC2016
  patchelf --set-rpath '$ORIGIN' "$(readlink -f "$tree/lib/libccl-tests.so")"
  mkdir -p "$tree/recipes" "$tree/scripts/plots"
  for file in "$root"/examples/recipes/*; do
    sed 's#examples/recipes/#recipes/#g; s#build/bin#bin#g' "$file" >"$tree/recipes/${file##*/}"
    chmod --reference="$file" "$tree/recipes/${file##*/}"
  done
  cp "$here"/plot.py "$here"/gpu_check*.sh "$here/program_flags.sh" "$tree/scripts/"
  cp "$here"/plots/*.py "$tree/scripts/plots/"
  cp "$root/examples/monitoring/preflight_gang.sh" "$tree/scripts/"
  cp "$root/LICENSE" "$tree/"
}

if $portable; then portable_build; fi
[[ -x $prefix/bin/all_reduce_perf ]] || die 2 "--prefix: '$prefix' has no bin/all_reduce_perf; accepted: a build tree or an installed one"
prefix=$(cd -- "$prefix" && pwd)
tree=$temporary/tree
mkdir "$tree"
lay_out
version=$(version_of "$tree")
[[ -n $version ]] || die 2 "--prefix: '$prefix' has no version; accepted: a build tree or an installed one"
name=ccl-tests-$version-$(uname -m)
glibc=$(elf_files "$tree" | newest_needed GLIBC)
# The fallback is as new as the programs need it to be.
libstdcxx=$(elf_files "$tree" | grep -v /lib/fallback/ | newest_needed GLIBCXX)
if $portable && [[ $(printf '%s\n' "$glibc" "$newest_glibc" | sort -V | tail -n 1) != "$newest_glibc" ]]; then
  die 4 "the build needs glibc $glibc, not $newest_glibc"
fi
if $portable && [[ $(printf '%s\n' "$libstdcxx" "$newest_libstdcxx" | sort -V | tail -n 1) != "$newest_libstdcxx" ]]; then
  die 4 "the build needs libstdc++ with GLIBCXX_$libstdcxx, not GLIBCXX_$newest_libstdcxx"
fi
needs="needs glibc $glibc, and libstdc++.so.6 with GLIBCXX_$libstdcxx (lib/fallback has one for machines without)"
{
  printf 'ccl-tests %s: tests and times collective communication over NCCL, Gloo and MPI.\n\n' "$version"
  printf '  bin/all_reduce_perf -b 8 -e 64M                 how fast? Gloo; with a GPU NCCL\n'
  printf '  bin/all_reduce_perf -b 1M -e 1M -d all -o all   is every type and operation right?\n\n'
  printf 'bin: programs. recipes: scripts for common questions, run from this folder. scripts: plot.py, gpu_check.sh.\n'
  printf 'share: manual pages (man -M share/man all_reduce_perf) and completion. share/doc: notices of the libraries in lib.\n\n'
  printf 'It %s.\nModules:' "$needs"
  for file in "$tree"/lib/ccl-tests/*.so; do file=${file##*/ccl-}; printf ' %s' "${file%.so}"; done
  printf '.\n'
} >"$tree/README"
if [[ -n $folder ]]; then
  if ! mkdir -p "$folder" 2>/dev/null || ! cp -a "$tree/." "$folder/" 2>/dev/null; then die 4 "cannot write to '$folder'"; fi
  printf '%s: %s MiB; %s\n' "$folder" "$(du -sm "$folder" | cut -f 1)" "$needs"
  exit
fi
mv "$tree" "$temporary/$name"
tar -C "$temporary" --sort=name --owner=0 --group=0 --numeric-owner -c "$name" | gzip -9n >"$temporary/packed"
mv "$temporary/packed" "$output/$name.tar.gz" 2>/dev/null || die 4 "cannot write to '$output'"
mib=$(du -m "$output/$name.tar.gz" | cut -f 1)
((mib <= 40)) || die 4 "$name.tar.gz has $mib MiB, more than 40; fewer CMAKE_CUDA_ARCHITECTURES make it smaller"
printf '%s: %s MiB; %s\n' "$output/$name.tar.gz" "$mib" "$needs"
