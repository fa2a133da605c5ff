"""The pages of `nvidia-smi`: the default screen, -q as text and XML, the topology."""

from __future__ import annotations

from datetime import datetime
from xml.etree import ElementTree

from anywarp.cli.smi_query import MIB
from anywarp.runtime.management import DeviceState, MachineState

NOT_AVAILABLE = "N/A"
WIDTH = 89
"""Characters between the outer borders of the screen."""

_RULE = "+" + "-" * 41 + "+" + "-" * 24 + "+" + "-" * 22 + "+"
_DOUBLE = _RULE.replace("-", "=").replace("+", "|", 1)[:-1] + "|"
_WHOLE = "+" + "-" * WIDTH + "+"

Tree = dict[str, "str | Tree | list[Tree]"]


def screen(state: MachineState, now: datetime) -> str:
    """Return the default screen."""
    return "\n".join([f"{now:%a %b %e %H:%M:%S %Y}", *_devices(state), "", *_processes(state)])


def _devices(state: MachineState) -> list[str]:
    title = f" NVIDIA-SMI {state.driver} (anywarp)"
    versions = f"Driver Version: {state.driver:<15} CUDA Version: {state.cuda}"
    lines = [
        _WHOLE,
        f"|{title:<36}{versions:<{WIDTH - 36}}|",
        _RULE,
        "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |",
        "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |",
        "|                                         |                        |               MIG M. |",
        _DOUBLE,
    ]
    for device in state.devices:
        lines += [*_device(device), _RULE]
    return lines


def _device(d: DeviceState) -> list[str]:
    name = d.name if len(d.name) <= 28 else d.name[:25] + "..."
    memory = f"{d.used // MIB}MiB / {d.total // MIB:>6}MiB"
    power = f"{_whole(d.power, 'W')} / {_whole(d.power_limit, 'W'):>5}"
    heat = _whole(d.temperature, "C")
    return [
        f"| {d.index:>3}  {name:<28} {'N/A':>5} | {d.bus:>18} Off | {'N/A':>20} |",
        f"| N/A {heat:>5}    N/A {power:>22} | {memory:>22} | {_whole(d.busy, '%'):>7} {'Default':>12} |",
        f"| {'':<39} | {'':<22} | {'N/A':>20} |",
    ]


def _whole(value: float | None, unit: str) -> str:
    return NOT_AVAILABLE if value is None else f"{value:.0f}{unit}"


def _processes(state: MachineState) -> list[str]:
    lines = [
        _WHOLE,
        f"| {'Processes:':<{WIDTH - 1}}|",
        f"|  {'GPU   GI   CI              PID   Type   Process name':<76}{'GPU Memory':<{WIDTH - 78}}|",
        f"|  {'      ID   ID':<76}{'Usage':<{WIDTH - 78}}|",
        "|" + "=" * WIDTH + "|",
    ]
    rows = [(d.index, p) for d in state.devices for p in d.processes]
    for index, p in rows:
        name = p.name if len(p.name) <= 34 else "..." + p.name[-31:]
        used = NOT_AVAILABLE if p.memory is None else f"{p.memory // MIB}MiB"
        lines.append(f"|{index:>5}   N/A  N/A {p.pid:>16}      C   {name:<34} {used:>10} |")
    if not rows:
        lines.append(f"|  {'No running processes found':<{WIDTH - 2}}|")
    return [*lines, _WHOLE]


def versions(state: MachineState) -> str:
    """Return what --version prints."""
    lines = {"NVIDIA-SMI version": state.driver, "DRIVER version": state.driver, "CUDA Version": state.cuda}
    return "\n".join(f"{name:<20}: {text}" for name, text in lines.items())


def topology(state: MachineState) -> str:
    """Return the matrix of topo -m: devices that are parts of one processor share its memory."""
    names = [f"GPU{d.index}" for d in state.devices]
    lines = ["\t" + "\t".join(names)]
    lines += [own + "\t" + "\t".join(" X " if own == other else "PIX" for other in names) for own in names]
    legend = ["", "Legend:", "", "  X   = Self", "  PIX = Parts of one processor, which share its memory"]
    return "\n".join([*lines, *legend])


def _tree(d: DeviceState, state: MachineState) -> Tree:
    """Return everything known of a device, under nvidia-smi's headings."""
    none = NOT_AVAILABLE
    clock = _whole(d.clock, " MHz")
    memory: Tree = {
        "Total": f"{d.total // MIB} MiB",
        "Reserved": f"{d.reserved // MIB} MiB",
        "Used": f"{d.used // MIB} MiB",
        "Free": f"{d.free // MIB} MiB",
    }
    return {
        "Product Name": d.name,
        "Product Brand": none,
        "Product Architecture": none,
        "Display Mode": "Disabled",
        "Display Active": "Disabled",
        "Persistence Mode": none,
        "MIG Mode": {"Current": none, "Pending": none},
        "Serial Number": none,
        "GPU UUID": d.uuid,
        "Minor Number": str(d.index),
        "VBIOS Version": none,
        "Driver Model": {"Current": none, "Pending": none},
        "PCI": {"Bus": "0x" + d.bus[9:11], "Device": "0x" + d.bus[12:14], "Domain": "0x" + d.bus[4:8], "Bus Id": d.bus},
        "Fan Speed": none,
        "Performance State": none,
        "FB Memory Usage": memory,
        "BAR1 Memory Usage": {k: v for k, v in memory.items() if k != "Reserved"},
        "Compute Mode": "Default",
        "Utilization": {
            "GPU": _whole(d.busy, " %"),
            "Memory": _whole(d.memory_busy, " %"),
            "Encoder": none,
            "Decoder": none,
        },
        "ECC Mode": {"Current": none, "Pending": none},
        "Temperature": {"GPU Current Temp": _whole(d.temperature, " C")},
        "GPU Power Readings": {
            "Power Draw": none if d.power is None else f"{d.power:.2f} W",
            "Current Power Limit": none if d.power_limit is None else f"{d.power_limit:.2f} W",
        },
        "Clocks": {"Graphics": clock, "SM": clock, "Memory": none, "Video": none},
        "Max Clocks": {
            "Graphics": _whole(d.clock_limit, " MHz"),
            "SM": _whole(d.clock_limit, " MHz"),
            "Memory": none,
            "Video": none,
        },
        "Processes": [
            {
                "GPU instance ID": none,
                "Compute instance ID": none,
                "Process ID": str(p.pid),
                "Type": "C",
                "Name": p.name,
                "Used GPU Memory": none if p.memory is None else f"{p.memory // MIB} MiB",
            }
            for p in d.processes
        ],
    }


_SECTIONS = {
    "MEMORY": ("FB Memory Usage", "BAR1 Memory Usage"),
    "UTILIZATION": ("Utilization",),
    "ECC": ("ECC Mode",),
    "TEMPERATURE": ("Temperature",),
    "POWER": ("GPU Power Readings",),
    "CLOCK": ("Clocks", "Max Clocks"),
    "COMPUTE": ("Compute Mode",),
    "PIDS": ("Processes",),
    "PERFORMANCE": ("Performance State",),
}


def _part(tree: Tree, only: tuple[str, ...]) -> Tree:
    wanted = [heading for section in only for heading in _SECTIONS.get(section, ())]
    return {heading: tree[heading] for heading in tree if not only or heading in wanted}


def as_tree(state: MachineState, now: datetime, only: tuple[str, ...]) -> str:
    """Return -q as text; `only`: names of sections, none for all."""
    lines = ["", "==============NVSMI LOG==============", ""]
    lines += [_line(0, "Timestamp", f"{now:%a %b %e %H:%M:%S %Y}"), _line(0, "Driver Version", state.driver)]
    lines += [_line(0, "CUDA Version", state.cuda), "", _line(0, "Attached GPUs", str(len(state.devices)))]
    for d in state.devices:
        lines += [f"GPU {d.bus}", *_lines(_part(_tree(d, state), only), 1), ""]
    return "\n".join(lines)


def _line(depth: int, heading: str, text: str) -> str:
    return f"{'    ' * depth + heading:<50}: {text}"


def _lines(tree: Tree, depth: int) -> list[str]:
    out: list[str] = []
    for heading, value in tree.items():
        if isinstance(value, str):
            out.append(_line(depth, heading, value))
        elif isinstance(value, dict):
            out += ["    " * depth + heading, *_lines(value, depth + 1)]
        elif not value:
            out.append(_line(depth, heading, "None"))
        else:
            out.append("    " * depth + heading)
            for entry in value:
                out += _lines(entry, depth + 1)
    return out


def as_xml(state: MachineState, now: datetime, only: tuple[str, ...]) -> str:
    """Return -q -x; elements have nvidia-smi's names."""
    root = ElementTree.Element("nvidia_smi_log")
    for name, text in (
        ("timestamp", f"{now:%a %b %e %H:%M:%S %Y}"),
        ("driver_version", state.driver),
        ("cuda_version", state.cuda),
        ("attached_gpus", str(len(state.devices))),
    ):
        ElementTree.SubElement(root, name).text = text
    for d in state.devices:
        _elements(ElementTree.SubElement(root, "gpu", id=d.bus), _part(_tree(d, state), only))
    ElementTree.indent(root, "\t")
    return '<?xml version="1.0" ?>\n' + ElementTree.tostring(root, encoding="unicode")


_XML_NAMES = {
    "GPU UUID": "uuid",
    "Serial Number": "serial",
    "PCI Bus Id": "pci_bus_id",
    "FB Memory Usage": "fb_memory_usage",
    "BAR1 Memory Usage": "bar1_memory_usage",
    "GPU Current Temp": "gpu_temp",
    "Name": "process_name",
    "Process ID": "pid",
    "Used GPU Memory": "used_memory",
}
_PREFIXES = {
    "Utilization": ("_util", True),
    "MIG Mode": ("_mig", True),
    "ECC Mode": ("_ecc", True),
    "PCI": ("pci_", False),
}
_CLOCKS = ("Clocks", "Max Clocks")


def _xml_name(heading: str, parent: str) -> str:
    name = _XML_NAMES.get(heading, heading.lower().replace(" ", "_"))
    if parent in _CLOCKS:
        return {"memory": "mem"}.get(name, name) + "_clock"
    if parent in _PREFIXES:
        affix, behind = _PREFIXES[parent]
        return name + affix if behind else affix + name
    return name


def _elements(parent: ElementTree.Element, tree: Tree, heading: str = "") -> None:
    for own, value in tree.items():
        element = ElementTree.SubElement(parent, _xml_name(own, heading))
        if isinstance(value, str):
            element.text = value
        elif isinstance(value, dict):
            _elements(element, value, own)
        else:
            for entry in value:
                _elements(ElementTree.SubElement(element, "process_info"), entry, own)
