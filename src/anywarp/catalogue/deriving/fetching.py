"""Fetch an input by its version with its registry's own client, check it, and keep it under its checksum outside the repository.

Which index pip asks and which mirror apt asks is the machine's configuration; no registry is named here. Nothing that is fetched is run or
installed. What a registry no longer has may be put into the folder by hand: the checksum says whether it is the right file.
"""

from __future__ import annotations

import ast
import hashlib
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from packaging.utils import parse_wheel_filename

from anywarp.catalogue.deriving.inputs import Input

_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")  # of Debian's package debian-archive-keyring


class NotFetched(RuntimeError):
    """Raised for an input that cannot be had, or is not the one that was named; says what to do."""


@dataclass
class Store:
    """The folder that inputs are kept in, and the mirror of Debian if it is not the machine's own."""

    folder: Path
    mirror: str = ""
    _apt: dict[str, Path] = field(default_factory=dict[str, Path])

    def place(self, each: Input) -> Path:
        """Return where the file of an input is kept."""
        return self.folder / "inputs" / each.sha256 / each.file

    def keep(self, each: Input) -> Path:
        """Return the file of an input, fetched if it is not there; NotFetched where that fails or the checksum is another one."""
        path = self.place(each)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=path.parent) as folder:
                found = self._fetch(each, Path(folder))
                self._check(each, found)
                found.replace(path)
        else:
            self._check(each, path)
        return path

    def fetch_anew(self, each: Input, into: Path) -> Path:
        """Fetch an input without looking at its checksum, for one whose version has just been changed."""
        return self._fetch(each, into)

    def _fetch(self, each: Input, into: Path) -> Path:
        match each.kind:
            case "pypi":
                _pip(each, into)
            case "debian":
                self._apt_get(each, into)
            case "git":
                _git(each, into)
        found = [path for path in into.iterdir() if path.is_file()]
        if len(found) != 1:
            raise NotFetched(f"{each.name}: expected one file of {each.package} {each.version}, got {len(found)}")
        return found[0]

    def _check(self, each: Input, path: Path) -> None:
        got = checksum(path)
        if got != each.sha256:
            raise NotFetched(
                f"{each.name}: {path.name} has the SHA-256 {got}, expected {each.sha256}; remove it if it lies in {self.folder}"
            )

    def _apt_get(self, each: Input, into: Path) -> None:
        settings = self._apt_settings(each.place)
        command = ["apt-get", "-c", str(settings), "-q", "download", f"{each.package}={each.version}"]
        _run(each, command, into, self._by_hand(each))

    def _by_hand(self, each: Input) -> str:
        return (
            f"if {each.place} has another version by now, put {each.file} (Debian's archive of snapshots has it) into"
            f" {self.place(each).parent}"
        )

    def _apt_settings(self, suite: str) -> Path:
        """Return settings for an apt of our own that knows one suite, its lists fetched: the machine's apt stays as it is."""
        if suite in self._apt:
            return self._apt[suite]
        root = self.folder / "apt" / suite
        for part in ("lists/partial", "cache/archives/partial"):
            (root / part).mkdir(parents=True, exist_ok=True)
        signed = f"[signed-by={_KEYRING}] " if _KEYRING.exists() else ""
        (root / "sources.list").write_text(f"deb {signed}{self.mirror or _mirror()} {suite} main\n", encoding="utf-8")
        (root / "apt.conf").write_text(
            f'Dir::State "{root}"; Dir::State::status "/dev/null"; Dir::Cache "{root / "cache"}"; Dir::Etc::sourcelist "{root / "sources.list"}";\n'
            'Dir::Etc::sourceparts "-"; Acquire::Languages "none"; APT::Architecture "amd64"; APT::Sandbox::User "";\n',
            encoding="utf-8",
        )
        command = ["apt-get", "-c", str(root / "apt.conf"), "-q", "update"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NotFetched(f"apt-get update of {suite} failed: {done.stderr.strip()[-400:]}")
        self._apt[suite] = root / "apt.conf"
        return self._apt[suite]


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _mirror() -> str:
    try:
        command = ["apt-get", "indextargets", "--format", "$(ORIGIN)|$(RELEASE)|$(REPO_URI)"]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise NotFetched(f"packages of Debian are fetched with apt-get, which failed here: {error}") from None
    for line in text.splitlines():
        origin, release, uri = line.split("|")
        if origin == "Debian" and "-" not in release:
            return uri
    raise NotFetched("this machine's apt knows no mirror of Debian: give one with --mirror")


def _pip(each: Input, into: Path) -> None:
    command = [*_pip_settings(), sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--only-binary=:all:", f"--dest={into}"]
    if each.file:
        _, _, _, tags = parse_wheel_filename(each.file)
        tag = sorted(tags, key=str)[0]
        command += [f"--platform={platform}" for platform in sorted({one.platform for one in tags})]
        command += [f"--implementation={tag.interpreter[:2]}", f"--abi={tag.abi}"]
        command += [f"--python-version={tag.interpreter[2:]}"] if tag.interpreter[2:] not in ("2", "3") else []
    _run(each, [*command, f"{each.package}==={each.version}"], into, "the index has no such file")


def _pip_settings() -> list[str]:
    """Return what starts pip with its settings of this machine, less constraints: what is fetched is exact, and installed nowhere."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    said = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False).stdout
    found: dict[str, dict[str, str]] = {":env:": {}, "global": {}, "download": {}}
    # global.index-url='...', and those of the environment, which prevail: :env:.index-url='...'
    for line in said.splitlines():
        name, _, value = line.partition("=")
        section, _, key = name.rpartition(".")
        found.setdefault(section, {})[key] = value
    kept = {**found["global"], **found["download"]}
    words = [
        f"PIP_{key.upper().replace('-', '_')}={ast.literal_eval(value)}"
        for key, value in kept.items()
        if key != "constraint" and key not in found[":env:"]
    ]
    return ["env", "-u", "PIP_CONSTRAINT", "PIP_CONFIG_FILE=/dev/null", *words]


def _git(each: Input, into: Path) -> None:
    """Fetch one tag and pack the paths wanted: a tar of git's is the same bytes for the same tree."""
    with tempfile.TemporaryDirectory() as folder:
        git = ["git", "-C", folder, "-c", "protocol.allow=never", "-c", "protocol.https.allow=always"]
        help = (
            f"pack it by hand with `git archive --format=tar {each.version} -- {each.place}` as {each.file}, for --keep"
        )
        _run(each, ["git", "init", "-q", folder], into, help)
        _run(
            each, [*git, "fetch", "-q", "--depth=1", f"https://{each.package}", f"refs/tags/{each.version}"], into, help
        )
        packed = ["archive", "--format=tar", f"--output={into / each.file}", "FETCH_HEAD", "--", *each.place.split()]
        _run(each, [*git, *packed], into, help)


def _run(each: Input, command: list[str], folder: Path, help: str) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=1800, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotFetched(f"{each.name}: {command[0]} failed: {error}; {help}") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise NotFetched(f"{each.name}: {each.package} {each.version} was not fetched ({last}); {help}")
