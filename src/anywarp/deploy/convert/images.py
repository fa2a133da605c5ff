"""Images: the reference that takes the place of one that holds CUDA, wherever references stand.

Tags say what an image holds only partly; where they do not, a person chooses, and `--image OLD=NEW` carries the choice.
"""

from __future__ import annotations

import re

from anywarp.catalogue import replacements
from anywarp.catalogue.migration import Row, rows
from anywarp.deploy.convert.model import Answer, Options

NO_COUNTERPART = "Y030"
DIGEST = "Y031"


def image(reference: str, options: Options) -> Answer | None:
    """Return what becomes of a reference to an image; None for one that the table does not know (no image of CUDA's)."""
    given = options.images.get(reference)
    if given is not None:
        return Answer("keep" if given == reference else "replace", "as given by --image", given, source="--image")
    found = replacements.image(reference)
    if found is None:
        return None
    row, tag = found
    parts = replacements.image_parts(reference)
    if parts.digest:
        reason = "the digest is that of an image for CUDA: no other image has it"
        return _refused(
            reason, f"choose a tag of {_family(row)}, pin its digest, and give both by --image", row, DIGEST
        )
    if row["conversion"] != "rename":
        return _refused(row["reason"], _advice(row), row)
    if "{torch}" in row["target"]:
        return _torch(row, tag["torch"], options)
    return _filled(row, tag, parts.tag, options)


def _filled(row: Row, tag: re.Match[str], old: str, options: Options) -> Answer:
    release = options.target.rocm
    if not release and "{rocm}" in row["target"]:
        return _refused("the release of ROCm is not known", "give it by --rocm", row)
    values = {"rocm": release, "tag": old, **{key: value or "" for key, value in tag.groupdict().items()}}
    text = row["target"].format_map(values)
    if not old:  # no tag means `latest`, and where a tag is added elsewhere, a second one would be no reference
        text = text.removesuffix(":").removesuffix(":latest")
    return Answer("replace", row["reason"], text, source=row["source"])


def _torch(row: Row, version: str, options: Options) -> Answer:
    seen = [known for known in rows("torch_images") if known["release"] == options.target.rocm]
    for known in seen:
        if known["torch"] == version:
            return Answer("replace", row["reason"], known["target"], source=known["source"])
    others = ", ".join(known["target"] for known in seen) or "none for this release"
    reason = f"no image of rocm/pytorch with torch {version} and ROCm {options.target.rocm or '(any)'} is known"
    return _refused(reason, f"look up the tags of rocm/pytorch and give one by --image; seen: {others}", row)


def _family(row: Row) -> str:
    return row["target"].partition(":")[0] or "an image for ROCm"


def _advice(row: Row) -> str:
    if row["target"]:
        return f"choose {row['target']} and give it by --image OLD=NEW"
    return "build on another image, and give it by --image OLD=NEW"


def _refused(reason: str, help: str, row: Row, code: str = NO_COUNTERPART) -> Answer:
    return Answer("refuse", reason, help=help, source=row["source"], code=code)
