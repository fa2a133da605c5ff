"""Imports of what the tree brings itself are no findings."""

from anywarp.migrate.assess import Plan, assess
from anywarp.migrate.target import parse_target


def imports(tmp_path):
    result = assess(Plan((str(tmp_path),), parse_target("hip:gfx942", "7.1"), keep=False, jobs=1))
    return sorted(
        (f.path.removeprefix(str(tmp_path) + "/"), f.use.name)
        for f in result.findings
        if f.use.subject == "python.import"
    )


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_a_package_that_imports_itself(tmp_path):
    files = {
        "flash_attn/__init__.py": "from flash_attn.ops import x\nimport torch\n",
        "flash_attn/ops/a.py": "import flash_attn\n",
        "tests/test_a.py": "import flash_attn, bitsandbytes\n",
    }
    write(tmp_path, files)
    assert imports(tmp_path) == [("flash_attn/__init__.py", "torch"), ("tests/test_a.py", "bitsandbytes")]


def test_a_folder_of_that_name_inside_a_package_hides_nothing(tmp_path):
    write(
        tmp_path,
        {
            "mine/__init__.py": "",
            "mine/cupy/__init__.py": "",
            "mine/a.py": "import cupy\n",
            "examples/vllm/a.py": "import vllm\n",
        },
    )
    assert imports(tmp_path) == [("examples/vllm/a.py", "vllm"), ("mine/a.py", "cupy")]
