# Sourced by gpu_check.sh: --pack. prefix: the tree; pack: the folder; self, here: the scripts; work: a folder for this run.
# shellcheck shell=bash disable=SC2154  # set there
# --pack: what ldd lists, save glibc's own, the driver's and NCCL.
pack_tree() {
  mkdir -p "$pack" || exit 4
  [[ -z $(ls -A "$pack") ]] || usage "--pack: '$pack' is not empty; accepted: a new folder"
  if [[ -e $prefix/CMakeCache.txt ]]; then
    cmake --install "$prefix" --prefix "$work/tree" --strip >"$work/install.log" 2>&1 || { cat "$work/install.log" >&2; exit 4; }
  else
    cp -a "$prefix" "$work/tree" || exit 4
  fi
  local lib module file
  lib=$(cd "$work/tree" && echo lib*)
  mkdir -p "$pack/lib"
  cp -a "$work/tree/bin" "$pack/" && cp -a "$work/tree/$lib"/libccl-tests.so* "$pack/lib/" && mkdir "$pack/lib/ccl-tests" || exit 4
  for module in cuda nccl gloo; do  # MPI is the other machine's own
    file=$work/tree/$lib/ccl-tests/ccl-$module.so
    [[ ! -e $file ]] || cp -a "$file" "$pack/lib/ccl-tests/"
  done
  ldd "$pack"/bin/device_check "$pack"/lib/*.so "$pack"/lib/ccl-tests/*.so 2>/dev/null | sed -n 's/^\t\(lib[^ ]*\) => \(\/[^ ]*\) .*/\1 \2/p' | sort -u |
    while read -r name file; do
      case $name in
        libc.so* | libm.so* | libpthread.so* | libdl.so* | librt.so* | libresolv.so* | libcuda.so* | libnccl.so* | libccl-tests.so*) ;;
        *) [[ -e $pack/lib/$name ]] || cp -L "$file" "$pack/lib/$name" ;;
      esac
    done
  cp "$self" "$here"/gpu_check_*.sh "$here/program_flags.sh" "$pack/" || exit 4
  local mib
  mib=$(du -sm "$pack" | cut -f 1)
  if ((mib > 32)); then say "--pack: $mib MiB, more than 32; fewer CMAKE_CUDA_ARCHITECTURES make it smaller"; exit 4; fi
  printf '%s: %s MiB; there: bash gpu_check.sh --out FOLDER\n' "$pack" "$mib"
}
