# Pairs of launches in one state of the machine: awk -v library=L -v bytes=B -v launches=N -f launches.awk
# Reads lines "library bytes ours|theirs probe microseconds", in the order in which they were measured. A launch belongs to the first state
# whose first probe is within 1.5 times of its own. In each state the k-th N launches of ours and of theirs are a pair.
# Prints for each: ours theirs (medians of their launches) probe.
function median(text,  v, n, i, j, t) {
  n = split(text, v, " ")
  for (i = 2; i <= n; ++i) for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; --j) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
  return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}
$1 == library && $2 == bytes {
  for (s = 1; s <= states; ++s) if ($4 / first[s] <= 1.5 && first[s] / $4 <= 1.5) break
  if (s > states) { first[++states] = $4 }
  k = int(count[s, $3] / launches)
  ++count[s, $3]
  values[s, $3, k] = values[s, $3, k] " " $5
  if (count[s, $3] % launches == 0) {
    ++whole[s, $3]
    other = $3 == "ours" ? "theirs" : "ours"
    if (whole[s, other] >= whole[s, $3]) print median(values[s, "ours", k]), median(values[s, "theirs", k]), first[s]
  }
}
