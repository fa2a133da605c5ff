"""The page of served operators and the table of device checks say what torch's list and the running library say."""

from pathlib import Path

import pytest
import torch

from anywarp.frameworks.torch import operators

pytest.importorskip("yaml")
pytestmark = pytest.mark.torch

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs/coverage/torch.md"
TABLE = ROOT / "native/torch/device_checks_table.h"
ONLY = ROOT / "native/torch/only_for_cpu_table.h"
VERSION = torch.__version__.partition("+")[0]


@pytest.fixture(scope="module")
def entries():
    return operators.entries()


def made_for(path):
    if VERSION not in PAGE.read_text():
        pytest.skip(f"{path.name} is made for another torch than {VERSION}")


def test_the_page_is_what_the_library_serves(entries):
    made_for(PAGE)
    assert PAGE.read_text() == operators.coverage(entries, VERSION), (
        "run: python -m anywarp.frameworks.torch.operators coverage > docs/coverage/torch.md"
    )


def test_the_table_of_device_checks_is_torchs_own(entries):
    made_for(TABLE)
    assert TABLE.read_text() == operators.checks(entries), (
        "run: python -m anywarp.frameworks.torch.operators checks > native/torch/device_checks_table.h"
    )


def test_the_table_of_operators_for_the_cpu_alone_is_torchs_own(entries):
    made_for(ONLY)
    assert ONLY.read_text() == operators.only_for_cpu(entries), (
        "run: python -m anywarp.frameworks.torch.operators only-cpu > native/torch/only_for_cpu_table.h"
    )


def test_every_refusal_has_a_reason(entries):
    refused = [
        each.name
        for each in entries
        for key in operators.KEYS
        if key in each.keys and not operators.served(each.name, key)
    ]
    assert [name for name in refused if not operators.reason(name)] == []
    assert len(refused) < 0.03 * sum(len(each.keys & set(operators.KEYS)) for each in entries)


@pytest.mark.parametrize(
    ("name", "how"),
    [("mm", "cpu"), ("batch_norm_stats", "counterpart"), ("empty.memory_format", "cpu"), ("_cslt_compress", "")],
)
def test_how_an_operator_is_served(name, how):
    assert operators.served(name, "CUDA") == how
