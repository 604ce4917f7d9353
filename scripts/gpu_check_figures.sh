# Sourced by gpu_check.sh: what was measured beside what is expected of these GPUs. out: the results; gpu, count: the GPUs; figures: --figures' file.
# shellcheck shell=bash disable=SC2154,SC2016  # set there; Markdown's backticks

# name of the GPU (a pattern of the shell) | GPUs (* any) | figure | lowest | highest; the first line that fits counts. A file for --figures has such
# lines, and replaces these. copy, fill, constant, compare: GB/s within the memory, 4 GiB (copy counts reads and writes). Of one H200 copy, compare, the
# times (us) and ours / bare were measured (results/2026-11-27-h200); constant is PyTorch's fill_ there, and fill 0.95 of it, which the fill measured
# then (3757) missed. The H100's first six were measured, too (results/2026-11-27-h100). All others are judged from peak bandwidths. busbw in GB/s at 4 to 8 GiB: of 8 H100 SXM nccl-tests issue 212, of the others
# judged; H200 as H100.
expected_figures() {
  cat <<'END'
NVIDIA H100 80GB HBM3 | * | copy | 2900 | 3150
NVIDIA H100 80GB HBM3 | * | fill | 3050 | 3350
NVIDIA H100 80GB HBM3 | * | compare | 2750 | 3000
NVIDIA H200 | * | copy | 4200 | 4350
NVIDIA H200 | * | constant | 4500 | 4750
NVIDIA H200 | * | fill | 4430 | 4750
NVIDIA H200 | * | compare | 4050 | 4350
NVIDIA A100-SXM4-80GB | * | copy | 1600 | 1750
NVIDIA A100-SXM4-80GB | * | fill | 1650 | 1800
NVIDIA A100-SXM4-80GB | * | compare | 1650 | 1800
Tesla V100-SXM2-* | * | copy | 740 | 790
Tesla V100-SXM2-* | * | fill | 740 | 800
Tesla V100-SXM2-* | * | compare | 700 | 780
NVIDIA B200 | * | copy | 6300 | 7000
NVIDIA B200 | * | fill | 6000 | 6900
NVIDIA B200 | * | compare | 5600 | 6600
NVIDIA H100 80GB HBM3 | * | 1 rank, 8 B, out of place | 4 | 8
NVIDIA H100 80GB HBM3 | * | 1 rank, 8 B, in place | 0.2 | 0.6
NVIDIA H100 80GB HBM3 | * | 1 rank, 1 MiB, out of place | 4 | 8
NVIDIA H100 80GB HBM3 | * | 1 rank, 128 MiB, out of place | 85 | 100
NVIDIA H100 80GB HBM3 | * | 1 rank, 1 GiB, out of place | 680 | 780
NVIDIA H200 | * | 1 rank, 8 B, out of place | 3.5 | 7
NVIDIA H200 | * | 1 rank, 8 B, in place | 0.15 | 0.4
NVIDIA H200 | * | 1 rank, 1 MiB, out of place | 3.5 | 7.5
NVIDIA H200 | * | 1 rank, 128 MiB, out of place | 65 | 68
NVIDIA H200 | * | 1 rank, 1 GiB, out of place | 500 | 512
NVIDIA * | * | fill / constant | 0.95 | 1.03
NVIDIA * | * | 1 rank, ours / bare | 0.98 | 1.05
NVIDIA H100 80GB HBM3 | 8 | processes, 8 B | 9 | 14
NVIDIA H200 | 8 | processes, 8 B | 9 | 14
NVIDIA H100 80GB HBM3 | 8 | threads, 8 B | 10 | 16
NVIDIA H200 | 8 | threads, 8 B | 10 | 16
NVIDIA H100 80GB HBM3 | 8 | busbw from 4 GiB | 470 | 480
NVIDIA H200 | 8 | busbw from 4 GiB | 470 | 480
NVIDIA A100-SXM4-* | 8 | busbw from 4 GiB | 230 | 235
Tesla V100-SXM2-* | 8 | busbw from 4 GiB | 125 | 135
NVIDIA B200 | 8 | busbw from 4 GiB | 680 | 840
END
}

# A line of JSON's value of a key.
json_value='function value(key, at, rest) {
  at = index($0, "\"" key "\":")
  if (!at) return ""
  rest = substr($0, at + length(key) + 3)
  sub(/^"/, "", rest); sub(/[",}].*/, "", rest)
  return rest
}'
# Of the rows that the steps left in $out: figure, of what, value, unit.
measured_figures() {
  local ranks
  if [[ -s $out/first-speed.jsonl ]]; then
    awk "$json_value"'
      /"type":"speed"/ && value("op") == "none" {
        split("copy constant fill compare", what, " ")
        for (i = 1; i <= 4; ++i) printf "%s\t%s, %s B\t%.4g\tGB/s\n", what[i], value("datatype"), value("bytes"), value(what[i] "_bytes_per_s") / 1e9
        printf "fill / constant\t%s, %s B\t%.4g\t-\n", value("datatype"), value("bytes"), value("fill_to_constant")
      }' "$out/first-speed.jsonl"
  fi
  if [[ -s $out/first-all_reduce.jsonl ]]; then
    awk "$json_value"'
      BEGIN { name[8] = "8 B"; name[1048576] = "1 MiB"; name[134217728] = "128 MiB"; name[1073741824] = "1 GiB" }
      /"type":"row"/ && (value("size_bytes") in name) {
        place = value("placement")
        if (place == "in_place" && value("size_bytes") + 0 > 8) next  # nothing is done there
        gsub("_", " ", place)
        printf "1 rank, %s, %s\tall_reduce\t%.4g\tus\n", name[value("size_bytes")], place, value("time_s") * 1e6
      }' "$out/first-all_reduce.jsonl"
  fi
  if [[ -s $out/first-overhead.jsonl ]]; then
    awk "$json_value"'
      /"ours_to_bare"/ { bytes = value("bytes"); sub(/.*"ours_to_bare":/, ""); printf "1 rank, ours / bare\tall_reduce, %s B\t%.4g\t-\n", bytes, value("median") }
    ' "$out/first-overhead.jsonl"
  fi
  for ranks in processes threads; do
    [[ -s $out/first-$ranks.jsonl ]] || continue
    awk -v ranks="$ranks" "$json_value"'
      /"type":"row"/ && value("placement") == "out_of_place" {
        bytes = value("size_bytes") + 0; busbw = value("busbw_gb_per_s")
        if (bytes == 8) printf "%s, 8 B\tall_reduce\t%.4g\tus\n", ranks, value("time_s") * 1e6
      }
      END { if (bytes > 8) printf "busbw%s\tall_reduce, %s, %s B\t%.4g\tGB/s\n", (bytes >= 4294967296 ? " from 4 GiB" : ""), ranks, bytes, busbw }
    ' "$out/first-$ranks.jsonl"
  done
  return 0
}
trimmed() { local word=${1#"${1%%[! ]*}"}; printf '%s' "${word%"${word##*[! ]}"}"; }
# Writes figures.tsv: figure, of what, measured, unit, expected, verdict. No verdict has a part in the exit code.
compare_figures() {
  local pattern gpus figure low high detail value unit verdict range none='no expectation for this GPU'
  local -A ranges=()
  while IFS='|' read -r pattern gpus figure low high; do
    [[ $pattern =~ ^(#|[[:space:]]*$) ]] && continue
    pattern=$(trimmed "$pattern") gpus=$(trimmed "$gpus") figure=$(trimmed "$figure")
    # shellcheck disable=SC2053  # patterns
    [[ $gpu == $pattern && $count == $gpus ]] || continue
    none='no expectation'
    [[ -n ${ranges[$figure]:-} ]] || ranges[$figure]=$(trimmed "$low")..$(trimmed "$high")
  done < <(if [[ -n $figures ]]; then cat -- "$figures"; else expected_figures; fi)
  measured_figures | while IFS=$'\t' read -r figure detail value unit; do
    range=${ranges[$figure]:-} verdict=$none
    if [[ -n $range ]]; then
      verdict=$(awk -v value="$value" -v low="${range%..*}" -v high="${range#*..}" \
        'BEGIN { print (value + 0 < low + 0 ? "below" : (value + 0 > high + 0 ? "above" : "as expected")) }')
    fi
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$figure" "$detail" "$value" "$unit" "${range:--}" "$verdict"
  done >"$out/figures.tsv.new" && mv "$out/figures.tsv.new" "$out/figures.tsv"
}
figures_section() {
  [[ -s $out/figures.tsv ]] || return 0
  printf '\n## Figures\n\nExpected: %s, a guide and no limit: a figure outside does not change the exit code.\n\n' \
    "$(if [[ -n $figures ]]; then echo "of \`${figures##*/}\`"; else echo 'measured on one H200, else judged from peak bandwidths, see `gpu_check_figures.sh`'; fi)"
  printf '| figure | of | measured | expected | unit | verdict |\n| --- | --- | --- | --- | --- | --- |\n'
  awk -F '\t' '{ printf "| %s | %s | %s | %s | %s | %s |\n", $1, $2, $3, $5, $4, $6 }' "$out/figures.tsv"
}
print_figures() {
  [[ -s $out/figures.tsv ]] || return 0
  printf '%-28s %-36s %10s %12s %-5s %s\n' figure of measured expected unit verdict
  awk -F '\t' '{ printf "%-28s %-36s %10s %12s %-5s %s\n", $1, $2, $3, $5, $4, $6 }' "$out/figures.tsv"
  printf 'A figure outside does not change the exit code.\n'
}
