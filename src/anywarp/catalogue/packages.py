"""Find files in a folder of unpacked packages, one folder per version of CUDA or ROCm.

The scripts that derive the tables share it; docs/coverage/rocm.md says how the folder is filled.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Packages:
    """A folder of unpacked packages: one folder per version of CUDA or ROCm, whatever lies in it."""

    root: Path
    files: dict[str, list[Path]] = field(default_factory=dict[str, list[Path]])

    def all(self, version: str) -> list[Path]:
        """Return every file of a version's folder."""
        if version not in self.files:
            found: list[Path] = []
            for folder, _, names in os.walk(self.root / version, followlinks=True):
                found += [Path(folder) / name for name in names]
            self.files[version] = sorted(found)
        return self.files[version]

    def find(self, version: str, ending: str) -> Path | None:
        """Return the file whose path ends with `ending`, the shortest path of several."""
        found = [f for f in self.all(version) if str(f).endswith("/" + ending)]
        return min(found, key=lambda f: len(f.parts), default=None)

    def include(self, version: str) -> list[Path]:
        """Return the include folders of a version."""
        folders = {
            f
            for file in self.all(version)
            for f in file.parents
            if f.name in ("include", "cccl") and "/clang/" not in str(f)
        }
        return sorted(folders, key=str)
