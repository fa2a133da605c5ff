"""Images: the reference that takes the place of one that holds CUDA, wherever references stand.

Tags say what an image holds only partly; where they do not, a person chooses, and `--image OLD=NEW` carries the choice.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from anywarp.catalogue import replacements
from anywarp.catalogue.migration import Row, rows
from anywarp.migrate.rulings.answer import Answer
from anywarp.migrate.target import Target

NO_COUNTERPART = "Y030"
DIGEST = "Y031"
_DEFAULTED = re.compile(r"\$\{\w+:?-([^}]*)\}")
_NONE: Mapping[str, str] = MappingProxyType({})


def meant(written: str) -> str:
    """Return the image that is used where nobody says otherwise: the default of a variable (`${IMAGE:-python:3.11}`), or what is written."""
    default = _DEFAULTED.fullmatch(written)
    return default[1] if default else written


def image(written: str, target: Target, given: Mapping[str, str] = _NONE) -> Answer | None:
    """Return what becomes of a reference to an image; None for one that the table does not know (no image of CUDA's).

    `given`: the user's answers, new references by old ones.
    """
    reference = meant(written)
    answer = _given(reference, given) or _known(reference, target)
    if answer is None or answer.action != "replace" or reference == written:
        return answer
    return replace(answer, text=written.replace(reference, answer.text))


def _given(reference: str, given: Mapping[str, str]) -> Answer | None:
    new = given.get(reference)
    return (
        new and Answer("keep" if new == reference else "replace", "as given by --image", new, source="--image")
    ) or None


def _known(reference: str, target: Target) -> Answer | None:
    found = replacements.image(reference)
    if found is None:
        return None
    row, tag = found
    parts = replacements.image_parts(reference)
    if parts.digest:
        reason = "the digest is that of an image for CUDA: no other image has it"
        family = row["target"].partition(":")[0] or "an image for ROCm"
        help = f"choose a tag of {family}, pin its digest, and give both by --image"
        return replace(_refused(reason, help, row, DIGEST), instead=row["target"] or family)
    if row["conversion"] != "rename":
        return _refused(row["reason"], _advice(row), row)
    if "{torch}" in row["target"]:
        return _torch(row, tag["torch"], target)
    return _filled(row, tag, parts.tag, target)


def _filled(row: Row, tag: re.Match[str], old: str, target: Target) -> Answer:
    if not target.rocm and "{rocm}" in row["target"]:
        return _refused("the release of ROCm is not known", "give it by --rocm", row)
    values = {"rocm": target.rocm, "tag": old, **{key: value or "" for key, value in tag.groupdict().items()}}
    text = row["target"].format_map(values)
    if not old:  # no tag means `latest`, and where a tag is added elsewhere, a second one would be no reference
        text = text.removesuffix(":").removesuffix(":latest")
    return Answer("replace", row["reason"], text, source=row["source"])


def _torch(row: Row, version: str, target: Target) -> Answer:
    seen = [known for known in rows("torch_images") if known["release"] == target.rocm]
    for known in seen:
        if known["torch"] == version:
            return Answer("replace", row["reason"], known["target"], source=known["source"])
    others = ", ".join(known["target"] for known in seen) or "none for this release"
    reason = f"no image of rocm/pytorch with torch {version} and ROCm {target.rocm or '(any)'} is known"
    help = f"look up the tags of rocm/pytorch and give one by --image; seen: {others}"
    return replace(_refused(reason, help, row), instead="rocm/pytorch, another version")


def _advice(row: Row) -> str:
    if row["target"]:
        return f"choose {row['target']} and give it by --image OLD=NEW"
    return "build on another image, and give it by --image OLD=NEW"


def _refused(reason: str, help: str, row: Row, code: str = NO_COUNTERPART) -> Answer:
    return Answer("refuse", reason, help=help, source=row["source"], code=code, instead=row["target"])
