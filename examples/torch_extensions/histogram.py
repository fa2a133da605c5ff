"""An operator registered with torch.library from CUDA: called like torch's own, known to torch.compile by its shape function."""

from pathlib import Path

import torch
from torch.utils.cpp_extension import load

load("counting", [str(Path(__file__).with_name("histogram.cu"))], is_python_module=False)


@torch.library.register_fake("counting::histogram")
def _(values, bins):
    return values.new_empty((bins,), dtype=torch.int32)


def main() -> None:
    torch.manual_seed(0)
    values = torch.randint(-3, 70, (3, 5000), device="cuda")
    found = torch.ops.counting.histogram(values, 64)
    inside = values[(values >= 0) & (values < 64)]
    assert torch.equal(found.long(), torch.bincount(inside.cpu(), minlength=64).cuda())
    torch.library.opcheck(torch.ops.counting.histogram.default, (values, 64))

    @torch.compile(fullgraph=True)
    def shares(each):
        return torch.ops.counting.histogram(each, 64) / each.numel()

    torch.testing.assert_close(shares(values), found / values.numel())
    print("histogram: as torch.bincount, also within torch.compile")


if __name__ == "__main__":
    main()
