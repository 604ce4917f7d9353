# Sourced by gpu_check.sh: --beside, another program's table beside ours. out, record: the results; beside: the program.
# shellcheck shell=bash disable=SC2154,SC2016,SC2034  # set there; Markdown's backticks; columns that are read over
beside_rounds=3
# The program of ours that does the same: of that name (packages add _mpi), else all_reduce_perf.
ours_beside() {
  local name=${beside##*/}
  name=${name%_mpi}
  if [[ $name != *_perf || ! -x $bin/$name ]]; then name=all_reduce_perf; fi
  echo "$name"
}
# Has the record another program's rounds, or other flags? Then it prints what.
other_rounds() {
  local line group name codes limit text command
  for line in "${lines[@]}"; do
    IFS=$'\t' read -r group name codes limit text command <<<"$line"
    [[ $group == beside ]] || continue
    awk -F '\t' -v name="$name" -v command="$command" '$1 == "beside" && $2 == name && $7 != command { print $7; exit }' "$record"
  done | head -n 1
}
beside_failed() { awk -F '\t' '$1 == "beside" && $6 != "passed" { found = 1 } END { exit !found }' "$record"; }
# Keeps the rows of nccl-tests' table: columns 1, 6 and 10 are the size and the times out of place and in place. False: there are none.
keep_table() { # step's name, log
  tr -d '\0' <"$2" | awk -v side="${1%-*}" -v round="${1##*-}" -v OFS='\t' '
    /^ *[0-9]+ / && NF >= 13 && $6 + 0 == $6 && $10 + 0 == $10 { print side, round, $1, $6, $10; found = 1 }
    END { exit !found }' >>"$out/beside-rounds.tsv"
}
# beside.tsv: medians over the rounds of the times, of the ratios and of the differences, for each size that both have.
compare_beside() {
  [[ -s $out/beside-rounds.tsv ]] || return 0
  awk -F '\t' -v OFS='\t' -v rounds="$beside_rounds" '
    function median(list, count, i, j, kept) {
      for (i = 2; i <= count; ++i) {
        kept = list[i]
        for (j = i - 1; j > 0 && list[j] > kept; --j) list[j + 1] = list[j]
        list[j + 1] = kept
      }
      return count % 2 ? list[(count + 1) / 2] : (list[count / 2] + list[count / 2 + 1]) / 2
    }
    { if (!seen[$3]++) sizes[++all] = $3; time[$1, $2, $3, 0] = $4; time[$1, $2, $3, 1] = $5 }
    END {
      print "size_bytes", "theirs_us", "ours_us", "ratio", "difference_us", "theirs_in_place_us", "ours_in_place_us", "ratio_in_place", "difference_in_place_us"
      for (k = 1; k <= all; ++k) {
        line = sizes[k]
        for (place = 0; place < 2; ++place) {
          count = ratios = 0
          for (round = 1; round <= rounds; ++round) {
            if (!(("theirs", round, sizes[k], place) in time) || !(("ours", round, sizes[k], place) in time)) continue
            theirs[++count] = time["theirs", round, sizes[k], place] + 0
            ours[count] = time["ours", round, sizes[k], place] + 0
            less[count] = ours[count] - theirs[count]
            if (theirs[count] > 0) ratio[++ratios] = ours[count] / theirs[count]
          }
          if (count == 0) break
          line = line OFS sprintf("%.2f", median(theirs, count)) OFS sprintf("%.2f", median(ours, count))
          line = line OFS (ratios ? sprintf("%.3f", median(ratio, ratios)) : "-") OFS sprintf("%.2f", median(less, count))
        }
        if (place == 2) print line
      }
    }' "$out/beside-rounds.tsv" >"$out/beside.tsv.new" && mv "$out/beside.tsv.new" "$out/beside.tsv"
}
# From 1 MiB up by ratio, 3 % wanted; below by difference, 0.5 us wanted.
beside_summary() {
  awk -F '\t' '
    function put(text, place, count, low, high, good, form, wanted) {
      if (!count) return text
      return text sprintf("%s %s " form " to " form " (%d of %d within %s)", text == "" ? "" : ",", place, low, high, good, count, wanted)
    }
    NR == 1 { next }
    {
      for (place = 0; place < 2; ++place) {
        large = $1 >= 1048576
        value = $((large ? 4 : 5) + 4 * place)
        if (value == "-") continue
        value += 0
        off = large ? value - 1 : value
        if (off < 0) off = -off
        if (!count[large, place]++) low[large, place] = high[large, place] = value
        if (value < low[large, place]) low[large, place] = value
        if (value > high[large, place]) high[large, place] = value
        good[large, place] += off <= (large ? 0.03 : 0.5) + 1e-9
      }
    }
    END {
      for (large = 1; large >= 0; --large) {
        text = ""
        for (place = 0; place < 2; ++place)
          text = put(text, place ? "in place" : "out of place", count[large, place], low[large, place], high[large, place], good[large, place],
                     large ? "%.3f" : "%.2f", large ? "3 %" : "0.5 us")
        if (text != "") line = line (line == "" ? "" : " ") (large ? "From 1 MiB up, ours / theirs:" : "Below, ours - theirs in us:") text "."
      }
      print line
    }' "$out/beside.tsv"
}
beside_section() {
  local group name codes code seconds verdict command log found=false
  while IFS=$'\t' read -r group name codes code seconds verdict command; do
    [[ $group == beside ]] || continue
    $found || printf '\n## Beside nccl-tests\n\n'
    found=true
    case $name in theirs-1 | ours-1) printf -- '- %s: `%s`\n' "${name%-1}" "$command" ;; esac
    log=$out/logs/beside-$name.txt
    if [[ $name == *-1 && -e $log ]]; then sed -n '/^# .*version/{s/^# \(.*\)/  - `\1`/p;q}' "$log"; fi
    [[ $verdict == passed ]] || printf -- '- %s: %s (exit %s, `logs/beside-%s.txt`)\n' "$name" "$verdict" "$code" "$name"
  done <"$record"
  $found || return 0
  if [[ ! -s $out/beside.tsv ]] || (($(wc -l <"$out/beside.tsv") < 2)); then printf '\nNo size was measured by both.\n'; return 0; fi
  printf '\nTurns of both, %s rounds; medians of the times, of the rounds'"'"' ratios (ours / theirs) and differences (ours - theirs).\n\n' "$beside_rounds"
  printf '| size (B) | theirs (us) | ours (us) | ratio | difference (us) | in place: theirs (us) | ours (us) | ratio | difference (us) |\n'
  printf '| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n'
  awk -F '\t' 'NR > 1 { printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", $1, $2, $3, $4, $5, $6, $7, $8, $9 }' "$out/beside.tsv"
  printf '\n'
  beside_summary
}
