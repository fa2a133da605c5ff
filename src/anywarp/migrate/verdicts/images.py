"""Verdicts on container images that hold CUDA, and on how containers get their GPUs."""

from __future__ import annotations

from anywarp.catalogue.migration import rows
from anywarp.catalogue.replacements import image, image_parts
from anywarp.migrate.findings import Use, Verdict
from anywarp.migrate.target import Target
from anywarp.migrate.verdicts.rows import CONVERT, UNREAD, by_hand, on_hip, plain

SUBJECTS = ("image", "container")


def judge(use: Use, target: Target) -> Verdict | None:
    """Say what becomes of an image or of a container's access to GPUs."""
    if found := plain(target):
        return found
    if use.subject == "image.content":
        return _content(use, target)
    if use.subject != "image":
        return _access(use, target)
    return _image_on_cpu(use) if target.device == "cpu" else _image(use, target)


def _content(use: Use, target: Target) -> Verdict:
    if target.device == "cpu":
        return Verdict(
            "rebuild",
            f"the image holds {use.name}; it may stay: our libraries take its place at run time",
            effort="hours",
            help="install anywarp in the image and put `anywarp run --` before its command",
        )
    return Verdict(
        "rebuild",
        f"the image holds {use.name}",
        "a build of it on an image for ROCm",
        "hours",
        "convert its Dockerfile and build it anew",
    )


def _image_on_cpu(use: Use) -> Verdict:
    if "${" in use.name or image(use.name) is None:
        return Verdict(
            "rebuild",
            "what it holds for CUDA is answered by our libraries where they are installed with it",
            effort="hours",
            help="install anywarp in the image and put `anywarp run --` before the command",
        )
    name = image_parts(use.name).name
    if name.rpartition("/")[2] in ("cuda", "pytorch", "cudagl"):
        return Verdict(
            "rebuild",
            "the image may stay: our libraries take the place of NVIDIA's in it",
            effort="hours",
            help="install anywarp in it (for PyTorch with the build for the processor) and put `anywarp run --` before the command",
        )
    return Verdict(
        "no-path",
        "the image's own program needs NVIDIA's libraries that the device cpu does not have",
        effort="days",
        help="look for its image for the processor",
    )


def _image(use: Use, target: Target) -> Verdict:
    found = image(use.name)
    if found is None:
        if "${" in use.name or "$" in use.name or "{{" in use.name:
            return by_hand(
                "the image is composed of variables, and holds CUDA",
                "an image for ROCm",
                "hours",
                "give the variables a value for ROCm",
            )
        return Verdict(
            "rebuild",
            "the name says it holds CUDA, and no table knows the image: it is probably your own",
            "a build of it on an image for ROCm",
            "hours",
            "build it from its Dockerfile, converted",
        )
    row, tag = found
    if image_parts(use.name).digest:
        return by_hand("pinned by digest: no other image has it", row["target"] or "an image for ROCm", "hours")
    if row["conversion"] == "rename" and "{torch}" in row["target"]:
        known = next(
            (one for one in rows("torch_images") if one["release"] == target.rocm and one["torch"] == tag["torch"]),
            None,
        )
        if known is None:
            return by_hand(
                f"no image of rocm/pytorch with torch {tag['torch']} and ROCm {target.rocm} is known",
                "rocm/pytorch, another version",
                "hours",
            )
        return Verdict("converted", row["reason"], known["target"], "minutes", CONVERT)
    if row["conversion"] == "rename":
        values = {
            "rocm": target.rocm,
            "tag": image_parts(use.name).tag or "latest",
            **{k: v or "" for k, v in tag.groupdict().items()},
        }
        return Verdict("converted", row["reason"], row["target"].format_map(values), "minutes", CONVERT)
    if row["conversion"] == "choose":
        return by_hand(
            row["reason"], row["target"], "hours", "choose the tag and give it to `anywarp convert` by --image"
        )
    moves = image_parts(use.name).name.rpartition("/")[2] in (
        "cuda",
        "cudagl",
    )  # another release of the system, no other program
    return on_hip(row, "hours" if moves else "days")


def _access(use: Use, target: Target) -> Verdict | None:
    kind = use.subject.partition(".")[2]
    if target.device == "cpu":
        return (
            Verdict(
                "converted",
                "on the processor a container needs no GPU",
                "nothing: leave it out",
                "minutes",
                "leave the option out",
            )
            if kind == "gpus"
            else UNREAD
        )
    if kind == "gpus":
        reason = "AMD GPUs are plain devices; Docker from 29.3 on gives them by --gpus, too"
        return Verdict("converted", reason, "--device /dev/kfd --device /dev/dri", "minutes", CONVERT)
    if kind == "reservation":
        return Verdict(
            "converted",
            "compose reserves devices of NVIDIA's driver",
            "devices: /dev/kfd, /dev/dri",
            "minutes",
            CONVERT,
        )
    if kind == "runtime":
        return Verdict(
            "converted",
            "NVIDIA's container runtime; AMD GPUs are plain devices",
            "devices: /dev/kfd, /dev/dri",
            "minutes",
            CONVERT,
        )
    if kind == "label":
        return Verdict(
            "converted",
            "a label of NVIDIA's images, which says nothing of this one any more",
            "nothing: it is left out",
            "minutes",
            CONVERT,
        )
    if kind == "device":
        return by_hand("a device of NVIDIA's driver", "/dev/kfd and /dev/dri, or amd.com/gpu=all by CDI", "minutes")
    return None
