"""Two ranks over gloo: a model in two halves of its columns and rows (tensor parallel) by hand; `broken` turns one rank's part wrong.

The process that starts the ranks does without torch, whose import takes longer than all else here.
"""

import os
import subprocess
import sys

file, *more = sys.argv[1:]
RANK = os.environ.get("RANK")
if RANK is None:
    if os.path.exists(file):
        os.unlink(file)
    ranks = [subprocess.Popen([sys.executable, *sys.argv], env={**os.environ, "RANK": str(rank)}) for rank in range(2)]
    sys.exit(max([rank.wait() != 0 for rank in ranks]))

import torch  # noqa: E402
import torch.distributed as distributed  # noqa: E402
from torch import nn  # noqa: E402


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


def work(rank):
    distributed.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=2)
    model = Halves(rank)
    if "broken" in more and rank == 1:
        model.down.forward = lambda x: nn.functional.linear(x, model.down.weight) * 1.02
    torch.manual_seed(4)
    with torch.no_grad():
        model(torch.randn(5, 8))
    distributed.destroy_process_group()


work(int(RANK))
