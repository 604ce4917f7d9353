#!/usr/bin/env bash
# A Slurm of one node without systemd, for tests: slurm_cluster.sh up FOLDER | down FOLDER
# `up` starts munged, slurmctld and slurmd on ports of their own; then SLURM_CONF=FOLDER/slurm.conf srun ... works.
# Exit codes: 0, 2 usage, 3 not to be had here (and why), 4 it did not come up.
set -uo pipefail
die() { local code=$1; shift; printf 'slurm_cluster: %s\n' "$*" >&2; exit "$code"; }
(($# == 2)) || die 2 "usage: slurm_cluster.sh up|down FOLDER"
what=$1 folder=$2
PATH=$PATH:/usr/sbin

down() { # ends what `up` started, by the ids it wrote
  local file pid
  for file in "$folder"/slurmd.pid "$folder"/slurmctld.pid "$folder"/munged.pid; do
    [ -s "$file" ] || continue
    pid=$(cat "$file")
    kill "$pid" 2>/dev/null
    for _ in $(seq 50); do [ -d "/proc/$pid" ] || break; sleep 0.1; done
    kill -KILL "$pid" 2>/dev/null
    rm -f "$file"
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
  mkdir -p "$folder/state" "$folder/spool"
  local host port=$((20000 + RANDOM % 9000)) cpus socket=$folder/munge.socket
  host=$(hostname -s)
  cpus=$(nproc)
  head -c 1024 /dev/urandom >"$folder/munge.key"
  chmod 600 "$folder/munge.key"
  munged --force --key-file "$folder/munge.key" --socket "$socket" --pid-file "$folder/munged.pid" \
    --log-file "$folder/munged.log" --seed-file "$folder/munged.seed" || die 4 "munged: $(tail -n 2 "$folder/munged.log")"
  cat >"$folder/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
AuthInfo=socket=$socket
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cpus State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8
CONF
  export SLURM_CONF=$folder/slurm.conf
  slurmctld -f "$SLURM_CONF" || die 4 "slurmctld: $(tail -n 3 "$folder/slurmctld.log")"
  slurmd -f "$SLURM_CONF" -N "$host" || die 4 "slurmd: $(tail -n 3 "$folder/slurmd.log")"
  for _ in $(seq 100); do
    sinfo -h -o %T 2>/dev/null | grep -qE '^(idle|mixed|allocated)$' && return 0
    sleep 0.2
  done
  die 4 "the node did not become idle: $(sinfo -h 2>&1 | tail -n 2) $(tail -n 3 "$folder/slurmd.log")"
}

case $what in
  up) up ;;
  down) down ;;
  *) die 2 "usage: slurm_cluster.sh up|down FOLDER" ;;
esac
