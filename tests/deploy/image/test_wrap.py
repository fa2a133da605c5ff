"""`anywarp image wrap`: one layer more, a start through anywarp, and everything else as it was; the same bytes each time."""

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from anywarp.deploy.image import carried, contents, layout, wants, wrap
from anywarp.deploy.image.entries import Entry
from anywarp.diagnostics import AnywarpError
from deploy.image.layouts import SYSTEM, Layout, images, read

MACHINE = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)
OTHER = "arm64" if MACHINE == "amd64" else "amd64"
START = ["/opt/anywarp/bin/anywarp", "run", "--device", "cpu", "--"]


@pytest.fixture
def small(monkeypatch):
    """Have the layer carry a few files in the place of half a gigabyte."""
    monkeypatch.setattr(carried, "_anywarp", lambda: iter([Entry("opt/anywarp/site/anywarp/__init__.py", b"x = 1\n")]))
    monkeypatch.setattr(carried, "_packages", lambda: iter([Entry("opt/anywarp/site/lib.so.1", link="lib.so.1.2")]))
    monkeypatch.setattr(carried, "_packages_for", lambda version: [])


def wrapped(made, tmp_path, name="out", **choice):
    done = wrap.wrap(made, tmp_path / name, wrap.Choice(**choice))
    return done, tmp_path / name


def refused(made, tmp_path, code, **choice):
    with pytest.raises(AnywarpError) as caught:
        wrap.wrap(made, tmp_path / "out", wrap.Choice(**choice))
    assert caught.value.diagnostic.code == code
    assert sorted(path.name for path in tmp_path.iterdir() if path != made) == []  # nothing is left behind
    return caught.value.diagnostic


@pytest.fixture
def made(tmp_path):
    return Layout(tmp_path / "in")


@pytest.mark.parametrize("packing", ["gzip", "zstd", ""])
def test_an_image_gets_a_layer_and_starts_through_anywarp(small, made, tmp_path, packing):
    config = {
        "Entrypoint": ["/entrypoint.sh"], "Cmd": ["serve", "--port", "80"], "User": "1000:1000", "WorkingDir": "/srv",
        "Env": ["PATH=/usr/bin", "NVIDIA_VISIBLE_DEVICES=all", "CUDA_HOME=/usr/local/cuda", "NVIDIA_REQUIRE_CUDA=cuda>=12"],
        "Labels": {"mine": "stays"}, "Volumes": {"/data": {}}, "Shell": ["/bin/bash", "-c"],
    }  # fmt: skip
    entry = made.image(SYSTEM, {"srv/model": b"weights"}, packing=packing, machine=MACHINE, **config)
    source = made.write(entry)
    done, out = wrapped(source, tmp_path)
    ((new, manifest, told),) = images(out)
    (old, before, _) = images(source)[0]
    assert done.wrapped[0].removed == ["NVIDIA_VISIBLE_DEVICES=all", "NVIDIA_REQUIRE_CUDA=cuda>=12"]
    assert manifest["layers"][:2] == before["layers"] and len(manifest["layers"]) == 3
    assert told["config"]["Entrypoint"] == [*START, "/entrypoint.sh"]
    assert told["config"]["Env"] == ["PATH=/usr/bin", "CUDA_HOME=/usr/local/cuda"]
    for name in ("Cmd", "User", "WorkingDir", "Volumes", "Shell"):
        assert told["config"][name] == config[name]
    assert (
        told["config"]["Labels"].items()
        >= {"mine": "stays", "anywarp.device": "cpu", "anywarp.base": old["digest"]}.items()
    )
    assert len(told["history"]) == 3 and "anywarp image wrap" in told["history"][-1]["created_by"]
    assert new["platform"] == old["platform"] and new["digest"] != old["digest"]
    with tarfile.open(fileobj=io.BytesIO(unpacked(out, manifest["layers"][-1]))) as archive:
        members = {info.name: info for info in archive}
        assert archive.extractfile("opt/anywarp/bin/anywarp").read().startswith(b"#!/usr/bin/python3.11 -IS\n")
    assert members["opt/anywarp/bin/anywarp"].mode == 0o755
    assert all(name == "opt" or name.startswith("opt/anywarp") for name in members)
    assert {(info.uid, info.gid, info.mtime) for info in members.values()} == {(0, 0, 315532800)}


def unpacked(root, descriptor):
    import gzip

    return gzip.decompress(read(root, descriptor))


@pytest.mark.parametrize(
    ("config", "entrypoint", "cmd"),
    [
        ({}, START, None),
        ({"Cmd": ["python3", "x.py"]}, START, ["python3", "x.py"]),
        # The shell form is what a builder makes of it: an argument list with a shell in front (Dockerfile reference).
        ({"Entrypoint": ["/bin/sh", "-c", "exec python3 x.py"]}, [*START, "/bin/sh", "-c", "exec python3 x.py"], None),
        ({"Entrypoint": None, "Cmd": ["/bin/sh", "-c", "echo $HOME"]}, START, ["/bin/sh", "-c", "echo $HOME"]),
    ],
)
def test_forms_of_entry_points(small, made, tmp_path, config, entrypoint, cmd):
    _, out = wrapped(made.write(made.image(SYSTEM, machine=MACHINE, **config)), tmp_path)
    told = images(out)[0][2]["config"]
    assert told["Entrypoint"] == entrypoint and told.get("Cmd") == cmd


def test_the_same_image_gives_the_same_bytes_as_folder_and_archive(small, made, tmp_path):
    source = made.write(made.image(SYSTEM, machine=MACHINE))
    for name in ("one", "two", "one.tar", "two.tar"):
        wrapped(source, tmp_path, name)
    assert content(tmp_path / "one") == content(tmp_path / "two")
    assert (tmp_path / "one.tar").read_bytes() == (tmp_path / "two.tar").read_bytes()
    _, again = wrapped(source, tmp_path, "three", compression="zstd")
    assert images(again)[0][1]["layers"][-1]["mediaType"].endswith("+zstd")


def content(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_an_image_in_dockers_format_keeps_it(small, made, tmp_path):
    entry = made.image(SYSTEM, machine=MACHINE, manifest={"mediaType": wrap._DOCKER})
    _, out = wrapped(made.write({**entry, "mediaType": wrap._DOCKER}), tmp_path)
    ((new, manifest, _),) = images(out)
    assert new["mediaType"] == manifest["mediaType"] == wrap._DOCKER
    assert manifest["layers"][-1]["mediaType"] == "application/vnd.docker.image.rootfs.diff.tar.gzip"


def test_an_archive_is_read_as_a_folder_is(small, made, tmp_path):
    source = made.write(made.image(SYSTEM, machine=MACHINE))
    with tarfile.open(tmp_path / "in.tar", "w") as archive:
        archive.add(source, ".")
    wrapped(source, tmp_path, "a")
    wrapped(tmp_path / "in.tar", tmp_path, "b")
    assert content(tmp_path / "a") == content(tmp_path / "b")


def test_other_platforms_stay_and_attestations_of_what_changed_go(small, made, tmp_path):
    ours, other = made.image(SYSTEM, machine=MACHINE), made.image({"a": b"b"}, machine=OTHER)
    proof = made.image({"proof": b""}, machine="unknown", manifest={"annotations": {"x": "y"}})
    proofs = [{**proof, "annotations": {"vnd.docker.reference.digest": one["digest"]}} for one in (ours, other)]
    inner = made.json({"schemaVersion": 2, "manifests": [ours, other, *proofs]}, wrap._INDEXES[0])
    source = made.write(inner)
    done, out = wrapped(source, tmp_path)
    (top,) = json.loads((out / "index.json").read_text())["manifests"]
    kept = json.loads(read(out, top))["manifests"]
    assert [one["digest"] for one in kept[1:]] == [other["digest"], proof["digest"]] and kept[0]["digest"] != ours[
        "digest"
    ]
    assert done.dropped == 1 and f"linux/{OTHER}" in done.kept
    assert (out / "blobs" / other["digest"].replace(":", "/")).read_bytes() == (
        source / "blobs" / other["digest"].replace(":", "/")
    ).read_bytes()


def test_an_image_for_other_machines_alone_is_refused(small, made, tmp_path):
    said = refused(made.write(made.image(SYSTEM, machine=OTHER)), tmp_path, "Y121")
    assert f"linux/{OTHER}" in said.message


def test_what_is_wrapped_is_not_wrapped_again(small, made, tmp_path):
    _, out = wrapped(made.write(made.image(SYSTEM, machine=MACHINE)), tmp_path)
    with pytest.raises(AnywarpError) as caught:
        wrap.wrap(out, tmp_path / "twice", wrap.Choice())
    assert caught.value.diagnostic.code == "Y125"


# --- which Python, which C library ---------------------------------------------------------------------------------------------


def without(*names, **others):
    return {name: content for name, content in SYSTEM.items() if name not in names} | others


CONDA = {
    "opt/conda/bin/python": ("link", "python3.12"),
    "opt/conda/bin/python3.12": b"\x7fELF",
    "opt/conda/lib/python3.12/ctypes/__init__.py": b"",
}


@pytest.mark.parametrize(
    ("layers", "env", "expected"),
    [
        ([SYSTEM], [], ("/usr/bin/python3.11", (3, 11))),
        ([SYSTEM, CONDA], ["PATH=/opt/conda/bin:/usr/bin"], ("/opt/conda/bin/python3.12", (3, 12))),
        ([SYSTEM, CONDA], ["PATH=/usr/bin"], ("/usr/bin/python3.11", (3, 11))),
        ([SYSTEM, CONDA, {"opt/.wh.conda": b""}], ["PATH=/opt/conda/bin:/usr/bin"], ("/usr/bin/python3.11", (3, 11))),
        ([SYSTEM, CONDA, {"opt/conda/.wh..wh..opq": b""}], ["PATH=/opt/conda/bin:/usr/bin"], ("/usr/bin/python3.11", (3, 11))),
        # A virtual environment: its links lead to the interpreter that it was made with.
        ([SYSTEM, {"venv/bin/python3": ("link", "/usr/bin/python3")}], ["PATH=/venv/bin"], ("/usr/bin/python3.11", (3, 11))),
        ([without("usr/bin/python3"), {"usr/bin/python3": ("link", "/etc/alternatives/python"), "etc/alternatives/python": ("link", "../../usr/bin/python3.11")}], [], ("/usr/bin/python3.11", (3, 11))),
    ],
)  # fmt: skip
def test_the_images_own_python_is_found(small, made, tmp_path, layers, env, expected):
    with layout.opened(made.write(made.image(*layers, machine=MACHINE, Env=env))) as opened:
        entry = layout.Descriptor.read(json.loads((made.root / "index.json").read_text())["manifests"][0])
        manifest = layout.named(opened, entry)
        told = layout.named(opened, layout.Descriptor.read(manifest["config"]))
        found = contents.read(
            opened,
            [layout.Descriptor.read(one) for one in manifest["layers"]],
            told["rootfs"]["diff_ids"],
            lambda count: None,
        )
    python = wrap._python_of(found, env)
    assert (python.path, python.version) == expected


@pytest.mark.parametrize(
    ("files", "code", "words"),
    [
        (without("usr/bin/python3", "usr/bin/python3.11"), "Y122", "no Python"),
        (without("usr/lib/python3.11/ctypes/__init__.py"), "Y122", "without its standard library"),
        (without("usr/bin/python3", "usr/bin/python3.11") | {"usr/bin/python3": ("link", "python3.8"), "usr/bin/python3.8": b""}, "Y122", "python3.8"),
        (without("usr/lib/x86_64-linux-gnu/libc.so.6"), "Y123", "no glibc"),
        (without("usr/lib/x86_64-linux-gnu/libc.so.6") | {"lib/ld-musl-x86_64.so.1": b""}, "Y123", "musl"),
    ],
)  # fmt: skip
def test_an_image_that_cannot_run_anywarp_is_refused_by_name(small, made, tmp_path, files, code, words):
    said = refused(made.write(made.image(files, machine=MACHINE, Env=["PATH=/usr/bin"])), tmp_path, code)
    assert words in said.message


def test_a_glibc_that_is_too_old_is_refused_with_the_file_that_asks(small, made, tmp_path, monkeypatch):
    monkeypatch.setattr(wants, "of", lambda entries: wants.Wants((2, 37), "opt/anywarp/x.so", {}))
    said = refused(made.write(made.image(SYSTEM, machine=MACHINE)), tmp_path, "Y123")
    assert "glibc 2.36" in said.message and "opt/anywarp/x.so needs 2.37" in said.message
    monkeypatch.setattr(wants, "of", lambda entries: wants.Wants((2, 36), "x", {"libodd.so.7": "opt/anywarp/y.so"}))
    assert "libodd.so.7" in refused(made.root, tmp_path, "Y123").message


def test_what_libraries_ask_for_is_read_as_readelf_reads_it():
    paths = sorted(
        {Path(line.split()[-2]).resolve() for line in ldd("/bin/ls") if "=> /" in line and "libc.so" not in line}
    )
    entries = [Entry(f"x/{path.name}", path) for path in paths]
    told = subprocess.run(["readelf", "-V", *map(str, paths)], capture_output=True, text=True, check=True)
    names = [
        word
        for line in told.stdout.splitlines()
        if "Name: GLIBC_2" in line
        for word in line.split()
        if word.startswith("GLIBC_2")
    ]
    assert wants.of(entries).glibc == max(tuple(map(int, name[6:].split(".")[:2])) for name in names)


def ldd(program):
    return subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout.splitlines()


def test_a_python_of_ones_own_is_carried(small, made, tmp_path):
    own = tmp_path / "in" / "own"
    for name in (
        "bin/python3.12",
        "lib/python3.12/os.py",
        "lib/python3.12/site-packages/x.py",
        "lib/python3.12/test/y.py",
        "include/z.h",
    ):
        (own / name).parent.mkdir(parents=True, exist_ok=True)
        (own / name).write_bytes(b"")
    (own / "bin" / "python3.12").write_bytes(
        Path("/bin/true").read_bytes()
    )  # an ELF program that needs the C library alone
    (own / "bin" / "python3").symlink_to("python3.12")
    (own / "lib" / "outside.so").symlink_to("/etc/passwd")
    bare = without("usr/bin/python3", "usr/bin/python3.11")
    done, out = wrapped(made.write(made.image(bare, machine=MACHINE)), tmp_path, python=own)
    manifest = images(out)[0][1]
    with tarfile.open(fileobj=io.BytesIO(unpacked(out, manifest["layers"][-1]))) as archive:
        names = {info.name.removeprefix("opt/anywarp/python/") for info in archive if "/python/" in info.name}
        links = {info.name: info.linkname for info in archive if info.issym()}
    assert "carried" in done.wrapped[0].python
    assert {"bin/python3.12", "bin/python3", "lib/python3.12/os.py"} <= names
    assert not any("site-packages" in name or "/test/" in name or name.startswith("include") for name in names)
    assert all(not target.startswith("/") for target in links.values())
    shared = tmp_path / "in" / "shared"
    for name in ("bin", "lib"):
        (shared / name).mkdir(parents=True)
    (shared / "bin" / "python3.12").write_bytes(Path("/bin/true").read_bytes())
    (shared / "lib" / "libc.so.6").write_bytes(b"")  # a library of its own, and no word of where it lies
    with pytest.raises(AnywarpError) as caught:
        carried.relocatable(shared)
    assert caught.value.diagnostic.code == "Y122" and "libc.so.6" in caught.value.diagnostic.message
    (tmp_path / "in" / "venv").mkdir()
    with pytest.raises(AnywarpError):
        carried.relocatable(tmp_path / "in" / "venv")


# --- hostile layouts --------------------------------------------------------------------------------------------------------------


def bad_digest(made):
    entry = made.image(SYSTEM, machine=MACHINE)
    layer = json.loads((made.root / "blobs" / entry["digest"].replace(":", "/")).read_text())["layers"][0]
    path = made.root / "blobs" / layer["digest"].replace(":", "/")
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    return entry


def another_configuration(made):
    entry = made.image(SYSTEM, machine=MACHINE)
    config = json.loads(read(made.root, entry))["config"]
    path = made.root / "blobs" / config["digest"].replace(":", "/")
    path.write_bytes(path.read_bytes().replace(b"by hand", b"by hans"))
    return entry


def a_link_for_a_blob(made):
    entry = made.image(SYSTEM, machine=MACHINE)
    path = made.root / "blobs" / entry["digest"].replace(":", "/")
    path.rename(made.root / "elsewhere")
    path.symlink_to(made.root / "elsewhere")
    return entry


def a_fifo_for_a_blob(made):
    entry = made.image(SYSTEM, machine=MACHINE)
    path = made.root / "blobs" / entry["digest"].replace(":", "/")
    path.unlink()
    os.mkfifo(path)
    return entry


def bomb(made):
    import zlib

    packer = zlib.compressobj(9, wbits=31)
    data = b"".join(packer.compress(bytes(1 << 20)) for _ in range(24)) + packer.flush()
    plain = made.image(SYSTEM, machine=MACHINE)
    manifest = json.loads(read(made.root, plain))
    manifest["layers"][0] = made.blob(data, "application/vnd.oci.image.layer.v1.tar+gzip")
    return made.json(manifest, plain["mediaType"])


def huge_header(made):
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, 1 << 33
    return made.image(info.tobuf(format=tarfile.GNU_FORMAT) + bytes(1 << 16), machine=MACHINE)


def another_diff(made):
    entry = made.image(SYSTEM, machine=MACHINE)
    manifest = json.loads(read(made.root, entry))
    config = json.loads(read(made.root, manifest["config"]))
    config["rootfs"]["diff_ids"] = ["sha256:" + "0" * 64]
    manifest["config"] = made.json(config, manifest["config"]["mediaType"])
    return made.json(manifest, entry["mediaType"])


def changed(**parts):
    def make(made):
        return {**made.image(SYSTEM, machine=MACHINE), **parts}

    make.__name__ = "-".join(parts)
    return make


def layers(files):
    def make(made):
        return made.image(files, machine=MACHINE)

    return make


def lists(**parts):
    def make(made):
        entry = made.image(SYSTEM, machine=MACHINE)
        return made.json({**json.loads(read(made.root, entry)), **parts}, entry["mediaType"])

    return make


def nested(made):
    entry = made.image(SYSTEM, machine=MACHINE)
    for _ in range(8):
        entry = made.json({"schemaVersion": 2, "manifests": [entry]}, wrap._INDEXES[0])
    return entry


@pytest.mark.parametrize(
    "make",
    [
        bad_digest, another_configuration, a_link_for_a_blob, a_fifo_for_a_blob, bomb, huge_header, another_diff, nested,
        changed(digest="sha256:../../../etc/passwd"), changed(digest="md5:00"), changed(size=-1), changed(size=True), changed(size=1 << 40),
        changed(urls=["https://elsewhere.example/x"]), changed(digest="sha256:" + "0" * 64),
        layers({"../../etc/passwd": b"x"}), layers({"a/../../b": b"x"}), layers({"usr/bin/python3": ("hard", "../../etc/passwd")}),
        layers(b"no archive at all" * 100), lists(layers="x"), lists(layers=[7]), lists(config=None), lists(layers=[]),
    ],
)  # fmt: skip
def test_a_hostile_layout_is_refused_and_nothing_is_written(small, made, tmp_path, make, monkeypatch):
    monkeypatch.setattr(contents, "_FIRST", 1 << 20)  # else a bomb must be a gibibyte to be one
    refused(made.write(make(made)), tmp_path, "Y120")


@pytest.mark.parametrize(
    "told", ["", "{", "[]", '{"manifests": 7}', '{"manifests": [7]}', '{"manifests": [' + "[" * 5000]
)
def test_an_index_that_is_none_is_refused(small, made, tmp_path, told):
    (made.root / "index.json").write_text(told)
    refused(made.root, tmp_path, "Y120")


def test_links_in_the_image_lead_nowhere_outside_and_in_no_circle():
    found = contents.Contents(links={"a": "b", "b": "a", "up": "../../../etc", "in": "/usr"}, files={"usr/x.so": ""})
    assert (
        found.resolve("a/x") == ""
        and found.resolve("up/passwd") == "etc/passwd"
        and found.resolve("in/x.so") == "usr/x.so"
    )


def test_a_place_that_is_taken_is_refused(small, made, tmp_path):
    source = made.write(made.image(SYSTEM, machine=MACHINE))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("stays")
    with pytest.raises(AnywarpError) as caught:
        wrap.wrap(source, tmp_path / "out", wrap.Choice())
    assert caught.value.diagnostic.code == "Y124" and (tmp_path / "out" / "mine").read_text() == "stays"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]


def test_bytecode_is_that_of_the_sources_and_the_same_in_every_process():
    code = "import sys; from anywarp.deploy.image import carried; from anywarp.deploy.image.entries import Entry; from pathlib import Path; import hashlib; print(hashlib.sha256(b''.join(e.content for e in carried._compiled([Entry('x/a.py', Path(carried.__file__))]))).hexdigest())"
    found = {
        subprocess.run([sys.executable, "-c", extra + code], capture_output=True, text=True, check=True).stdout
        for extra in ("", "import json, email, html, anywarp.cli.main; ")
    }
    assert len(found) == 1


@pytest.mark.long  # half a minute of compiling modules
@pytest.mark.native
def test_what_is_carried_runs_a_program_by_itself(tmp_path):
    for entry in carried.entries(carried.Interpreter(sys.executable, sys.version_info[:2])):
        place = tmp_path / entry.path
        place.parent.mkdir(parents=True, exist_ok=True)
        if entry.link:
            place.symlink_to(entry.link)
        elif isinstance(entry.content, bytes):
            place.write_bytes(entry.content)
        else:
            shutil.copyfile(entry.content, place)
            place.chmod(entry.mode)
    program = f"import sys; sys.path.append({str(tmp_path / carried.SITE)!r}); import anywarp; assert anywarp.__file__.startswith({str(tmp_path)!r}); from anywarp.cli.main import main; main()"
    python = Path(sys.executable).resolve()  # the interpreter without this environment's packages
    ask = "import ctypes; cuda = ctypes.CDLL('libcuda.so.1'); assert cuda.cuInit(0) == 0; n = ctypes.c_int(); cuda.cuDeviceGetCount(ctypes.byref(n)); print(n.value)"
    done = subprocess.run(
        [python, "-IS", "-c", program, "run", "--device", "cpu", "--", python, "-c", ask],
        capture_output=True, text=True, check=False, env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout == "1\n", done.stderr
