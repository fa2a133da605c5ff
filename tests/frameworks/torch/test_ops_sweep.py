"""A sample of the sweep over torch's own database of operators: nothing wrong, next to nothing refused.

The whole of it takes many minutes (opinfo_sweep.py); here every operator of a fixed list runs with its first samples.
"""

import importlib.util
import warnings
from pathlib import Path

import pytest
import torch

pytest.importorskip("expecttest")  # what torch's database imports
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

DTYPES = (torch.float32, torch.float16, torch.complex32, torch.int64, torch.bool)
OPERATORS = (
    "add cat index_put masked_fill scatter_add cumsum sort topk svd linalg.solve fft.rfft nn.functional.conv2d"
    " nn.functional.layer_norm nn.functional.embedding_bag nn.functional.ctc_loss nn.functional.avg_pool3d"
    " nn.functional.interpolate nn.functional.scaled_dot_product_attention nn.functional.multi_margin_loss"
    " sparse.sampled_addmm to_sparse dot addcmul sin sum where unique as_strided"
).split()


def sweep_module():
    spec = importlib.util.spec_from_file_location("opinfo_sweep", Path(__file__).with_name("opinfo_sweep.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


sweeping = sweep_module()


@pytest.fixture(scope="module")
def database():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db
    return op_db


@pytest.mark.parametrize("name", OPERATORS)
def test_samples_agree_with_the_cpu(name, database):
    entries = [each for each in database if each.name == name]
    assert entries
    for entry in entries[:2]:
        for dtype in DTYPES:
            if dtype not in entry.supported_dtypes("cuda"):
                continue
            found = sweeping.Sweep(torch).check(entry, dtype, samples=2)
            bad = {verdict: number for verdict, number in found["counts"].items() if verdict in sweeping.BAD}
            assert not bad, (sweeping.full_name(entry), dtype, found["examples"])


def test_the_sweep_finds_what_is_wrong(database):
    """A check that cannot fail would be worth nothing: results with a small error are called wrong."""
    sweep, given = sweeping.Sweep(torch), (torch.randn(4, device="cuda"), (), {})
    assert sweep.judge(torch.sin, given, False)[0] == "equal"
    assert sweep.judge(lambda each: each.sin() * 1.01, given, False, reference=torch.sin)[0] == "wrong"
    assert sweep.judge(lambda each: each.sin().cpu(), given, False, reference=torch.sin)[0] == "wrong"
    assert sweep.judge(lambda each: each.sin()[:2], given, False, reference=torch.sin)[0] == "wrong"

    def refuses(each):
        raise RuntimeError("no")

    assert sweep.judge(refuses, given, False, reference=torch.sin)[0] == "refused"
