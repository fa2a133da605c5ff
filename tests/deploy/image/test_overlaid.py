"""`anywarp image wrap --rocm-packages`: what answers an image's packages on AMD GPUs lies in the layer, with a record that a run in it goes by."""

import dataclasses
import io
import json
import sys
import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from anywarp.cli.image import command
from anywarp.deploy.env.installer import Sources
from anywarp.deploy.image import carried, contents, layout, overlaid, wrap
from anywarp.deploy.image.entries import Entry
from anywarp.diagnostics import AnywarpError
from anywarp.runtime import overlay
from deploy.image.layouts import LIBC, Layout, images, read
from deploy.image.test_wrap import MACHINE
from fakes import wheels

OF = f"python{sys.version_info[0]}.{sys.version_info[1]}"
SITE = f"usr/local/lib/{OF}/dist-packages"
SYSTEM = {
    "usr/lib/x86_64-linux-gnu/libc.so.6": LIBC, "lib": ("link", "usr/lib"), "usr/bin/python3": ("link", OF), f"usr/bin/{OF}": b"\x7fELF",
    f"usr/lib/{OF}/ctypes/__init__.py": b"",
}  # fmt: skip


def package(name, version, files=None, needs=(), site=SITE):
    """Return an installed package as files of a layer."""
    return {f"{site}/{path}": data for path, data in wheels.installed(name, version, files, needs).items()}


INSTALLED = {
    **package("torch", "2.10.0+cu128", wheels.torch("2.10.0+cu128", cuda="12.8"), ["filelock"]),
    **package("filelock", "3.20.0"),
    **package("cupy-cuda12x", "0.0.1"),
}


@pytest.fixture
def index(tmp_path):
    folder = tmp_path / "index"
    wheels.wheel(
        folder,
        "torch",
        "2.10.0+rocm7.1",
        wheels.torch("2.10.0+rocm7.1", hip="7.1.25424"),
        ["filelock", "pytorch-triton-rocm==3.6.0"],
    )
    wheels.wheel(folder, "pytorch-triton-rocm", "3.6.0", {"triton/__init__.py": "__version__ = '3.6.0'\n"})
    return folder


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(carried, "_anywarp", lambda: iter([Entry("opt/anywarp/site/anywarp/__init__.py", b"x = 1\n")]))
    monkeypatch.setattr(carried, "_packages", lambda: iter([]))


def asked(index):
    return overlaid.Asked("", "pip", Sources("", (str(index),), True))


def unpacked(out, root):
    """Unpack all layers of the one image of a layout, lowest first."""
    ((_, manifest, _),) = images(out)
    for layer in manifest["layers"]:
        data = read(out, layer)
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            archive.extraction_filter = getattr(tarfile, "tar_filter", None)  # Debian 12's Python 3.11.2 has no filters
            archive.extractall(root)
    return root


def test_counterparts_lie_in_the_layer_and_a_run_in_the_image_finds_them(small, index, tmp_path, monkeypatch):
    made = Layout(tmp_path / "in")
    source = made.write(made.image(SYSTEM, INSTALLED, machine=MACHINE, Entrypoint=["serve"]))
    done = wrap.wrap(source, tmp_path / "out", wrap.Choice("hip", packages=asked(index)))
    record = done.wrapped[0].overlay
    assert [(one.name, one.version) for one in record.laid] == [
        ("pytorch-triton-rocm", "3.6.0"),
        ("torch", "2.10.0+rocm7.1"),
    ]
    root = unpacked(tmp_path / "out", tmp_path / "root")

    monkeypatch.setattr(overlay, "IMAGE", root / overlay.IMAGE.relative_to("/"))
    assert overlay.find(tmp_path / "no-cache", "/usr") == record
    assert overlay.find(tmp_path / "no-cache", "/opt/conda") is None
    there = dataclasses.replace(
        record,
        overlay=str(root / record.overlay.lstrip("/")),
        replaced=tuple(dataclasses.replace(one, place=str(root / one.place.lstrip("/"))) for one in record.replaced),
    )
    assert overlay.misfits(there) == []
    assert "2.10.0+rocm7.1" in (Path(there.overlay) / "torch" / "version.py").read_text()
    (Path(there.replaced[0].place) / "METADATA").write_text("Name: torch\nVersion: 9\n")
    assert overlay.misfits(there) == ["torch 2.10.0+cu128 has been installed anew since"]


def test_the_same_image_and_packages_give_the_same_bytes(small, index, tmp_path):
    made = Layout(tmp_path / "in")
    source = made.write(made.image(SYSTEM, INSTALLED, machine=MACHINE))
    one, two = (wrap.wrap(source, tmp_path / name, wrap.Choice("hip", packages=asked(index))) for name in "ab")
    assert one.wrapped[0].new == two.wrapped[0].new
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "in", "index"]


def test_a_virtual_environment_first_on_the_path_is_the_one_that_gets_them(tmp_path):
    image = contents.Contents(
        links={"venv/bin/python3": "/usr/bin/python3", "usr/bin/python3": OF},
        files={f"usr/bin/{OF}": "", "venv/pyvenv.cfg": ""},
    )
    found = overlaid.environment(image, "/venv/bin:/usr/bin")
    assert found.prefix == "venv" and found.folders[0] == f"venv/lib/{OF}/site-packages"
    assert overlaid.environment(image, "/usr/bin").prefix == "usr"
    with pytest.raises(AnywarpError, match="no Python is on the image's PATH"):
        overlaid.environment(image, "/opt/bin")


def test_what_a_later_layer_removes_is_no_package_any_more(tmp_path):
    made = Layout(tmp_path / "in")
    gone = {f"{SITE}/.wh.torch-2.10.0+cu128.dist-info": b""}
    made.write(made.image(SYSTEM, INSTALLED, gone, machine=MACHINE))
    ((_, manifest, config),) = images(made.root)
    with layout.opened(made.root) as opened:
        layers = [layout.Descriptor.read(one) for one in manifest["layers"]]
        found = contents.read(opened, layers, config["rootfs"]["diff_ids"], lambda count: None, packages=True)
    assert {path.split("/")[-2] for path in found.metadata if ".dist-info/" in path} == {
        "filelock-3.20.0.dist-info",
        "cupy_cuda12x-0.0.1.dist-info",
    }


def test_an_image_of_another_python_and_one_without_counterparts_are_refused(small, index, tmp_path, monkeypatch):
    made = Layout(tmp_path / "in")
    source = made.write(made.image(SYSTEM, package("filelock", "3.20.0"), machine=MACHINE))
    with pytest.raises(AnywarpError) as caught:
        wrap.wrap(source, tmp_path / "out", wrap.Choice("hip", packages=asked(index)))
    assert caught.value.diagnostic.code == "Y063"
    monkeypatch.setattr(overlaid, "environment", lambda image, path: overlaid.Environment("usr", (3, 9), (SITE,)))
    with pytest.raises(AnywarpError, match=r"packages are for Python 3\.9, and this is Python") as caught:
        wrap.wrap(source, tmp_path / "out", wrap.Choice("hip", packages=asked(index)))
    assert caught.value.diagnostic.code == "Y126" and not (tmp_path / "out").exists()


def test_options_that_do_not_go_together_are_refused(tmp_path):
    source = str(Layout(tmp_path / "in").write())
    for words in (["--rocm-packages"], ["--device", "hip", "--no-index"]):
        done = CliRunner().invoke(command, ["wrap", source, "-o", str(tmp_path / "out"), *words])
        assert done.exit_code == 2 and "go with" in done.output


def test_sitecustomize_looks_where_the_image_has_records():
    text = (Path(overlay.__file__).parent / "site" / "sitecustomize.py").read_text()
    assert json.dumps(str(overlay.IMAGE)) in text
