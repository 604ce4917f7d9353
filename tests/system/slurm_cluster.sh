#!/usr/bin/env bash
# A Slurm without systemd, for tests: slurm_cluster.sh up FOLDER [NODES] | down FOLDER
# `up` starts munged, slurmctld and slurmd on ports of their own; then SLURM_CONF=FOLDER/slurm.conf srun ... works.
# With NODES, from 2 to 9, this machine is 127.0.0.[1-NODES]: node names that resolve without a file of hosts. Steps have reserved ports then.
# Exit codes: 0, 2 usage, 3 not available here (and why), 4 it did not come up.
set -uo pipefail
export LC_ALL=C
die() { local code=$1; shift; printf 'slurm_cluster: %s\n' "$*" >&2; exit "$code"; }
usage='usage: slurm_cluster.sh up FOLDER [NODES] | down FOLDER'
what=${1:-} folder=${2:-} nodes=${3:-1}
[ -n "$folder" ] || die 2 "$usage"
[[ $nodes == [1-9] ]] || die 2 "'$nodes' nodes; accepted: 1 to 9"
PATH=$PATH:/usr/sbin

down() { # ends what `up` started, by the ids it wrote
  local file pid
  for file in "$folder"/slurmd.*.pid "$folder"/slurmctld.pid "$folder"/munged.pid; do
    [ -s "$file" ] || continue
    pid=$(cat "$file")
    kill "$pid" 2>/dev/null
    for _ in $(seq 50); do [ -d "/proc/$pid" ] || break; sleep 0.1; done
    kill -KILL "$pid" 2>/dev/null
    rm -f "$file"
  done
}

listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
free_ports() { # N: the first of N consecutive ports that nobody listens on, out of the ephemeral range
  local first port
  while true; do
    first=$((30000 + RANDOM % 2700))
    for ((port = first; port < first + $1; port++)); do listens $port && continue 2; done
    echo $first
    return
  done
}

up() {
  [ "$(id -u)" -eq 0 ] || die 3 "needs root"
  local program
  for program in munged slurmctld slurmd srun; do
    command -v $program >/dev/null || die 3 "no $program (packages slurmctld slurmd slurm-client munge)"
  done
  mkdir -p "$folder"
  chmod 755 "$folder"
  mkdir -p "$folder/state"
  local host port cpus node names ports reserved='' socket=$folder/munge.socket
  port=$(free_ports $((nodes + 21)))
  host=$(hostname -s)
  cpus=$(nproc)
  names=$host ports=$((port + 1))
  if ((nodes > 1)); then
    names="127.0.0.[1-$nodes]" ports="[$((port + 1))-$((port + nodes))]"
    reserved="MpiParams=ports=$((port + nodes + 1))-$((port + nodes + 20))"
  fi
  head -c 1024 /dev/urandom >"$folder/munge.key"
  chmod 600 "$folder/munge.key"
  munged --force --key-file "$folder/munge.key" --socket "$socket" --pid-file "$folder/munged.pid" \
    --log-file "$folder/munged.log" --seed-file "$folder/munged.seed" || die 4 "munged: $(tail -n 2 "$folder/munged.log")"
  cat >"$folder/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
AuthInfo=socket=$socket
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool.%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
$reserved
NodeName=$names NodeHostname=$host NodeAddr=${names/#$host/127.0.0.1} Port=$ports CPUs=$cpus State=UNKNOWN
PartitionName=all Nodes=$names Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8
CONF
  export SLURM_CONF=$folder/slurm.conf
  slurmctld -f "$SLURM_CONF" || die 4 "slurmctld: $(tail -n 3 "$folder/slurmctld.log")"
  for node in $(scontrol show hostnames "$names"); do
    slurmd -f "$SLURM_CONF" -N "$node" || die 4 "slurmd: $(tail -n 3 "$folder/slurmd.$node.log")"
  done
  for _ in $(seq 100); do
    [ "$(sinfo -h -N -o %T 2>/dev/null | grep -cxE 'idle|mixed|allocated')" -eq "$nodes" ] && return 0
    sleep 0.2
  done
  die 4 "the nodes did not become idle: $(sinfo -h 2>&1 | tail -n 2) $(tail -qn 3 "$folder"/slurmd.*.log)"
}

case $what in
  up) up ;;
  down) down ;;
  *) die 2 "$usage" ;;
esac
