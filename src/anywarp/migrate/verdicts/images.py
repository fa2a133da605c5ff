"""Verdicts on container images that hold CUDA, and on how containers get their GPUs."""

from __future__ import annotations

from anywarp.catalogue.replacements import image, image_parts
from anywarp.migrate.findings import Use, Verdict
from anywarp.migrate.rulings import images
from anywarp.migrate.target import Target
from anywarp.migrate.verdicts.rows import CONVERT, UNREAD, by_hand, plain, ruled

SUBJECTS = ("image", "container")

_GIVEN = {
    "gpus": (
        "AMD GPUs are plain devices; Docker from 29.3 on gives them by --gpus, too",
        "--device /dev/kfd --device /dev/dri",
    ),
    "reservation": ("compose reserves devices of NVIDIA's driver", "devices: /dev/kfd, /dev/dri"),
    "runtime": ("NVIDIA's container runtime; AMD GPUs are plain devices", "devices: /dev/kfd, /dev/dri"),
    "device": ("CDI's name for NVIDIA's cards; AMD GPUs are plain devices", "--device /dev/kfd --device /dev/dri"),
}
"""Why what asks for GPUs changes, and into what."""


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
    answer = images.image(use.name, target)
    if answer is None:
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
    base = image_parts(images.meant(use.name)).name.rpartition("/")[2] in ("cuda", "cudagl")
    return ruled(
        answer, "hours" if base or answer.instead else "days"
    )  # of a base the system changes, and no other program


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
    if left := use.detail("left"):
        return by_hand(left, "/dev/kfd and /dev/dri, or amd.com/gpu by CDI", "minutes", use.detail("help"))
    if kind in _GIVEN:
        return Verdict("converted", *_GIVEN[kind], "minutes", CONVERT)
    if kind == "label":
        return Verdict(
            "converted",
            "a label of NVIDIA's images, which says nothing of this one any more",
            "nothing: it is left out",
            "minutes",
            CONVERT,
        )
    return None
