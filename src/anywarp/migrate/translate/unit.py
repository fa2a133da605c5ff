"""One source under translation, read lexically at once and parsed only when a rule asks for structure.

Measured on NVIDIA's samples (9.6 MB) and ggml-cuda (2 MB): tree-sitter-cuda parses 7 to 8 MB/s on one core, while
blanking comments and literals (`blanking.py`) and collecting all words runs at 35 to 40 MB/s. Most of what a
translation changes are names, which need no structure; so text is searched in `code`, brackets are matched there
(`brackets.py`), and the tree is made for the few units in which a rule cannot decide otherwise.
"""

from __future__ import annotations

import posixpath
import re
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal

from anywarp.catalogue.identifiers import Identifier, headers, identifiers, namespaces
from anywarp.migrate.target import Target
from anywarp.migrate.translate.architecture_guards import Untaken, refused
from anywarp.migrate.translate.blanking import blanked
from anywarp.migrate.translate.includes import Directive, Include, directives, includes
from anywarp.migrate.translate.platform import unseen
from anywarp.migrate.translate.vendor_regions import Regions, set_apart

if TYPE_CHECKING:
    from tree_sitter import Tree

Launch = Literal["keep", "macro"]

WORD = re.compile(rb"\b[A-Za-z_]\w*")
LARGEST_TREE = 16 << 20
"""Bytes of the largest text for which a tree is made: a tree takes some sixty times its text."""


@dataclass(frozen=True)
class Options:
    """What the user chose: the target, how launches are written, and whether one text must serve both vendors.

    `renamed` maps suffixes of files to new ones (".cu" to ".hip"); `local` holds the paths of the tree, relative to
    its root, by which own headers are told from CUDA's; `shadowed` the old names of CUDA's that the tree has as macros.
    """

    target: Target
    launch: Launch = "keep"
    keep_cuda: bool = False
    renamed: Mapping[str, str] = field(default_factory=dict[str, str])
    local: frozenset[str] = frozenset()
    shadowed: frozenset[bytes] = frozenset()


def packed_options(options: Options) -> dict[str, Any]:
    """Return options as JSON can hold them."""
    out = asdict(options)
    return out | {"local": sorted(options.local), "shadowed": sorted(each.decode() for each in options.shadowed)}


def unpacked_options(packed: dict[str, Any]) -> Options:
    """Return what `packed_options` was given."""
    own: dict[str, Any] = {"target": Target(**packed["target"]), "local": frozenset(packed["local"])}
    own["shadowed"] = frozenset(each.encode() for each in packed["shadowed"])
    return Options(**packed | own)


@dataclass(frozen=True)
class Unit:
    """The bytes of one file with its path relative to the root of what is translated, and the options."""

    data: bytes
    path: PurePath
    options: Options

    @property
    def target(self) -> Target:
        return self.options.target

    @cached_property
    def code(self) -> bytes:
        """The text with comments, the inside of literals and header names blanked, byte for byte at the same places.

        Line ends stay, and so do the quotes of literals; search here, and read from `data` what was found.
        """
        return blanked(self.data)

    @cached_property
    def words(self) -> frozenset[bytes]:
        """All identifiers and keywords of the code."""
        return frozenset(WORD.findall(self.code))

    @cached_property
    def directives(self) -> tuple[Directive, ...]:
        """The directives of the preprocessor, in order, each with the conditions around it."""
        return directives(self.code) if b"#" in self.code else ()

    @cached_property
    def unseen(self) -> list[tuple[int, int]]:
        """The ranges that no compiler for HIP sees: nothing is changed there, and nothing reported."""
        return unseen(self.code, self.directives) if b"HIP" in self.code or b"USE_ROCM" in self.code else []

    @cached_property
    def includes(self) -> tuple[Include, ...]:
        return includes(self.data, self.directives)

    @cached_property
    def apart(self) -> Regions:
        """The places that are for one vendor's tools already: see `vendor_regions.py`."""
        return set_apart(self.code, self.directives)

    @cached_property
    def untaken(self) -> tuple[Untaken, ...]:
        """Comparisons with `__CUDA_ARCH__` whose newer branch is not for AMD GPUs: see `architecture_guards.py`."""
        if b"__CUDA_ARCH__" not in self.words:
            return ()
        return refused(self.code, self.data, self.directives, self.apart)

    @cached_property
    def tree(self) -> Tree | None:
        """The syntax tree by tree-sitter-cuda over `data`; None where the text is too large to parse."""
        if len(self.data) > LARGEST_TREE:
            return None
        import tree_sitter_cuda
        from tree_sitter import Language, Parser

        return Parser(Language(tree_sitter_cuda.language())).parse(self.data)

    @cached_property
    def names(self) -> Mapping[str, Identifier]:
        """CUDA's identifiers with their answers in the target's version of ROCm."""
        return identifiers(self.target.rocm)

    @cached_property
    def headers(self) -> Mapping[str, Identifier]:
        return headers(self.target.rocm)

    @cached_property
    def namespaces(self) -> Mapping[str, Identifier]:
        return namespaces(self.target.rocm)

    def occurrences(self, words: frozenset[bytes] | set[bytes]) -> Iterator[re.Match[bytes]]:
        """Yield a match for each occurrence of one of the words in the code, in order."""
        found = [place for word in words if word in self.words for place in self._places[word]]
        found.sort()
        for place in found:
            match = WORD.match(self.code, place)
            assert match is not None
            yield match

    @cached_property
    def _places(self) -> dict[bytes, array[int]]:
        """Where each word stands, found in one pass for all rules."""
        places = dict[bytes, "array[int]"]()
        for match in WORD.finditer(self.code):
            word = match.group()
            if word not in places:
                places[word] = array("q")
            places[word].append(match.start())
        return places

    def is_local(self, name: str) -> bool:
        """Say whether the tree has a header of that name, beside the unit or anywhere."""
        beside = posixpath.normpath(posixpath.join(self.path.parent.as_posix(), name))
        if beside in self.options.local:
            return True
        base = "/" + posixpath.basename(name)
        return any(each.endswith(base) for each in self.options.local if "/" + posixpath.normpath(name) in "/" + each)

    def line_of(self, place: int) -> tuple[int, int]:
        """Return the 1-based line, and the 1-based column in bytes, of an offset."""
        return self.data.count(b"\n", 0, place) + 1, place - self.data.rfind(b"\n", 0, place)
