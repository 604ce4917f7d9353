#!/usr/bin/env python3
"""Records two training steps over Gloo: record.py ddp|fsdp|hybrid PROCESSES PORT FOLDER

Each process writes NAME.et.RANK.json (execution trace) and NAME.fr.RANK.json (flight recorder).
"""
import functools
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.profiler import ExecutionTraceObserver


def make_model(kind, ranks):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(37, 211), nn.ReLU(), nn.Linear(211, 101), nn.ReLU(), nn.Linear(101, 10))
    if kind == "ddp":
        return nn.parallel.DistributedDataParallel(model, bucket_cap_mb=0.05)
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import FullyShardedDataParallel, ShardingStrategy
    from torch.distributed.fsdp.wrap import size_based_auto_wrap_policy

    more = {}
    if kind == "hybrid":
        more = {
            "device_mesh": init_device_mesh("cpu", (ranks // 2, 2)),
            "sharding_strategy": ShardingStrategy.HYBRID_SHARD,
        }
    wrap = functools.partial(size_based_auto_wrap_policy, min_num_params=5000)
    return FullyShardedDataParallel(model, auto_wrap_policy=wrap, device_id=torch.device("cpu"), **more)


def run(rank, kind, ranks, port, folder):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port, RANK=str(rank), WORLD_SIZE=str(ranks))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
    model = make_model(kind, ranks)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step():
        model(torch.randn(16, 37)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        dist.all_reduce(torch.ones(1))

    step()
    observer = ExecutionTraceObserver()
    observer.register_callback(f"{folder}/{kind}{ranks}.et.{rank}.json")
    observer.start()
    step()
    step()
    observer.stop()
    observer.unregister_callback()
    dump = torch._C._distributed_c10d._dump_fr_trace_json()
    with open(f"{folder}/{kind}{ranks}.fr.{rank}.json", "w", encoding="utf-8") as file:
        file.write(dump if isinstance(dump, str) else dump.decode())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.setdefault("TORCH_FR_BUFFER_SIZE", "2000")
    kind, ranks, port, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
    processes = [mp.Process(target=run, args=(rank, kind, ranks, port, folder)) for rank in range(ranks)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    sys.exit(max(process.exitcode for process in processes))
