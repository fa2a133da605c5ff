"""A pod for the device `cpu`: it asks for no GPU any more, and what it runs is started by anywarp, which its image must carry.

Which names are NVIDIA's is said by the tables that `anywarp convert` goes by. A container that asked for a GPU is moved only
where its image is known to carry anywarp (`anywarp image wrap`): without it, a pod without its GPU would only fail later.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, cast

from anywarp.catalogue.replacements import image as image_row
from anywarp.catalogue.replacements import kind, label, resource, variable
from anywarp.deploy.convert.model import Options
from anywarp.deploy.image.place import PROGRAM, prefixed
from anywarp.deploy.webhook.pod_text import MOST_DEPTH, NotPlain, step
from anywarp.deploy.webhook.said import Conversion, Said

Map = dict[str, Any]
_NO_GPU = "the device cpu is the machine's own processor: no GPU is asked for"
_CONTAINERS = ("initContainers", "containers")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def converted(pod: Map, options: Options) -> Conversion:
    """Return what becomes of a pod on the processor; all of it, or nothing where an image does not carry anywarp."""
    if _depth(pod) > MOST_DEPTH:
        raise NotPlain(f"it is nested more than {MOST_DEPTH} deep")
    new = copy.deepcopy(pod)
    spec = _map(new.get("spec"))
    changes: list[Said] = []
    left: list[Said] = []
    for key in _CONTAINERS:
        for number, container in enumerate(_maps(spec.get(key))):
            _container(container, step(step("/spec", key), number), options, changes, left)
    if left:
        return Conversion(pod, pod, [], left)
    changes += _spec(spec)
    left += _host_paths(spec)
    return Conversion(pod, new, changes, left)


def _container(container: Map, place: str, options: Options, changes: list[Said], left: list[Said]) -> None:
    asked = [
        (part, name)
        for part in ("limits", "requests")
        for name in _map(_map(container.get("resources")).get(part))
        if resource(name) is not None
    ]
    image = container.get("image")
    carries = isinstance(image, str) and image in options.images.values()
    new = options.images.get(image) if isinstance(image, str) else None
    if _map(container.get("resources")).get("claims"):
        reason = "devices are claimed by name (dynamic resource allocation), and what the claim is for stands in another object"
        left.append(Said(f"{place}/resources/claims", reason, "take the claim out by hand"))
        return
    if not asked and new is None and not carries:
        return
    if new is None and not carries:
        known = isinstance(image, str) and image_row(image) is not None
        reason = f"the image {'is for CUDA and ' if known else ''}is not known to carry anywarp, and a GPU is asked for"
        help = "wrap it (anywarp image wrap), push it, and name both: --image OLD=NEW"
        left.append(Said(f"{place}/image", reason, help))
        return
    if new is not None and new != image:
        container["image"] = new
        changes.append(Said(f"{place}/image", "the same image with anywarp in it, as given by --image"))
    for part, name in asked:
        del container["resources"][part][name]
        changes.append(Said(step(f"{place}/resources/{part}", name), _NO_GPU))
    if asked:
        _tidy(container, "resources")
    command = container.get("command")
    if isinstance(command, list) and command and _strings(command) and command[0] != PROGRAM:
        container["command"] = prefixed(cast(list[str], command), "cpu")
        changes.append(
            Said(f"{place}/command", "a command given here takes the place of the image's, which anywarp starts")
        )
    changes += _without(
        container, "env", place, _is_dropped, "read by NVIDIA's container runtime only, which is not asked here"
    )


def _tidy(container: Map, key: str) -> None:
    """Leave out limits and requests in which nothing is left."""
    resources = _map(container.get(key))
    for part in ("limits", "requests"):
        if resources.get(part) == {}:
            del resources[part]
    if not resources:
        container.pop(key, None)


def _is_dropped(entry: Map) -> bool:
    name = entry.get("name")
    row = variable(name) if isinstance(name, str) and name.startswith("NVIDIA_") else None
    return row is not None and row["conversion"] == "drop"


def _spec(spec: Map) -> Iterator[Said]:
    runtime = spec.get("runtimeClassName")
    if isinstance(runtime, str) and kind("runtime-class", runtime) is not None:
        del spec["runtimeClassName"]
        yield Said("/spec/runtimeClassName", "NVIDIA's container runtime gives GPUs, and none is asked for")
    selector = _map(spec.get("nodeSelector"))
    for name in [name for name in selector if label(name) is not None]:
        del selector[name]
        yield Said(step("/spec/nodeSelector", name), "a label of nodes with NVIDIA's GPUs; any node has a processor")
    if selector == {} and "nodeSelector" in spec:
        del spec["nodeSelector"]
    yield from _without(
        spec,
        "tolerations",
        "/spec",
        _is_toleration,
        "a taint of nodes with GPUs: such nodes are left to those who need them",
    )
    yield from _affinity(spec)


def _is_toleration(entry: Map) -> bool:
    key = entry.get("key")
    return isinstance(key, str) and (resource(key) is not None or kind("taint", key) is not None)


def _affinity(spec: Map) -> Iterator[Said]:
    """Take out what selects nodes by NVIDIA's labels; a term that only did that admits every node, and with it all terms go."""
    affinity = _map(spec.get("affinity"))
    node = _map(affinity.get("nodeAffinity"))
    place = "/spec/affinity/nodeAffinity"
    required = _map(node.get(_REQUIRED))
    terms = _maps(required.get("nodeSelectorTerms"))
    touched = [term for term in terms if _drop_expressions(term)]
    if touched:
        if any(not term for term in touched):
            del node[_REQUIRED]
        yield Said(f"{place}/{_REQUIRED}", "labels of nodes with NVIDIA's GPUs; any node has a processor")
    preferred = node.get(_PREFERRED)
    if isinstance(preferred, list):
        wishes = cast(list[Any], preferred)
        dropped = [one for one in wishes if _drop_expressions(_map(_map(one).get("preference")))]
        if dropped:
            kept = [one for one in wishes if _map(one).get("preference") != {}]
            node[_PREFERRED] = kept
            if not kept:
                del node[_PREFERRED]
            yield Said(f"{place}/{_PREFERRED}", "labels of nodes with NVIDIA's GPUs; any node has a processor")
    if "nodeAffinity" in affinity and node == {}:
        del affinity["nodeAffinity"]
    if "affinity" in spec and affinity == {}:
        del spec["affinity"]


def _drop_expressions(term: Map) -> bool:
    """Take the expressions about NVIDIA's labels out of a term; tell whether there were any."""
    expressions = term.get("matchExpressions")
    if not isinstance(expressions, list):
        return False
    found = cast(list[Any], expressions)
    kept = [one for one in found if not _is_label(_map(one).get("key"))]
    if len(kept) == len(found):
        return False
    if kept:
        term["matchExpressions"] = kept
    else:
        del term["matchExpressions"]
    return True


def _is_label(name: Any) -> bool:
    return isinstance(name, str) and label(name) is not None


def _host_paths(spec: Map) -> Iterator[Said]:
    for number, volume in enumerate(_maps(spec.get("volumes"))):
        path = _map(volume.get("hostPath")).get("path")
        row = kind("host-path", path) if isinstance(path, str) else None
        if row is not None:
            yield Said(f"/spec/volumes/{number}/hostPath/path", row["reason"], "take the volume and its mounts out")


def _without(holder: Map, key: str, place: str, gone: Callable[[Map], bool], reason: str) -> Iterator[Said]:
    """Take entries out of a list, and the list where none is left."""
    entries = holder.get(key)
    if not isinstance(entries, list):
        return
    found = cast(list[Any], entries)
    kept = [one for one in found if not gone(_map(one))]
    if len(kept) == len(found):
        return
    for number, one in enumerate(found):
        if gone(_map(one)):
            yield Said(f"{place}/{key}/{number}", reason)
    holder[key] = kept
    if not kept:
        del holder[key]


def _depth(value: Any) -> int:
    """Return how deep a value is nested, counted without recursion."""
    level, here = 0, [value]
    while here and level <= MOST_DEPTH:
        level += 1
        here = [inner for one in here for inner in _inside(one)]
    return level


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(cast(Map, value).values())
    return cast(list[Any], value) if isinstance(value, list) else []


def _map(value: Any) -> Map:
    return cast(Map, value) if isinstance(value, dict) else {}


def _maps(value: Any) -> list[Map]:
    return [_map(one) for one in cast(list[Any], value)] if isinstance(value, list) else []


def _strings(value: Any) -> bool:
    return all(isinstance(one, str) for one in cast(list[Any], value))
