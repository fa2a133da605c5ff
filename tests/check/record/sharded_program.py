"""Two ranks over gloo: a model in two halves of its columns and rows (tensor parallel) by hand; `broken` turns one rank's part wrong."""

import os
import sys

import torch
import torch.distributed as distributed
import torch.multiprocessing
from torch import nn


class Halves(nn.Module):
    """Two linear layers, the first split by columns, the second by rows."""

    def __init__(self, rank):
        super().__init__()
        torch.manual_seed(3)
        up, down = torch.randn(32, 8), torch.randn(8, 32)
        self.up, self.down = nn.Linear(8, 16, bias=False), nn.Linear(16, 8, bias=False)
        self.up.weight.data, self.down.weight.data = up.chunk(2)[rank].clone(), down.chunk(2, 1)[rank].clone()

    def forward(self, x):
        out = self.down(torch.relu(self.up(x)))
        distributed.all_reduce(out)
        return out


def work(rank, file, broken):
    distributed.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=2)
    model = Halves(rank)
    if broken and rank == 1:
        model.down.forward = lambda x: nn.functional.linear(x, model.down.weight) * 1.02
    torch.manual_seed(4)
    with torch.no_grad():
        model(torch.randn(5, 8))
    distributed.destroy_process_group()


if __name__ == "__main__":
    file, *more = sys.argv[1:]
    if os.path.exists(file):
        os.unlink(file)
    torch.multiprocessing.spawn(work, (file, "broken" in more), nprocs=2)
