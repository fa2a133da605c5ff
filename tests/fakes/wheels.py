"""Wheels and environments of a few files each: what an index would hand out, and what `anywarp env` finds installed.

Formats: the binary distribution format and "recording installed projects", packaging.python.org.
"""

import base64
import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

UV = f"""#!{sys.executable}
# Takes the options that `anywarp env` gives to uv and unpacks wheels from $FAKE_INDEX; $FAKE_UV says what goes wrong.
import os, sys, time, zipfile
from pathlib import Path
words = sys.argv[1:]
with open(os.environ["FAKE_LOG"], "a") as log:
    log.write(" ".join(words) + "\\n")
target = Path(words[words.index("--target") + 1])
trouble = os.environ.get("FAKE_UV", "")
for asked in words[words.index("--") + 1:]:
    name, _, version = asked.partition("==")
    wheels = sorted(Path(os.environ["FAKE_INDEX"]).glob(name.replace("-", "_") + "-" + version + "-*.whl" if version else name.replace("-", "_") + "-*.whl"))
    if not wheels:
        sys.exit("error: there is no version of " + asked)
    with zipfile.ZipFile(wheels[-1]) as wheel:
        members = wheel.namelist()
        if trouble == "hang":
            members = members[:1]
        if trouble == "cut":
            members = members[1:]
        wheel.extractall(target, members)
    if trouble == "full":
        sys.exit("error: failed to write: No space left on device (os error 28)")
    if trouble == "hang":
        (Path(os.environ["FAKE_LOG"]).parent / "hangs").touch()
        time.sleep(60)
time.sleep(0.3 if trouble == "slow" else 0)
"""


def _files(name, version, files, needs):
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {name}",
        f"Version: {version}",
        *(f"Requires-Dist: {need}" for need in needs),
    ]
    held = {path: text.encode() for path, text in files.items()}
    held[f"{info}/METADATA"] = ("\n".join(lines) + "\n\n").encode()
    held[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: fake\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    rows = []
    for path, data in held.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append(f"{path},sha256={digest},{len(data)}")
    held[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""]).encode()
    return info, held


def wheel(folder, name, version, files=None, needs=()):
    """Write a wheel into `folder`; without files it holds a module of its name that tells its version."""
    files = files or {f"{name.replace('-', '_')}/__init__.py": f"__version__ = {version!r}\n"}
    _, held = _files(name, version, files, needs)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in held.items():
            archive.writestr(name, data)
    return path


def torch(version, cuda=None, hip=None):
    """Return the files of a torch as far as anybody looks before importing it, and what tells its build when it is."""
    text = f"__version__ = {version!r}\ncuda = {cuda!r}\nhip = {hip!r}\ngit_version = 'ab'\n"
    return {
        "torch/__init__.py": "from torch.version import __version__\n",
        "torch/version.py": text,
        "torch/lib/libtorch_cpu.so": "",
    }


def installed(name, version, files, needs=()):
    """Return what an installed package has in its folder of packages, by path."""
    files = files or {f"{name.replace('-', '_')}/__init__.py": f"__version__ = {version!r}\n"}
    return _files(name, version, files, needs)[1]


class Environment:
    """A virtual environment without pip, with packages written into it file by file."""

    def __init__(self, folder):
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--symlinks", folder], check=True, timeout=60)
        self.folder = folder
        self.python = folder / "bin" / "python"
        (self.packages,) = folder.glob("lib/python3*/site-packages")

    def install(self, name, version, files=None, needs=()):
        """Install a package as pip would, and return the folder of its metadata."""
        held = installed(name, version, files, needs)
        info = next(path for path in held if path.endswith("/METADATA")).partition("/")[0]
        for path, data in held.items():
            place = self.packages / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        return self.packages / info

    def state(self):
        """Return every file with its time and content: what must not change."""
        found = {}
        for path in sorted(self.folder.rglob("*")):
            status = path.lstat()
            data = path.read_bytes() if path.is_file() and not path.is_symlink() else None
            found[str(path)] = (status.st_mtime_ns, status.st_mode, data)
        return found

    def run(self, code, env, *options):
        """Run Python code in the environment and return its output."""
        done = subprocess.run([self.python, *options, "-c", code], env=env, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


def uv(folder):
    """Put the fake uv into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "uv").write_text(UV)
    os.chmod(folder / "uv", 0o755)
    return Path(folder)
