"""Packages beside torch: what is found of one that is installed, whole or not; which imports may fail; and what is answered in a program."""

import ast
import importlib
import os
import struct
import subprocess
import sys
from importlib.abc import MetaPathFinder
from pathlib import Path

import pytest

import anywarp
from anywarp.frameworks.neighbours import installed, optional
from anywarp.frameworks.neighbours.registry import ALL, ANSWERED

DOORS = Path(anywarp.__file__).parent / "runtime/site/sitecustomize.py"


def fatbin(kind):
    """A fat binary of one empty entry, by NVIDIA's published layout: 1 is PTX, 2 machine code."""
    entry = struct.pack("<HHIQ", kind, 0x101, 64, 8) + bytes(48 + 8)
    return b"\x7fELF" + bytes(60) + struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entry)) + entry


MACHINE_CODE = fatbin(2)


def package(place, name="flash_attn", version="2.8.3", record="2.8.3", library=MACHINE_CODE, files=("__init__.py",)):
    """Lay out a package as pip would: its folder, its record and its library for cards."""
    site = place / "site-packages"
    for file in files:
        path = site / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'__version__ = "{version}"\nfrom flash_attn.flash_attn_interface import flash_attn_func\n')
    if record:
        info = site / f"{name}-{record}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {record}\n")
    if library is not None:
        site.mkdir(exist_ok=True)
        (site / f"{name}_2_cuda.cpython-311-x86_64-linux-gnu.so").write_bytes(library)
    return site


def looked(site, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(site)])
    return ANSWERED["flash_attn"].detect()


def test_what_is_not_there_is_absent(tmp_path, monkeypatch):
    assert looked(tmp_path, monkeypatch).state == "absent"


@pytest.mark.parametrize(
    "library, state",
    [
        (fatbin(2), "machine code"),
        (fatbin(1), "usable"),
        (fatbin(2) + fatbin(1), "usable"),
        (None, "machine code"),
        (b"", "machine code"),
        (fatbin(1)[:70], "machine code"),
        (b"x" * 9 + struct.pack("<IHHQ", 0xBA55ED50, 1, 0xFFFF, 2**63) + b"\xff" * 99, "machine code"),
    ],
)
def test_a_package_is_usable_where_its_library_has_ptx(library, state, tmp_path, monkeypatch):
    found = looked(package(tmp_path, library=library), monkeypatch)
    assert (found.state, found.version) == (state, "2.8.3")


@pytest.mark.parametrize(
    "given, words",
    [
        ({"files": ()}, "half installed"),
        ({"files": ("layers/rotary.py",), "record": ""}, "half installed"),
        ({"version": "2.7.0"}, "of two versions, 2.8.3 by its record and 2.7.0 by its files"),
        ({"version": "2.0.9", "record": "2.0.9"}, "2.0.9 is too old: 2.1"),
        ({"version": "1.0", "record": ""}, "1.0 is too old"),
    ],
)
def test_what_is_broken_is_said(given, words, tmp_path, monkeypatch):
    found = looked(package(tmp_path, **given), monkeypatch)
    assert found.state == "broken" and words in found.words


def laid(place, each, version, record):
    """Lay out any neighbour: its folder where there is a version, its record where there is one."""
    site, distribution = place / "site-packages", getattr(each, "distribution", each.name)
    site.mkdir()
    if version:
        (site / each.name).mkdir()
        (site / each.name / "__init__.py").write_text(f'__version__ = "{version}"\n')
    if record:
        info = site / f"{distribution.replace('-', '_')}-{record}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {record}\n")
    return site


NEIGHBOURS = {each.name: each for each in ALL}


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_every_neighbour_says_in_a_line_what_is_broken(name, tmp_path, monkeypatch):
    each, oldest = NEIGHBOURS[name], getattr(NEIGHBOURS[name], "oldest", ())
    cases = {
        ("", "99.1"): "half installed",
        ("99.2", "99.1"): "of two versions, 99.1 by its record and 99.2 by its files",
        **({("0.0.1", "0.0.1"): "too old"} if oldest else {}),
    }
    for number, ((version, record), words) in enumerate(cases.items()):
        (tmp_path / str(number)).mkdir()
        monkeypatch.setattr(sys, "path", [str(laid(tmp_path / str(number), each, version, record))])
        found = each.detect()
        assert found.state == "broken" and words in found.words and "\n" not in found.words, (version, record, found)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "empty")])
    assert each.detect().state == "absent"


def test_the_doors_cost_less_than_5_ms_at_the_start_of_a_python():
    code = (
        "import sys, time\nfrom importlib.util import module_from_spec, spec_from_file_location\n"
        f"spec = spec_from_file_location('sitecustomize', {str(DOORS)!r}); module = module_from_spec(spec)\n"
        "begun = time.process_time(); spec.loader.exec_module(module); spent = time.process_time() - begun\n"
        "assert any(type(each).__name__ == 'Neighbours' for each in sys.meta_path)\n"
        "assert not any(each.split('.')[0] == 'anywarp' for each in sys.modules)\nprint(spent)"
    )
    command = [sys.executable, "-I", "-S", "-B", "-c", code]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ANYWARP_")}
    spent = [
        float(subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout)
        for _ in range(5)
    ]
    assert min(spent) < 0.005, spent


def test_a_record_that_cannot_be_read_is_no_version(tmp_path, monkeypatch):
    site = package(tmp_path)
    (site / "flash_attn-2.8.3.dist-info/METADATA").write_bytes(b"\xff\xfe\x00")
    assert looked(site, monkeypatch).state in ("broken", "machine code")


IMPORTS = {
    "import it": False,
    "from it import x": False,
    "import importlib\nimportlib.import_module('it')": False,
    "__import__('it')": False,
    "import importlib.util\nimportlib.util.find_spec('it')": True,
    "try:\n    import it\nexcept ImportError:\n    it = None": True,
    "try:\n    import it\nexcept (KeyError, ModuleNotFoundError):\n    it = None": True,
    "import builtins\ntry:\n    import it\nexcept builtins.ImportError:\n    pass": True,
    "try:\n    import it\nexcept Exception:\n    it = None": True,
    "try:\n    import it\nexcept:\n    it = None": True,
    "try:\n    if True:\n        for _ in 'a':\n            import it\nexcept ImportError:\n    it = None": True,
    "try:\n    import it\nexcept ImportError as error:\n    raise RuntimeError('install it') from error": False,
    "try:\n    import it\nexcept KeyError:\n    it = None": False,
    "try:\n    import nothing_of_this_name\nexcept ImportError:\n    import it": False,
    "try:\n    pass\nexcept ImportError:\n    pass\nelse:\n    import it": False,
    "try:\n    pass\nexcept ImportError:\n    pass\nfinally:\n    import it": False,
    "from contextlib import suppress\nwith suppress(ImportError):\n    import it": True,
    "from contextlib import suppress\nwith suppress(KeyError):\n    import it": False,
    "def load():\n    import it\nload()": False,
    "def load():\n    try:\n        import it\n    except ImportError:\n        return\nload()": True,
    "try:\n    import aw_plain\nexcept ImportError:\n    pass": True,
    "import aw_plain": False,
}


@pytest.mark.parametrize("text", IMPORTS)
def test_which_imports_may_fail(text, tmp_path, monkeypatch):
    asked = []

    class Asked(MetaPathFinder):
        def find_spec(self, name, path=None, target=None):
            if name == "it":
                asked.append(optional.is_optional(sys._getframe()))
            return None

    (tmp_path / "aw_plain.py").write_text("import it\n")
    (tmp_path / "aw_asking.py").write_text(text)
    # This module is "anywarp" to the walk, as the real finder is.
    monkeypatch.setitem(globals(), "__name__", "anywarp.frameworks.test")
    monkeypatch.setattr(sys, "meta_path", [Asked(), *sys.meta_path])
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        importlib.import_module("aw_asking")
    except Exception:
        pass
    finally:
        for name in ("aw_asking", "aw_plain"):
            sys.modules.pop(name, None)
    assert asked and asked[0] is IMPORTS[text]


def test_a_text_that_is_no_python_has_no_try(tmp_path):
    (tmp_path / "broken.py").write_text("try:\n  (((")
    assert not optional._caught(str(tmp_path / "broken.py"), 1) and not optional._caught("<string>", 1)


def test_the_door_knows_every_module_that_is_answered():
    tree = ast.parse(DOORS.read_text(encoding="utf-8"))
    [names] = [
        ast.literal_eval(each.value)
        for each in ast.walk(tree)
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name) and each.targets[0].id == "names"
    ]
    assert set(names) == {module.partition(".")[0] for each in ANSWERED.values() for module in each.answers}


def test_every_answer_has_a_module():
    place = Path(installed.__file__).parent / "answers"
    assert all((place / f"{ours}.py").is_file() for each in ANSWERED.values() for ours in each.answers.values())


def run(code, *sites, **settings):
    """Run Python code as a file's text under `anywarp run`."""
    command = [sys.executable, "-m", "anywarp", "run", "--", sys.executable, "-c", code]
    places = [*map(str, sites), str(Path(anywarp.__file__).parents[1])]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(places)} | settings
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)


native = pytest.mark.native


@native
def test_a_program_without_them_imports_nothing_of_ours():
    done = run("import sys, json, email; print([m for m in sys.modules if m.startswith('anywarp')])")
    assert done.stdout == "[]\n" and not done.stderr


@native
@pytest.mark.torch
class TestAnswers:
    def test_an_import_that_must_not_fail_is_answered_and_said_once(self):
        code = "import flash_attn.bert_padding, flash_attn, sys; print(flash_attn.__version__, flash_attn.flash_attn_func.__name__)"
        done = run(code)
        assert done.stdout == "2.8.3+anywarp flash_attn_func\n", done.stderr
        assert done.stderr.count("F010") == 1 and "flash_attn is not installed" in done.stderr

    def test_who_asks_finds_nothing_unless_the_user_wants_it(self):
        code = (
            "from importlib import metadata, util\nfound = util.find_spec('flash_attn')\n"
            "try: print(bool(found), metadata.version('flash-attn'), metadata.packages_distributions()['flash_attn'])\n"
            "except metadata.PackageNotFoundError: print(bool(found), 'none')"
        )
        assert run(code).stdout == "False none\n"
        done = run(code, ANYWARP_NEIGHBOURS="flash_attn")
        assert done.stdout == "True 2.8.3+anywarp ['flash-attn']\n", done.stderr

    def test_a_name_that_is_not_served_does_not_exist(self):
        done = run("import flash_attn\nfrom flash_attn.layers.rotary import RotaryEmbedding")
        assert "cannot import name 'RotaryEmbedding'" in done.stderr
        done = run("import flash_attn\nimport flash_attn.cute")
        assert "flash_attn.cute is not among the modules of flash_attn that anywarp answers" in done.stderr

    def test_another_device_and_a_blocked_package_are_left_alone(self):
        assert "No module named 'flash_attn'" in run("import flash_attn", ANYWARP_TORCH_BLOCK="flash_attn").stderr

    def test_a_package_in_machine_code_keeps_its_python_modules(self, tmp_path):
        site = package(tmp_path, files=("__init__.py", "models.py"))
        done = run(
            "import flash_attn.models, flash_attn; print(flash_attn.models.flash_attn_func is flash_attn.flash_attn_func)",
            site,
        )
        assert done.stdout == "True\n", done.stderr
        assert "2.8.3 has kernels in machine code for NVIDIA's cards alone" in done.stderr

    def test_a_package_that_can_run_is_left_alone(self, tmp_path):
        site = package(tmp_path, library=fatbin(1))
        (site / "flash_attn/__init__.py").write_text('__version__ = "2.8.3"\n')
        done = run("import flash_attn; print(flash_attn.__version__)", site)
        assert done.stdout == "2.8.3\n" and "F010" not in done.stderr

    def test_a_broken_package_is_one_line_and_pythons_own_error(self, tmp_path):
        done = run("import flash_attn", package(tmp_path, files=()))
        assert done.stderr.count("F011") == 1 and "half installed" in done.stderr
        assert "No module named 'flash_attn'" in done.stderr

    def test_transformer_engine_is_answered_with_its_submodules(self):
        code = (
            "import transformer_engine.pytorch as te\nfrom transformer_engine.common import recipe\n"
            "from transformer_engine.pytorch.fp8 import fp8_autocast\nimport torch\n"
            "with fp8_autocast(fp8_recipe=recipe.DelayedScaling(fp8_format=recipe.Format.HYBRID)):\n"
            "    print(te.Linear(16, 8)(torch.ones(8, 16, device='cuda')).shape)"
        )
        done = run(code)
        assert done.stdout == "torch.Size([8, 8])\n", done.stderr
        assert done.stderr.count("F010") == 1
        assert "cannot import name 'Fp8Padding'" in run("from transformer_engine.pytorch import Fp8Padding").stderr

    def test_importing_transformer_engine_imports_its_modules(self):
        code = (
            "import transformer_engine as te\n"
            "print(te.common.recipe.Format.E4M3.name, te.pytorch.distributed.CudaRNGStatesTracker.__name__, te.pytorch.ops.Sequential.__name__)"
        )
        done = run(code)
        assert done.stdout == "E4M3 CudaRNGStatesTracker Sequential\n", done.stderr

    def test_the_functions_beside_a_package_are_answered_too(self):
        done = run("import amp_C, apex.normalization; print(amp_C.multi_tensor_scale.__name__)")
        assert done.stdout == "multi_tensor_scale\n", done.stderr
