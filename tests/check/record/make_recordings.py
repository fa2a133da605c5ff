"""Make tests/cases/recordings.tar.xz again: each model of `zoo.py` in each dtype, on the processor, with what its modules give in float64.

.venv/bin/python tests/check/record/make_recordings.py
"""

import sys
import tarfile
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from check.record import recordings, zoo

ARCHIVE = Path(__file__).resolve().parents[2] / "cases" / "recordings.tar.xz"


def main() -> None:
    with tempfile.TemporaryDirectory() as place, tarfile.open(ARCHIVE, "w:xz", preset=9) as archive:
        for kind in zoo.KINDS:
            for dtype in zoo.DTYPES:
                folder = Path(place) / f"{kind}-{dtype}"
                command = ("python", "zoo.py", kind, dtype)
                recordings.record(
                    folder, lambda k=kind, d=dtype: zoo.run(zoo.build(k, d), k, d), precise=True, command=command
                )
                for path in sorted(folder.rglob("*")):
                    if path.is_file():
                        archive.add(path, path.relative_to(place).as_posix(), filter=_plain)
    print(f"{ARCHIVE}: {ARCHIVE.stat().st_size:,} bytes")


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    main()
