# Lines "ours theirs [probe]" of pairs: the medians of both, the median of their ratios, its interval (order statistics whose sign test covers
# at least 95 %), the number of pairs, and the smallest and the median probe where there are any.
function order(values, n,  i, j, t) {
  for (i = 2; i <= n; ++i) for (j = i; j > 1 && values[j - 1] > values[j]; --j) { t = values[j]; values[j] = values[j - 1]; values[j - 1] = t }
}
function median(values, n) { order(values, n); return n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2 }
{ ours[NR] = $1; theirs[NR] = $2; ratio[NR] = $1 / $2; if (NF > 2) probe[++probes] = $3 }
END {
  p = 1; for (i = 1; i <= NR; ++i) p /= 2  # P(no value below the median)
  sum = p; low = 1
  while (low < NR / 2) { p = p * (NR - low + 1) / low; if (sum + p > 0.025) break; sum += p; ++low }
  middle = median(ratio, NR)
  printf "%14.3f %14.3f %7.3f  [%.3f, %.3f], %d", median(ours, NR), median(theirs, NR), middle, ratio[low], ratio[NR - low + 1], NR
  if (probes) { middle = median(probe, probes); printf ", %.0f to %.0f", probe[1], middle }
  printf "\n"
}
