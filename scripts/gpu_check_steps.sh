# Sourced by gpu_check.sh: the steps. count: GPUs to use, of those visible; bin: the programs' folder; quick: fewer sizes and programs.
# shellcheck shell=bash disable=SC2154  # set there
# step GROUP NAME EXPECTED LIMIT WORDS...: exit codes that are expected ("0/3": not to be had here is no failure), seconds, the
# command with variables before it. The line that the output has to have: says TEXT, before it.
lines=()  # group, name, expected, limit, text, command with quotes
text=''
says() { text=$1; }
step() {
  local words='' word
  for word in "${@:5}"; do
    if [[ $word =~ ^[][A-Za-z0-9_./:=,+-]+$ ]]; then words+=" $word"; else words+=" '$word'"; fi
  done
  lines+=("$1"$'\t'"$2"$'\t'"$3"$'\t'"$4"$'\t'"${text:--}"$'\t'"${words# }")
  text=''
}
n=$count
nccl=(--backend nccl)
one_gpu=(NCCL_TESTS_DEVICE=0)
programs=()
for file in "$bin"/*_perf; do
  file=${file##*/}
  [[ $file == init_perf ]] || programs+=("$file")
done
expected() { if runs_on "$@"; then echo 0; else echo 3; fi; } # program, ranks
few() { [[ $1 =~ ^(all_reduce|alltoall|sendrecv|sync_grad)_perf$ ]]; }

step machine gpus 0 60 bin/device_check --list
step machine nvidia-smi 0 60 nvidia-smi
says '# Out of bounds values : 0 OK'
step machine versions 0 120 bin/all_reduce_perf "${nccl[@]}" -t "$n" -b 8 -e 8
if $quick; then
  step speed verifier 0 120 bin/device_check --memory cuda --speed -b 2G -n 3 -d float,int8 -J verifier_speed.jsonl
  step check verifier 0 120 bin/device_check --memory cuda --quick -e 1M -J verifier.jsonl
else
  step speed verifier 0 300 bin/device_check --memory cuda --speed -J verifier_speed.jsonl
  step check verifier 0 600 bin/device_check --memory cuda -J verifier.jsonl
  step check verifier-seed-2 0 600 bin/device_check --memory cuda --seed 2 -e 8M
fi

for program in "${programs[@]}"; do
  name=${program%_perf}
  sizes=(-b 8 -e 64M -f 2)
  if composite "$program"; then sizes=(-b 8 -e 16M -f 8 -n 5); fi
  if $quick; then sizes=(-b 8 -e 1M -f 64 -n 2); fi
  taken "$program" "${sizes[@]}"
  step programs "$name" "$(expected "$program" "$n")" 300 "bin/$program" "${nccl[@]}" -t "$n" "${words[@]}" -J "$name.jsonl"
  if $quick && ! few "$program"; then continue; fi
  taken "$program" -b 8 -e 1M -f 64 -n 5
  step programs "$name-processes" "$(expected "$program" "$n")" 120 "bin/$program" "${nccl[@]}" --np "$n" "${words[@]}"
done
if ! $quick; then step programs all_reduce-1G 0 300 bin/all_reduce_perf "${nccl[@]}" -t "$n" -b 8 -e 1G -f 2 -J all_reduce_1G.jsonl; fi
step programs init 0 120 bin/init_perf "${nccl[@]}" -t "$n" -N 2

for program in "${programs[@]}"; do
  if $quick && ! few "$program"; then continue; fi
  some=(--sizes 64,4K,1M)
  if $quick; then some=(--sizes 64,4K); fi
  taken "$program" -d all -o all "${some[@]}" -n 2
  step types "${program%_perf}" "$(expected "$program" "$n")" 300 "bin/$program" "${nccl[@]}" -t "$n" "${words[@]}"
done

for ranks in 2 4; do
  for program in "${programs[@]}"; do
    if $quick && { ((ranks > 2)) || ! few "$program"; } && [[ $program != all_reduce_perf ]]; then continue; fi
    taken "$program" --sizes 8,4K,256K -n 1 -w 0 -T 30
    step share "${program%_perf}-$ranks" "$(expected "$program" "$ranks")" 120 "${one_gpu[@]}" "bin/$program" "${nccl[@]}" --np "$ranks" --share-gpus "${words[@]}"
  done
done
step share types-2 0 300 "${one_gpu[@]}" bin/all_reduce_perf "${nccl[@]}" --np 2 --share-gpus -d all -o all --sizes 4K -n 1 -w 0 -T 30

short=(-b 8 -e 1M -f 64 -n 5)
flag() { # name, expected codes, arguments
  step flags "$1" "$2" 120 bin/all_reduce_perf "${nccl[@]}" -t "$n" "${short[@]}" "${@:3}"
}
flag graph 0 -G 2
flag graph-iterations 0 -G 2 -I 1
flag iterations 0 -I 1
flag registered 0 -R 1
flag windows 0/3 -R 2
flag cta-policy 0/3 -x 1
flag null-stream 0 -y 1
says 'GPU memory usage'
flag memory-report 0 -M 1
flag unaligned 0 -u 1
for blocking in 1 2 3; do flag "blocking-$blocking" 0 -z "$blocking"; done
flag aggregated 0 -m 4
flag cpu-time 0 -C 1
flag algorithm 0/3 --show-algorithm
flag host-memory 0 --memory host
step flags graph-alltoall 0 120 bin/alltoall_perf "${nccl[@]}" -t "$n" "${short[@]}" -G 2
if ((n > 1)); then
  step flags gloo-cuda 0/3 120 bin/all_reduce_perf --backend gloo --memory cuda -t "$n" "${short[@]}"
  flag groups 0 --group 'mod 2'
else
  step flags gloo-cuda 0/3 120 "${one_gpu[@]}" bin/all_reduce_perf --backend gloo --memory cuda -t 2 --share-gpus "${short[@]}"
  step flags groups 0 120 "${one_gpu[@]}" bin/all_reduce_perf "${nccl[@]}" --np 4 --share-gpus --sizes 8,4K -n 1 -w 0 -T 30 --group 'mod 2'
fi

sanitizer=(compute-sanitizer --tool memcheck --error-exitcode 9)
step sanitizer all_reduce 0 300 "${sanitizer[@]}" bin/all_reduce_perf "${nccl[@]}" -t "$n" -b 8 -e 256K -f 32 -n 2 -T 0
step sanitizer verifier 0 600 "${sanitizer[@]}" bin/device_check --memory cuda --quick -e 128K -d int8,float

if ((n > 1)); then job="--np $n"; else job='--np 2 --share-gpus'; fi
says 'is gone'
step failures killed 4 120 bash gpu_check.sh --case "KILL --backend nccl $job --sizes 64K -n 5"
if ! $quick; then  # it takes as long as a rank is waited for
  says 'is stopped'
  step failures stopped 5 120 bash gpu_check.sh --case "STOP --backend nccl $job --sizes 64K -n 5 -T 5"
fi
refused() { # name, expected code, line, words
  says "$3"
  step failures "$1" "$2" 60 "${@:4}"
}
tiny=(-b 8 -e 8 -n 1)
refused expect-gpus 4 'GPUs' bin/all_reduce_perf "${nccl[@]}" -t "$n" "${tiny[@]}" --expect-gpus $((visible + 1))
refused no-such-device 4 'NCCL_TESTS_DEVICE=99' NCCL_TESTS_DEVICE=99 bin/all_reduce_perf "${nccl[@]}" -t 1 "${tiny[@]}"
refused no-library 4 'cannot load' bin/all_reduce_perf "${nccl[@]}" -t "$n" "${tiny[@]}" --library ./gpu_check.sh
refused no-such-file 2 '--library' bin/all_reduce_perf "${nccl[@]}" -t "$n" "${tiny[@]}" --library ./no-such-file
refused threads-share 3 '--share-gpus' "${one_gpu[@]}" bin/all_reduce_perf "${nccl[@]}" -t 2 "${tiny[@]}" --share-gpus
refused too-many-ranks 4 'start fewer' bin/all_reduce_perf "${nccl[@]}" -t $((visible + 1)) "${tiny[@]}"

if [[ -x $bin/nccl_overhead ]]; then  # built with CCL_BENCHMARKS
  some=(-e 1G)
  if $quick; then some=(-e 1M -n 8); fi
  step overhead nccl 0 300 bin/nccl_overhead -g "$n" "${some[@]}" -J nccl_overhead.jsonl
fi

