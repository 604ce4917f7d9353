#!/usr/bin/env bash
# scripts/package.sh: the archive of this build runs in a chroot of another Debian, which has nothing of the suite.
#   package_test.sh BUILD                                       in Debian 13, of its packages only what programs need
#   package_test.sh BUILD --everywhere ARCHIVE [--deb FILE]     a portable archive in Debian 11, 12 and 13 as mmdebstrap makes them, with
#                                                               1 GiB and both MPIs; a .deb and the Containerfile's steps in Debian 12.
#                                                               Prints a table, for results/
. "$(dirname "$0")/lib.sh"
scripts=$(cd "$(dirname "$0")/../../scripts" && pwd)
archive='' deb=''
shift
while [ $# -gt 1 ]; do
  case $1 in
    --everywhere) archive=$(readlink -f "$2") ;;
    --deb) deb=$(readlink -f "$2") ;;
    *) echo "usage: package_test.sh BUILD [--everywhere ARCHIVE [--deb FILE]]"; exit 2 ;;
  esac
  shift 2
done
if [ "$(id -u)" -ne 0 ] || ! unshare -m true 2>/dev/null; then
  echo "SKIP: only root can use chroot, and this user or container may not"
  exit 77
fi

# Sets `inside`: what runs a command in folder /opt/ccl-tests of a system.
enter() { # FOLDER
  # shellcheck disable=SC2016  # the shells' own
  inside=(unshare -m sh -c 'mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" && exec chroot "$@"' sh "$1"
    /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C HOME=/root OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    DEBIAN_FRONTEND=noninteractive sh -c 'cd /opt/ccl-tests 2>/dev/null || cd /; exec "$@"' sh)
}
unpack() { # ARCHIVE FOLDER
  mkdir -p "$2/opt/ccl-tests" "$2/proc" "$2/dev" "$2/tmp"
  tar -xzf "$1" --strip-components=1 -C "$2/opt/ccl-tests"
}

everywhere() {
  local release number root flags known
  command -v mmdebstrap >/dev/null || { echo "SKIP: mmdebstrap is not here (package mmdebstrap)"; exit 77; }
  printf '| system | glibc | command | exit code | verdict |\n| --- | --- | --- | ---: | --- |\n' >"$work/table"
  row() { # EXPECTED COMMAND...
    local expected=$1 code=0 verdict words
    shift
    timeout 900 "${inside[@]}" "$@" >"$work/out" 2>"$work/err" </dev/null || code=$?
    verdict=$(sed -n 's/^# Verdict *: //p' "$work/out" | head -n 1)
    words=$*
    # shellcheck disable=SC2016  # Markdown's
    printf '| Debian %s | %s | `%s` | %s | %s |\n' "$number" "$glibc" "${words//|/}" "$code" "${verdict:-$(tail -n 1 "$work/err")}" >>"$work/table"
    if [ "$code" -eq "$expected" ]; then pass "Debian $number: $*"; else fail "Debian $number: $*: exit $code"; tail -n 15 "$work/out" "$work/err"; fi
  }
  for release in bullseye:11 bookworm:12 trixie:13; do
    number=${release#*:} root=$work/root
    run 0 "mmdebstrap ${release%:*}" mmdebstrap --quiet --variant=minbase "${release%:*}" "$root" || continue
    unpack "$archive" "$root"
    enter "$root"
    printf '127.0.0.1 localhost %s\n' "$(uname -n)" >"$root/etc/hosts"  # MPICH looks itself up
    glibc=$("${inside[@]}" ldd --version | sed -n '1s/.* //p')
    row 0 ./bin/all_reduce_perf -b 8 -e 1G
    row 0 ./bin/all_reduce_perf --np 3 -d all -o all --sizes 1000
    row 0 sh recipes/right.sh --np 3
    row 0 ./bin/all_reduce_perf --np 2 --bind auto -b 8 -e 64K
    "${inside[@]}" sh -c 'apt-get -qq update && apt-get -qq -y install --no-install-recommends openmpi-bin mpich' >"$work/apt" 2>&1 </dev/null ||
      { fail "Debian $number: both MPIs cannot be installed"; tail -n 5 "$work/apt"; }
    flags=(-n 2 ./bin/all_reduce_perf --backend mpi -b 8 -e 64M)
    row 0 mpirun.openmpi --oversubscribe "${flags[@]}"
    row 0 mpirun.mpich "${flags[@]}"
    row 0 mpirun.openmpi --oversubscribe -n 3 ./bin/all_reduce_perf --backend mpi -d all -o all --sizes 1000
    known=0
    [ "$number" = 12 ] && known=7  # MPICH 4.0.2 compares unsigned integers as signed ones
    row "$known" mpirun.mpich -n 3 ./bin/all_reduce_perf --backend mpi -d all -o all --sizes 1000
    if [ -n "$deb" ] && [ "$number" = 12 ]; then
      cp "$deb" "$root/tmp/ccl-tests.deb"
      row 0 apt-get -qq -y install --no-install-recommends /tmp/ccl-tests.deb
      row 0 all_reduce_perf -b 8 -e 1M
      row 0 mpirun.openmpi --oversubscribe -n 2 all_reduce_perf --backend mpi -b 8 -e 1M
      row 0 apt-get -qq -y remove ccl-tests
      [ -z "$("${inside[@]}" sh -c 'command -v all_reduce_perf; find /usr -name "*ccl-tests*"')" ] || fail "apt-get remove leaves files"
    fi
    if [ "$number" = 12 ]; then  # what a Containerfile's steps leave; the system stands for its image
      mkdir -p "$root/opt"
      tar -xzf "$archive" -C "$root/opt"
      rm -rf "$root/opt/ccl-tests"
      while IFS= read -r words; do row 0 sh -c "$words"; done < <(sed -e ':a; /\\$/ { N; s/\\\n//; ba }' "$scripts/../packaging/Containerfile" | sed -n 's/^RUN //p')
      words=$(sed -n 's/^CMD //p' "$scripts/../packaging/Containerfile" | tr -d '[],"')
      row 0 setpriv --reuid ccl --regid ccl --clear-groups env "$(sed -n 's/^ENV //p' "$scripts/../packaging/Containerfile")" sh -c "$words"
      row 0 setpriv --reuid ccl --regid ccl --clear-groups mpirun.openmpi -n 2 --oversubscribe bin/all_reduce_perf --backend mpi -b 8 -e 1M
    fi
    rm -rf --one-file-system "$root"
  done
  cat "$work/table"
  finish
}
if [ -n "$archive" ]; then everywhere; fi

run 2 "an unknown flag" bash "$scripts/package.sh" --prefixes
run 2 "a prefix without programs" bash "$scripts/package.sh" --prefix "$work"
run 4 "a folder that takes no archive" bash "$scripts/package.sh" --prefix "$build" --output /proc
[ "$(grep -c . "$work/err")" -eq 1 ] || fail "not one line: $(cat "$work/err")"
run 2 "a portable archive of a tree" bash "$scripts/package.sh" --portable --prefix "$build"
# The linker finds no symbol that was hidden from it, and takes the older one of two.
math=$(ldd "$bin/all_reduce_perf" | sed -n 's/.*libm.so.6 => \([^ ]*\) .*/\1/p')
run 2 "a version without a number" python3 "$scripts/hide_symbols.py" "$math" GLIBC
run 2 "a library that is none" python3 "$scripts/hide_symbols.py" "$scripts/hide_symbols.py" GLIBC_2.28
printf 'double exp(double); int main(int words, char** names) { return names[0] != 0 && exp(words) < 1; }\n' >"$work/exp.c"
for limit in 99 2.28; do
  cp -L "$math" "$work/libm.so.6"
  run 0 "hide_symbols.py GLIBC_$limit" python3 "$scripts/hide_symbols.py" "$work/libm.so.6" "GLIBC_$limit"
  run 0 "linking" cc -o "$work/exp" "$work/exp.c" "$work/libm.so.6"
  objdump -T "$work/exp" | sed -n 's/.*(\(GLIBC_[0-9.]*\)) exp$/\1/p'
done >"$work/versions"
[ "$(grep '^GLIBC' "$work/versions" | tr '\n' ' ')" = 'GLIBC_2.29 GLIBC_2.2.5 ' ] || { fail "exp is not of glibc 2.2.5:"; cat "$work/versions"; }

if ! command -v patchelf >/dev/null; then
  echo "SKIP: patchelf is not here (package patchelf)"
  exit 77
fi
run 0 "the archive of this build" bash "$scripts/package.sh" --prefix "$build" --output "$work" || finish
archive=$(find "$work" -name 'ccl-tests-*.tar.gz')
needed=$(sed -n '$s/.*needs glibc \([0-9.]*\),.*/\1/p' "$work/out")
system=$work/system
run "0|3|4" "packages of Debian 13" bash "$scripts/debian_root.sh" trixie "$system" dash coreutils grep mawk libstdc++6
if [ ! -e "$system/usr/bin/dash" ]; then
  echo "SKIP: Debian's archive cannot be reached: $(tail -n 1 "$work/err")"
  exit 77
fi
ln -s mawk "$system/usr/bin/awk"  # what installing it would do
unpack "$archive" "$system"
enter "$system"
tree=$system/opt/ccl-tests
for name in "${programs[@]}"; do
  [ -x "$tree/bin/${name}_perf" ] || fail "${name}_perf is not packed"
  [ -e "$tree/share/man/man1/${name}_perf.1" ] || fail "the manual page of ${name}_perf is not packed"
done
for name in scripts/plot.py scripts/plots/results.py recipes/right.sh share/bash-completion/completions/all_reduce_perf LICENSE; do
  [ -e "$tree/$name" ] || fail "$name is not packed"
done
for file in "$build"/lib/ccl-tests/*.so; do [ -e "$tree/lib/ccl-tests/${file##*/}" ] || fail "${file##*/} is not packed"; done
grep -qF "It needs glibc $needed," "$tree/README" || fail "the README does not name glibc $needed"
# What objdump says of symbols is what the script says of files.
newest=$(find "$tree" -type f \( -name '*.so*' -o -path '*/bin/*' \) -exec objdump -T {} + 2>/dev/null | grep -oE '\(?GLIBC_[0-9.]+' | sed 's/.*_//' | sort -uV | tail -n 1)
[ "$newest" = "$needed" ] || fail "the symbols need glibc $newest, the script says '$needed'"
for file in "$tree"/bin/* "$tree"/lib/*.so* "$tree"/lib/ccl-tests/*.so; do
  readelf -d "$file" | grep -E 'RPATH|RUNPATH' | grep -qF -e "$build" -e "$(dirname "$scripts")" -e /usr/local && fail "${file##*/} looks for libraries in folders of this machine"
done

run 0 "threads in Debian 13" "${inside[@]}" ./bin/all_reduce_perf --backend gloo -t 2 -b 8 -e 1M
expect_in "$work/out" "Out of bounds values : 0 OK"
run 0 "processes in Debian 13" "${inside[@]}" ./bin/all_reduce_perf --backend gloo --np 3 -d all -o all --sizes 1000 -n 1
expect_in "$work/out" "Out of bounds values : 0 OK"
run 0 "a recipe in Debian 13" "${inside[@]}" sh recipes/right.sh --backend gloo -t 3
run "3|4" "a library that Debian 13 lacks" "${inside[@]}" ./bin/all_reduce_perf --backend nccl
expect_in "$work/err" "NCCL cannot be loaded"
rm -f "$system"/usr/lib/x86_64-linux-gnu/libstdc++.so.6* "$system"/usr/lib/x86_64-linux-gnu/libgcc_s.so.1
run 0 "a system without libstdc++" "${inside[@]}" ./bin/all_reduce_perf --backend gloo -t 2 -b 8 -e 64K
finish
