"""Each CUDA C++ program of examples/cuda is built in each way there is and prints what its header says."""

import importlib.util
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from anywarp import settings

EXAMPLES = Path(__file__).parents[2] / "examples" / "cuda"


def _load():
    spec = importlib.util.spec_from_file_location("cuda_examples", EXAMPLES / "run.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


examples = _load()
PROGRAMS = examples.programs()

ALWAYS = {
    ("reduction", "anywarp"),
    ("graph_by_hand", "anywarp"),
    ("separate_files", "anywarp"),
    ("wmma_product", "anywarp"),
    ("constant_symbols", "shared"),
    ("device_assert", "shared"),
    ("managed_memory", "static"),
    ("plugins", "static"),
}
"""What a plain run of the tests builds: one program of each kind; all others are marked long."""


def _marks(name, way, always=()):
    built = (settings.LIBRARY_DIR.get() / "libcudart.so.13").exists()
    marks = [pytest.mark.native, pytest.mark.skipif(not built, reason="libcudart.so.13 is not built")]
    if (name, way) not in ALWAYS and name not in always:
        marks.append(pytest.mark.long)
    if way == "anywarp":
        there = bool(settings.CLANG.get()) or importlib.util.find_spec("ziglang") is not None
        marks.append(pytest.mark.skipif(not there, reason="no clang: the extra nvcc brings it"))
    else:
        marks.append(pytest.mark.nvcc)
    return marks


CASES = [
    pytest.param(name, way, marks=_marks(name, way), id=f"{name}-{way}") for name in PROGRAMS for way in examples.WAYS
]


@pytest.fixture(scope="session")
def builds(request, tmp_path_factory):
    """Begin to build all that this run asks for, two at a time; tests take what they need when it is done."""
    folder = tmp_path_factory.mktemp("examples")
    wanted = [item.callspec.params for item in request.session.items if "builds" in getattr(item, "fixturenames", ())]
    keys = dict.fromkeys(
        (each["name"], each["way"]) for each in wanted if examples.available(examples.WAYS[each["way"]])
    )
    with ThreadPoolExecutor(2) as pool:
        yield {
            (name, way): pool.submit(examples.build, PROGRAMS[name], examples.WAYS[way], folder / way)
            for name, way in keys
        }


@pytest.mark.slow
@pytest.mark.parametrize(("name", "way"), CASES)
def test_program_is_built_and_right(builds, name, way):
    target, words = builds[name, way].result()
    assert target.exists(), words
    right, said, _ = examples.run(PROGRAMS[name], examples.WAYS[way], target)
    assert right, said


CHECKED = {"kmeans", "grid_sync", "memory_pools"}
"""What a plain run of the tests runs under checks too: those that checks once made fail or hang."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "way"),
    [pytest.param(name, "anywarp", marks=_marks(name, "anywarp", CHECKED), id=name) for name in PROGRAMS],
)
def test_checks_change_nothing_and_find_nothing(builds, name, way):
    target, words = builds[name, way].result()
    assert target.exists(), words

    def run(*more):
        command = [*examples.ANYWARP, "run", *more, "--", str(target)]
        environment = {**os.environ, **PROGRAMS[name].environment}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
        return done.returncode, done.stdout, done.stderr

    plain, checked = run(), run("--check", "all")
    assert checked[:2] == plain[:2], checked[2]
    assert "anywarp: check:" not in checked[2]


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_says_what_it_shows_and_what_to_expect(name):
    program = PROGRAMS[name]
    assert 20 < len(program.shows) < 150
    assert any(name in wanted for wanted in program.expected)
    assert all(source.exists() for source in (*program.sources, *program.libraries))
    text = program.main.read_text()
    assert "anywarp" not in text.replace("ANYWARP_DEVICES", "")
