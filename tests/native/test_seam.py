"""What the drivers share knows no device, and no driver knows another: what is called across is bound when a library is linked."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NATIVE = ROOT / "native"
DRIVERS = ("cpu", "hip")
COMMANDS = ROOT / "build" / "compile_commands.json"


def sources(folder: str) -> list[Path]:
    found = [*(NATIVE / folder).glob("*.cpp"), *(NATIVE / folder).glob("*.h")]
    assert len(found) > 30
    return found


def included(folder: str) -> set[str]:
    """Folders of native/ whose headers the sources of `folder` include."""
    lines = "".join(file.read_text() for file in sources(folder))
    return set(re.findall(r'^#include "(\w+)/', lines, re.M))


@pytest.mark.parametrize(
    ("folder", "allowed"),
    [
        ("cuda", {"core", "cuda", "devices", "rebind"}),
        ("cpu", {"core", "cuda", "cpu", "devices"}),
        ("hip", {"core", "cuda", "hip", "devices"}),
    ],
)
def test_a_driver_knows_the_shared_code_and_itself(folder, allowed):
    assert included(folder) <= allowed


def test_shared_code_uses_no_part_of_the_processor_but_names_and_tables():
    headers = re.compile(r'^#include "(devices/\w+\.h)"', re.M)
    found = {name for file in sources("cuda") for name in headers.findall(file.read_text())}
    assert found <= {
        "devices/identity.h",
        "devices/texture_table.h",
        "devices/texture_unit.h",
        "devices/texture_view.h",
    }


def test_the_classes_that_shared_code_hands_on_are_defined_by_drivers_alone():
    defined = re.compile(r"^(?:class|struct) (Stream|Versions)\b[^;]*\{", re.M)
    assert [file.name for file in sources("cuda") if defined.search(file.read_text())] == []
    for driver in DRIVERS:
        names = Counter(name for file in sources(driver) for name in defined.findall(file.read_text()))
        assert names["Versions"] == 1 and names["Stream"] <= 1


def compiled(file: Path) -> list[Path]:
    """The sources that one command compiles: of a unity build, those that its file includes."""
    if not file.name.startswith("unity_"):
        return [file]
    return [Path(name) for name in re.findall(r'^#include "(.+)"', file.read_text(), re.M)]


@pytest.mark.skipif(not COMMANDS.exists(), reason="needs scripts/build")
def test_every_source_of_the_drivers_is_compiled_once():
    files = [file for command in json.loads(COMMANDS.read_text()) for file in compiled(Path(command["file"]))]
    counted = Counter(
        file.name for file in files if file.parent in {NATIVE / "cuda", *(NATIVE / each for each in DRIVERS)}
    )
    of_folders = Counter(
        file.name for folder in ("cuda", *DRIVERS) for file in sources(folder) if file.suffix == ".cpp"
    )
    assert counted == of_folders
