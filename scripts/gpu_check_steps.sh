# Sourced by gpu_check.sh: the steps. count: GPUs to use, of those visible; bin: the programs' folder; quick: fewer sizes and programs.
# shellcheck shell=bash disable=SC2154  # set there
# step GROUP NAME EXPECTED LIMIT WORDS...: exit codes that are expected ("0/3": not available here is no failure), seconds, the
# command with variables before it. The line that the output has to have: says TEXT, before it. What `first` runs is not repeated behind it.
declare -A at_first=()
lines=()  # group, name, expected, limit, text, command with quotes
text=''
says() { text=$1; }
step() {
  local words='' word
  for word in "${@:5}"; do
    if [[ $word =~ ^[][A-Za-z0-9_./:=,+-]+$ ]]; then words+=" $word"; else words+=" '$word'"; fi
  done
  local limit=$4
  if ((step_limit > 0 && limit > step_limit)); then limit=$step_limit; fi
  if [[ -z ${at_first[$words]:-} ]]; then lines+=("$1"$'\t'"$2"$'\t'"$3"$'\t'"$limit"$'\t'"${text:--}"$'\t'"${words# }"); fi
  if [[ $1 == first ]] && chosen first; then at_first[$words]=yes; fi
  text=''
}
n=$count
nccl=(--backend nccl)
one_gpu=(NCCL_TESTS_DEVICE=0)
programs=()
for file in "$bin"/*_perf; do
  file=${file##*/}
  [[ $file == init_perf || $file == mesh_perf ]] || programs+=("$file")
done
expected() { if runs_on "$@"; then echo 0; else echo 3; fi; } # program, ranks
few() { [[ $1 =~ ^(all_reduce|alltoall|sendrecv|sync_grad)_perf$ ]]; }

step machine gpus 0 60 bin/device_check --list
step machine nvidia-smi 0 60 nvidia-smi
says '# Out of bounds values : 0 OK'
step machine versions 0 120 bin/all_reduce_perf "${nccl[@]}" -t "$n" -b 8 -e 8

# The first ten minutes on a new machine: what is most likely to break or to be slow, on one GPU, then on all of them.
one=(bin/all_reduce_perf "${nccl[@]}" -t 1)
all=(bin/all_reduce_perf "${nccl[@]}")
if ((n > 1)); then killed_job="--np $n"; else killed_job='--np 2 --share-gpus'; fi
killed_job="--backend nccl $killed_job --sizes 64K -n 5"
step first gpus 0 60 nvidia-smi -L
if ((n > 1)); then step first header 0 120 "${one[@]}" -b 8 -e 8; fi
says 'backend=nccl'  # it must not be Gloo in silence
step first auto 0 120 bin/all_reduce_perf -t 1 -b 8 -e 8
if $quick; then
  step first verifier 0 120 bin/device_check --quick -e 64K -d float
  step first speed 0 120 bin/verifier_speed -b 2G -n 3 -d float,int8,half -J speed.jsonl
  step first all_reduce 0 120 "${one[@]}" --sizes 8,1M,128M -J all_reduce.jsonl
  step first types 0 120 "${one[@]}" -d float,int8 -o sum,avg --sizes '64,4K,524312' -n 2
  few_calls=(-n 2)
else
  step first verifier-quick 0 120 bin/device_check --quick -e 1M
  step first verifier 0 300 bin/device_check -e 8M
  step first speed 0 120 bin/verifier_speed -d float,int8,half -J speed.jsonl
  step first all_reduce 0 300 "${one[@]}" -b 8 -e 8G -f 2 -J all_reduce.jsonl
  step first types 0 300 "${one[@]}" -d all -o all --sizes '64,4K,odd' -n 2
  few_calls=()
fi
first_flag() { step first "$1" "$2" 120 "${one[@]}" --sizes '8,1M' "${few_calls[@]}" "${@:3}"; }
first_flag graph 0 -G 2
first_flag graph-iterations 0 -G 2 -I 1
first_flag registered 0 -R 1
first_flag windows 0/3 -R 2
first_flag null-stream 0 -y 1
first_flag cta-policy 0/3 -x 2
first_flag host-memory 0 --memory host
step first share 0 120 "${one_gpu[@]}" "${all[@]}" --np 2 --share-gpus --sizes '8,4K,256K' -n 1 -w 0 -T 30
step first share-threads 0 120 "${one_gpu[@]}" "${all[@]}" -t 2 --share-gpus --sizes '8,4K,256K' -n 1 -w 0 -T 30
if ! $quick; then
  step first share-types 0 300 "${one_gpu[@]}" "${all[@]}" --np 2 --share-gpus -d all -o all --sizes 4K -n 1 -w 0 -T 30
  step first overhead 0 120 bin/nccl_overhead -g 1 -e 64M -n 16 -J overhead.jsonl
  says 'is gone'
  step first killed 4 120 bash gpu_check.sh --case "KILL $killed_job"
  says 'is stopped'
  step first stopped 5 120 bash gpu_check.sh --case "STOP $killed_job -T 5"
fi
if ((n > 1)); then
  # Processes, then threads; then what hangs where memory is taken or given back on a GPU while a peer's kernel waits for it.
  some=(-b 8 -e 8G -f 2)
  host=(-b 8 -e 64M -f 2 -T 20)
  pairs=(-T 20)
  kinds=(-d all -o all --sizes 4K -N 20 -n 5 -T 20)
  if $quick; then
    some=(-b 8 -e 1M -f 64 -n 5)
    host=(-b 8 -e 64K -f 64 -n 2 -T 20)
    pairs=(-b 8 -e 64K -f 64 -n 2 -T 20)
    kinds=(-d 'float,int8' -o sum --sizes 4K -N 2 -n 2 -T 20)
  fi
  step first processes 0 300 NCCL_DEBUG=INFO "${all[@]}" --np "$n" "${some[@]}" -J processes.jsonl
  step first threads 0 300 NCCL_DEBUG=INFO "${all[@]}" -t "$n" "${some[@]}" -J threads.jsonl
  step first host-memory-threads 0 180 "${all[@]}" -t "$n" --memory host "${host[@]}"
  step first pingpong-threads 0 120 bin/pingpong_perf "${nccl[@]}" -t "$n" "${pairs[@]}"
  step first kinds-threads 0 300 "${all[@]}" -t "$n" "${kinds[@]}"
  for ranks in --np -t; do
    name=threads
    if [[ $ranks == --np ]]; then name=processes; fi
    step first "windows-$name" 0/3 120 "${all[@]}" "$ranks" "$n" --sizes '8,1M' -R 2 "${few_calls[@]}"
    step first "graph-$name" 0 120 "${all[@]}" "$ranks" "$n" --sizes '8,1M' -G 2 "${few_calls[@]}"
  done
  # To the last of the memory: NCCL takes its buffers late.
  if ! $quick; then step first alltoall-32G 0 300 bin/alltoall_perf "${nccl[@]}" --np "$n" -b 8 -e 32G -f 2; fi
fi

# Another program's rounds and ours in turns, over nccl-tests' batches: a thread for each GPU, which both have.
if [[ -n $beside ]]; then
  same=(-t "$n" -g 1 -b 8 -e 8G -f 2 -n 20 -w 5)
  if $quick; then same=(-t "$n" -g 1 -b 8 -e 1M -f 2 -n 20 -w 5); fi
  for ((round = 1; round <= beside_rounds; ++round)); do
    step beside "theirs-$round" 0 300 "$beside" "${same[@]}"
    step beside "ours-$round" 0 300 "bin/$(ours_beside)" "${nccl[@]}" "${same[@]}"
  done
fi

if $quick; then
  step speed verifier 0 120 bin/verifier_speed -b 2G -n 3 -d float,int8 -J verifier_speed.jsonl
  step check verifier 0 120 bin/device_check --memory cuda --quick -e 1M -J verifier.jsonl
else
  step speed verifier 0 300 bin/verifier_speed -J verifier_speed.jsonl
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
  some=(--sizes '64,4K,odd')  # odd ones: NCCL up to 2.28 leaves tails unwritten that no power of two has
  if $quick; then some=(--sizes '64,4K,524312'); fi
  taken "$program" -d all -o all "${some[@]}" -n 2
  step types "${program%_perf}" "$(expected "$program" "$n")" 300 "bin/$program" "${nccl[@]}" -t "$n" "${words[@]}"
done

# Ranks that share a GPU: processes, which take turns on it, and threads, whose kernels run at the same time (*share*-threads: from NCCL 2.30
# on). NCCL documents two of them; three have hung.
for ranks in '--np 2' '--np 4' '-t 2' '-t 3'; do
  flag=${ranks% *} number=${ranks#* }
  how=''
  if [[ $flag == -t ]]; then how=-threads; fi
  for program in "${programs[@]}"; do
    if $quick && { ((number > 2)) || ! few "$program"; } && [[ $program != all_reduce_perf ]]; then continue; fi
    taken "$program" --sizes 8,4K,256K -n 1 -w 0 -T 30
    step share "${program%_perf}-$number$how" "$(expected "$program" "$number")" 120 "${one_gpu[@]}" "bin/$program" "${nccl[@]}" "$flag" "$number" --share-gpus "${words[@]}"
  done
  if ((number == 2)); then
    step share "types-2$how" 0 300 "${one_gpu[@]}" bin/all_reduce_perf "${nccl[@]}" "$flag" 2 --share-gpus -d all -o all --sizes 4K -n 1 -w 0 -T 30
  fi
done
some=(-b 8 -e 256M -f 2)
if $quick; then some=(-b 8 -e 1M -f 64 -n 5); fi
step share times-threads 0 120 "${one_gpu[@]}" bin/all_reduce_perf "${nccl[@]}" -t 2 --share-gpus "${some[@]}" -T 30 -J all_reduce.jsonl

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

# NCCL tries kernels of other generations and memory that is not permitted, and goes on: such API errors are none of a run's.
sanitizer=(compute-sanitizer --tool memcheck --report-api-errors no --error-exitcode 9)
# One GPU: kernels that wait for a peer are known to stall below memcheck.
step sanitizer all_reduce 0 300 "${sanitizer[@]}" bin/all_reduce_perf "${nccl[@]}" -t 1 -b 8 -e 256K -f 32 -n 2 -T 0
step sanitizer verifier 0 600 "${sanitizer[@]}" bin/device_check --memory cuda --quick -e 128K -d int8,float

says 'is gone'
step failures killed 4 120 bash gpu_check.sh --case "KILL $killed_job"
if ! $quick; then  # it takes as long as a rank is waited for
  says 'is stopped'
  step failures stopped 5 120 bash gpu_check.sh --case "STOP $killed_job -T 5"
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
refused threads-of-processes-share 3 '--share-gpus' "${one_gpu[@]}" bin/all_reduce_perf "${nccl[@]}" --np 2 -t 2 "${tiny[@]}" --share-gpus
refused too-many-ranks 4 'start fewer' bin/all_reduce_perf "${nccl[@]}" -t $((visible + 1)) "${tiny[@]}"

some=(-e 1G)
if $quick; then some=(-e 1M -n 8); fi
step overhead nccl 0 300 bin/nccl_overhead -g "$n" "${some[@]}" -J nccl_overhead.jsonl

