#!/usr/bin/env bash
# Writes a program's manual page from what the program prints: --help, --help-all and --explain. The build runs it if help2man is there.
#   cmake/man_page.sh PROGRAM VERSION PAGE
# SOURCE_DATE_EPOCH: the page's date, in seconds since 1970 [now].
set -euo pipefail
export LC_ALL=C.UTF-8
if (($# != 3)); then sed -n '3s/^# //p' "$0" >&2; exit 2; fi
program=$1 version=$2 page=$3 name=${1##*/}
mkdir -p "${page%/*}"
work=$(mktemp -d "$page.XXXXXX")
trap 'rm -rf "$work"' EXIT
"$program" --help >"$work/brief"
"$program" --help-all >"$work/all"
literal() { sed 's/\\/\\e/g; s/^[.]/\\\&&/; 1i .nf' && printf '.fi\n'; }

# Sections beside what help2man makes of the flags.
{
  printf '[EXIT STATUS]\n'
  sed -n '/^Exit codes: /,/^$/{s/^Exit codes: //; s/^ *//p}' "$work/all"
  printf '\n[EXAMPLES]\n'
  sed '1,3d; /^$/,$d' "$work/brief" | literal
  if "$program" --explain >"$work/explained" 2>"$work/refused"; then
    printf '\n[OUTPUT]\n'
    literal <"$work/explained"
  fi
} >"$work/sections"

# What help2man takes for the program: usage and flags, with a colon after each group's title, as help2man wants it.
{
  sed -n "2{s/  .*//; p; q}" "$work/all"
  sed -n '4,${/^[A-Z]/,$p}' "$work/all" | sed '/^Exit codes: /,$d; s/^\([A-Z][A-Za-z ]*\)$/\n\1:/'
} >"$work/help"
printf '#!/bin/sh\nexec cat "%s"\n' "$work/help" >"$work/$name"
chmod +x "$work/$name"
help2man --no-info --help-option=--help-all --name="$(sed -n '1s/^[^ ]* - //p' "$work/brief")" \
  --version-string="$name (ccl-tests) $version" --include="$work/sections" --output="$work/page" "$work/$name"

# Quotes and hyphens as they are typed, and a date as man's linters want it.
date=$(date -u -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}" +%F)
sed -E "/^\.TH/s/^(\.TH [^ ]+ \"?1\"?) \"[^\"]*\"/\1 \"$date\"/
  /^[^.]/{s/\\\\-/-/g; s/-/\\\\-/g; s/'/\\\\(aq/g; s/\^/\\\\(ha/g; s/~/\\\\(ti/g; s/\`/\\\\(ga/g}" "$work/page" >"$page"
