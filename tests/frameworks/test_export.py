"""`anywarp export`: models become ONNX that computes the same at other sizes, or nothing is written. Needs ONNX and ONNX Runtime."""

import importlib.util
import json

import pytest

from anywarp.cli.main import call

PACKAGES = ("torch", "onnx", "onnxscript", "onnxruntime", "safetensors")
if any(importlib.util.find_spec(name) is None for name in PACKAGES):
    pytest.skip("onnx or onnxruntime is not installed", allow_module_level=True)

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
import torch  # noqa: E402

pytestmark = [
    pytest.mark.torch, pytest.mark.slow, pytest.mark.filterwarnings("ignore::FutureWarning"), pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]  # fmt: skip
MODELS = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.fold, self.head = nn.Conv2d(3, 4, 3, padding=1), nn.Linear(4, 5)

    def forward(self, x):
        y = self.head(torch.relu(self.fold(x)).mean((2, 3)))
        return {"logits": y, "best": y.argmax(-1)}

class Fixed(nn.Module):
    def forward(self, x):
        return x.reshape(2, 3)

class Branches(nn.Module):
    def forward(self, x):
        return x * 2 if x.sum() > 0 else x

class Differs(nn.Module):
    def forward(self, x):
        return x + (0.1 if torch.compiler.is_exporting() else 0.0)

@torch.library.custom_op("anywarp_test::odd", mutates_args=())
def odd(x: torch.Tensor) -> torch.Tensor:
    return x.clone()

@odd.register_fake
def _(x):
    return torch.empty_like(x)

class Inner(nn.Module):
    def forward(self, x):
        return torch.ops.anywarp_test.odd(x)

class Odd(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        return self.inner(x + 1)

def fails():
    raise RuntimeError("no weights here")

number = 3
"""


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    path = tmp_path_factory.mktemp("models of mine") / "net_for_export.py"
    path.write_text(MODELS)
    return path


def export(capfd, *words):
    status = call(["export", *map(str, words)])
    return status, *capfd.readouterr()


def test_a_model_is_written_when_it_computes_the_same_at_every_size(models, tmp_path, capfd):
    out = tmp_path / "a b.onnx"
    status, text, _ = export(
        capfd, f"{models}:Net", "--input", "x:f32[batch,3,8,8]", "-o", out, "--try", "batch=1", "--format", "json"
    )
    said = json.loads(text)
    assert (status, said["right"], said["written"]) == (0, True, str(out))
    assert [case["sizes"] for case in said["cases"]] == [{"batch": 2}, {"batch": 3}, {"batch": 1}]
    assert [each["output"] for each in said["cases"][0]["outputs"]] == ["logits", "best"]
    assert said["sums"] >= 3 * 3 * 3 + 8 * 8 + 4  # a convolution, a mean, a product
    assert [each.name for each in tmp_path.iterdir()] == ["a b.onnx"]
    assert onnx.load(out).graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"
    assert onnxruntime.InferenceSession(out).run(None, {"x": np.zeros((5, 3, 8, 8), np.float32)})[0].shape == (5, 5)


def test_what_computes_something_else_is_written_only_when_told(models, tmp_path, capfd):
    out = tmp_path / "m.onnx"
    words = (f"{models}:Differs", "--input", "x:f32[2,3]", "-o", out)
    status, text, err = export(capfd, *words)
    assert status == 1 and "WRONG" in text and "was not written" in err and not list(tmp_path.iterdir())
    status, text, _ = export(capfd, *words, "--write-anyway")
    assert status == 1 and out.exists()


@pytest.mark.parametrize(
    ("name", "given", "code", "said"),
    [
        ("Fixed", "x:f32[n,3]", "F015", "n as dynamic but your code specialized it to be a constant (2)"),
        ("Branches", "x:f32[2,3]", "F015", "net_for_export.py, line 21"),
        ("Odd", "x:f32[2,3]", "F015", "anywarp_test.odd, used in inner (net_for_export.Inner)"),
        ("Net", "y:f32[2,3]", "F014", "no parameter y; it has x"),
        ("fails", "x:f32[2]", "F013", "no weights here"),
        ("number", "x:f32[2]", "F013", "gives a int"),
        ("absent", "x:f32[2]", "F013", "there is no absent"),
    ],
)
def test_what_cannot_be_exported_says_why_and_where(models, tmp_path, capfd, name, given, code, said):
    status, _, err = export(capfd, f"{models}:{name}", "--input", given, "-o", tmp_path / "m.onnx")
    assert status == 2 and code in err and said in err and not list(tmp_path.iterdir())


@pytest.mark.parametrize("words", ["m.pth", "m.pt", "a/b.ckpt", "m.pth:Net"])
def test_pickles_are_not_opened(words, tmp_path, capfd):
    status, _, err = export(capfd, words, "--input", "x:f32[2]", "-o", tmp_path / "m.onnx")
    assert status == 2 and "is a pickle" in err


def test_weights_are_taken_from_safetensors_and_must_fit(models, tmp_path, capfd):
    from safetensors.torch import save_file

    zeros = {
        "fold.weight": torch.zeros(4, 3, 3, 3),
        "fold.bias": torch.zeros(4),
        "head.weight": torch.zeros(5, 4),
        "head.bias": torch.arange(5.0),
    }
    save_file(zeros, tmp_path / "w.safetensors")
    out = tmp_path / "m.onnx"
    words = (f"{models}:Net", "--input", "x:f32[batch,3,8,8]", "-o", out, "--weights")
    assert export(capfd, *words, tmp_path / "w.safetensors")[0] == 0
    found = onnxruntime.InferenceSession(out).run(["logits"], {"x": np.ones((1, 3, 8, 8), np.float32)})[0]
    assert found.tolist() == [[0, 1, 2, 3, 4]]
    save_file({"other": torch.zeros(1)}, tmp_path / "o.safetensors")
    (tmp_path / "cut.safetensors").write_bytes((tmp_path / "w.safetensors").read_bytes()[:50])
    for name in ("o", "cut", "absent"):
        status, _, err = export(capfd, *words, tmp_path / f"{name}.safetensors")
        assert status == 2 and "F013" in err and "do not fit" in err


class Planted:
    """An object whose pickle runs a command when it is read."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        import pathlib

        return (pathlib.Path.touch, (self.path,))


def test_an_exported_program_is_read_without_running_what_is_pickled_in_it(tmp_path, capfd):
    import zipfile

    program = torch.export.export(
        torch.nn.Linear(3, 2).eval(), (torch.randn(4, 3),), dynamic_shapes=({0: torch.export.Dim("n")},)
    )
    good, bad, mark = tmp_path / "good.pt2", tmp_path / "bad.pt2", tmp_path / "mark"
    torch.export.save(program, good)
    status, _, _ = export(capfd, good, "--input", "input:f32[n=4,3]", "-o", tmp_path / "m.onnx")
    assert status == 0
    torch.save(Planted(mark), tmp_path / "planted")
    with zipfile.ZipFile(good) as source, zipfile.ZipFile(bad, "w") as target:
        for name in source.namelist():
            planted = "sample_inputs" in name and name.endswith(".pt")
            target.writestr(name, (tmp_path / "planted").read_bytes() if planted else source.read(name))
    status, _, err = export(capfd, bad, "--input", "input:f32[n=4,3]", "-o", tmp_path / "n.onnx")
    assert status == 2 and "F013" in err and not mark.exists() and not (tmp_path / "n.onnx").exists()


def test_a_place_that_cannot_be_written_is_said_before_the_work(models, tmp_path, capfd):
    for out in (tmp_path / "absent" / "m.onnx", tmp_path):
        status, _, err = export(capfd, f"{models}:Net", "--input", "x:f32[2]", "-o", out)
        assert status == 2 and "cannot be written" in err
    status, _, err = export(capfd, f"{models}:Net", "--input", "x:f32[n,3]", "-o", tmp_path / "m.onnx", "--try", "k=3")
    assert status == 2 and "no input has an axis k" in err
