"""The program that distributed.py starts: a small model trained alone, under DDP, or under FSDP2, on halves of the same batches.

Every form sees the same global batch and the same first weights, so its losses and final weights are those of one process.
"""

# pyright: basic
from __future__ import annotations

import os
import sys

import torch
from torch import nn


def main(form: str, device: str) -> None:
    """Train five steps and print, on the first rank, every loss and the sum of the final weights."""
    world = int(os.environ.get("WORLD_SIZE", "1"))
    rank = int(os.environ.get("LOCAL_RANK", "0"))
    if form != "alone":
        if device == "cuda":
            torch.cuda.set_device(rank)
        torch.distributed.init_process_group("nccl" if device == "cuda" else "gloo")
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(16, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 4)
    ).to(device)
    if form == "ddp":
        model = nn.parallel.DistributedDataParallel(model, device_ids=[rank] if device == "cuda" else None)
    if form == "fsdp2":
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard

        mesh = init_device_mesh(device, (world,))
        for layer in model:
            if isinstance(layer, nn.Linear):
                fully_shard(layer, mesh=mesh)
        fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    draw = torch.Generator().manual_seed(1)
    for _ in range(5):
        data, wanted = torch.randn(8, 16, generator=draw), torch.randn(8, 4, generator=draw)
        mine = slice(rank * 8 // world, (rank + 1) * 8 // world)
        loss = nn.functional.mse_loss(model(data[mine].to(device)), wanted[mine].to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean = loss.detach().clone()
        if form != "alone":
            torch.distributed.all_reduce(mean)
            mean /= world
        if rank == 0:
            print(f"loss {mean.item():.6f}", flush=True)
    total = torch.zeros((), device=device)
    for each in model.parameters():
        whole = each.full_tensor() if hasattr(each, "full_tensor") else each
        total += whole.detach().abs().sum()
    if rank == 0:
        print(f"weights {total.item():.4f}", flush=True)
    if form != "alone":
        torch.distributed.barrier()
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
