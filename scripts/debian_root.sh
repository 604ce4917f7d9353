#!/usr/bin/env bash
# Unpacks packages of a Debian release into a folder, without installing anything: a sysroot to build for, or a system to chroot into.
#   scripts/debian_root.sh RELEASE FOLDER PACKAGE...             these packages and what they need
#   scripts/debian_root.sh --alone RELEASE FOLDER PACKAGE...     these packages only
#   scripts/debian_root.sh --source RELEASE FOLDER PACKAGE...    their sources, each in a folder FOLDER/PACKAGE
# RELEASE: bullseye, bookworm, ... CCL_DEBIAN_MIRROR: the archive's address [the one that apt uses here]. Root is not needed.
# Exit codes: 0 done, 2 usage, 3 no apt, or no such release there, 4 a download failed.
set -euo pipefail
export LC_ALL=C

say() { printf 'debian_root: %s\n' "$*" >&2; }
mode=needed
case ${1:-} in
  --alone | --source) mode=${1#--}; shift ;;
  -h | --help) sed -n '2,7s/^# //p' "$0"; exit 0 ;;
esac
if (($# < 3)) || [[ $1 == -* ]]; then sed -n '2,7s/^# //p' "$0" >&2; exit 2; fi
release=$1 packages=("${@:3}")
if ! mkdir -p "$2" 2>/dev/null || [[ ! -w $2 ]]; then say "cannot write to '$2'"; exit 2; fi
root=$(cd -- "$2" && pwd)
for tool in apt-get dpkg-deb; do
  command -v "$tool" >/dev/null || { say "$tool is not here; Debian and Ubuntu have it"; exit 3; }
done
keys=/usr/share/keyrings/debian-archive-keyring.gpg
[[ -r $keys ]] || { say "the keys of Debian's archive are not here; install the package debian-archive-keyring"; exit 3; }
mirror=${CCL_DEBIAN_MIRROR:-}
if [[ -z $mirror ]]; then
  # shellcheck disable=SC2016  # apt's own variable
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep -m 1 '/debian/$' || true)
  [[ -n $mirror ]] || { say "apt uses no archive of Debian here; set CCL_DEBIAN_MIRROR to the address of one"; exit 3; }
fi

# A state of apt beside the machine's own, in which nothing is installed.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{state/lists/partial,cache/archives/partial,parts}
printf '%s [signed-by=%s] %s %s main\n' deb "$keys" "$mirror" "$release" deb-src "$keys" "$mirror" "$release" >"$work/sources"
[[ $mode == source ]] || sed -i '/^deb-src/d' "$work/sources"
apt() {
  local command=$1
  shift
  apt-get "$command" -qq -y -o Dir::Etc::SourceList="$work/sources" -o Dir::Etc::SourceParts=/dev/null -o Dir::State="$work/state" \
    -o Dir::State::Status=/dev/null -o Dir::Cache="$work/cache" -o Acquire::Languages=none -o Acquire::Retries=3 -o Debug::NoLocking=1 \
    -o APT::Sandbox::User="$(id -un)" "$@" >"$work/apt.log" 2>&1 </dev/null
}
if ! apt update || grep -q '^[EW]: .*\(Failed\|Release file\)' "$work/apt.log"; then
  say "the archive does not offer $release: $(grep -m 1 '^[EW]:' "$work/apt.log" || tail -n 1 "$work/apt.log")"
  exit 3
fi
failed() { say "$release: $(grep -m 1 '^E:' "$work/apt.log" || tail -n 1 "$work/apt.log")"; exit 4; }

if [[ $mode == source ]]; then
  for package in "${packages[@]}"; do
    (cd "$work/parts" && apt source --download-only "$package") || failed
    dpkg-source --no-check -x "$work"/parts/*.dsc "$root/$package" >"$work/apt.log" 2>&1 || failed
    rm -f "$work"/parts/* "$root"/*.orig.tar.*
  done
  exit 0
fi
if [[ $mode == alone ]]; then
  (cd "$work/cache/archives" && apt download "${packages[@]}") || failed
else
  apt install --download-only --no-install-recommends "${packages[@]}" || failed
fi
# Since Debian 12 /bin, /sbin and /lib are links into /usr, which base-files or usrmerge make when they are installed.
for folder in bin sbin lib lib64; do
  [[ -e $root/$folder ]] || { mkdir -p "$root/usr/$folder"; ln -s "usr/$folder" "$root/$folder"; }
done
for package in "$work"/cache/archives/*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink --no-same-owner -C "$root" || { say "cannot unpack ${package##*/}"; exit 4; }
done
