"""The programs of examples/triton give numpy's results, on problems small enough to be compiled and run within seconds."""

from pathlib import Path

import pytest

from anywarp.toolchain import libdevice

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "triton"

PROBLEMS = {
    "vector_add": "3000",
    "fused_softmax": "5, 130",
    "matmul": "70, 40, 50, True",
    "dropout": "2000, 0.5, 2**33 + 5",
    "layer_norm": "70, 129",
    "flash_attention": "2, 80, 32",
    "grouped_gemm": "((33, 20, 70), (16, 80, 16))",
    "libdevice": "1000",
}

PROGRAM = f"""
import importlib, sys
sys.path.insert(0, {str(EXAMPLES)!r})
import checking
for name, arguments in {PROBLEMS!r}.items():
    try:
        module = importlib.import_module(name)
        if name == "matmul":
            module.matmul_kernel.configs = module.matmul_kernel.configs[:2]
        problem = module.problem(*eval(f"[{{arguments}}]"))
        worst = checking.difference(problem.run(), problem.expected())
        print(name, "fine" if worst <= problem.tolerance else f"wrong by {{worst}}", flush=True)
    except Exception as error:
        print(name, repr(error).replace(chr(10), " "), flush=True)
"""

answers = {}

pytestmark = pytest.mark.triton


@pytest.mark.parametrize("name", PROBLEMS)
def test_example_agrees_with_numpy(name, under_anywarp):
    if not answers:
        done = under_anywarp("-c", PROGRAM)
        answers.update(line.partition(" ")[::2] for line in done.stdout.splitlines())
        answers["everything"] = done.stdout[-3000:] + done.stderr[-3000:]
    assert answers.get(name, answers["everything"]) == "fine"


def test_our_libdevice_takes_the_place_of_tritons(under_anywarp, tmp_path):
    file = libdevice.find()
    done = under_anywarp(EXAMPLES / "libdevice.py", TRITON_LIBDEVICE_PATH=str(file), TRITON_CACHE_DIR=str(tmp_path))
    assert done.stdout.count("as numpy") == 2, done.stdout + done.stderr
    compiled = "".join(path.read_text() for path in tmp_path.glob("*/*.ptx"))
    assert compiled and "f64" in compiled  # ours computes most functions of floats in double precision


def test_every_example_is_run():
    assert {each.stem for each in EXAMPLES.glob("*.py")} - {"checking"} == set(PROBLEMS)
