"""What a user says beside the path: the card, answers to what only they know.

Answers are read strictly: a mistyped one would be a value silently not converted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from anywarp.catalogue.architectures import architecture
from anywarp.catalogue.partitions import cards
from anywarp.deploy.convert import codes
from anywarp.devices.hip.tables import gpus
from anywarp.migrate.target import USUAL_ARCHITECTURE, Target

_ARROW = "->"


def card(name: str, target: Target) -> str:
    """Return the product that a user names, `MI300X`, or the usual one of the target; AnywarpError Y004 for one that is not known."""
    known = [gpu.product for gpu in gpus()]
    if not name:
        first = next(
            (gpu.product for gpu in gpus() if gpu.architecture == target.architecture), _card(USUAL_ARCHITECTURE)
        )
        return _card(target.architecture) or first
    found = [product for product in known if name.lower() in (product.lower(), product.lower().split(" ", 1)[-1])]
    if not found:
        raise codes.problem(
            codes.BAD_ANSWER, f"{name!r} is no card that is known", f"known with partitions: {', '.join(cards())}"
        )
    return found[0]


def _card(architecture_: str) -> str:
    facts = architecture(architecture_)
    return facts.card if facts is not None else ""


def mapping(texts: Iterable[str]) -> Mapping[tuple[str, str], tuple[str, str]]:
    """Read `KEY=OLD:NEW`, `KEY=OLD:NEWKEY=NEW` and `resource=OLD:NEW`; AnywarpError Y004 for anything else.

    Where values hold colons, an arrow stands between them: `KEY=a:1->b:1`.
    """
    out: dict[tuple[str, str], tuple[str, str]] = {}
    for text in texts:
        key, _, rest = text.partition("=")
        old, mark, new = rest.partition(_ARROW if _ARROW in rest else ":")
        if not key or not mark or not new:
            help = "write --map KEY=OLD:NEW, such as --map nvidia.com/gpu.product=NVIDIA-H100-80GB-HBM3:AMD_Instinct_MI300X_OAM"
            raise codes.problem(codes.BAD_ANSWER, f"--map {text!r} is not KEY=OLD:NEW", help)
        new_key, equals, value = new.partition("=")
        out[key, old] = (new_key, value) if equals else ("", new)
    return out


def images(texts: Iterable[str]) -> Mapping[str, str]:
    """Read `OLD=NEW`; AnywarpError Y004 for anything else."""
    out: dict[str, str] = {}
    for text in texts:
        old, _, new = text.partition("=")
        if not old or not new:
            raise codes.problem(
                codes.BAD_ANSWER, f"--image {text!r} is not OLD=NEW", "name the old image and the new one"
            )
        out[old] = new
    return out
