"""`nvidia-smi --query-gpu` and `--query-compute-apps`: properties by name, as comma-separated values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

import click

from anywarp.runtime.management import DeviceState, MachineState, Process

MIB = 1 << 20
NOT_AVAILABLE = "[N/A]"

T = TypeVar("T")


@dataclass(frozen=True)
class Value:
    """A value with its unit, which `nounits` leaves out."""

    text: str
    unit: str = ""


def mib(amount: int | None) -> Value:
    """Return bytes as MiB."""
    return _with_unit(None if amount is None else amount // MIB, "MiB")


def _with_unit(value: float | None, unit: str) -> Value:
    if value is None:
        return Value(NOT_AVAILABLE)
    return Value(f"{value:.2f}" if isinstance(value, float) else str(value), unit)


def _no(_state: MachineState, _device: DeviceState) -> Value:
    return Value(NOT_AVAILABLE)


def _of_device(read: Callable[[DeviceState], Value | str]) -> Callable[[MachineState, DeviceState], Value]:
    def value(_state: MachineState, device: DeviceState) -> Value:
        found = read(device)
        return found if isinstance(found, Value) else Value(found)

    return value


_GPU: dict[str, Callable[[MachineState, DeviceState], Value]] = {
    "timestamp": lambda s, d: Value(f"{datetime.now():%Y/%m/%d %H:%M:%S.%f}"[:-3]),
    "driver_version": lambda s, d: Value(s.driver),
    "count": lambda s, d: Value(str(len(s.devices))),
    "name": _of_device(lambda d: d.name),
    "index": _of_device(lambda d: str(d.index)),
    "uuid": _of_device(lambda d: d.uuid),
    "compute_cap": _of_device(lambda d: d.capability),
    "pci.bus_id": _of_device(lambda d: d.bus),
    "pci.domain": _of_device(lambda d: "0x" + d.bus[:8]),
    "pci.bus": _of_device(lambda d: "0x" + d.bus[9:11]),
    "pci.device": _of_device(lambda d: "0x" + d.bus[12:14]),
    "memory.total": _of_device(lambda d: mib(d.total)),
    "memory.reserved": _of_device(lambda d: mib(d.reserved)),
    "memory.used": _of_device(lambda d: mib(d.used)),
    "memory.free": _of_device(lambda d: mib(d.free)),
    "utilization.gpu": _of_device(lambda d: _with_unit(d.busy, "%")),
    "utilization.memory": _of_device(lambda d: _with_unit(d.memory_busy, "%")),
    "temperature.gpu": _of_device(lambda d: _with_unit(d.temperature, "")),
    "power.draw": _of_device(lambda d: _with_unit(d.power, "W")),
    "power.draw.instant": _of_device(lambda d: _with_unit(d.power, "W")),
    "power.limit": _of_device(lambda d: _with_unit(d.power_limit, "W")),
    "enforced.power.limit": _of_device(lambda d: _with_unit(d.power_limit, "W")),
    "clocks.current.graphics": _of_device(lambda d: _with_unit(d.clock, "MHz")),
    "clocks.current.sm": _of_device(lambda d: _with_unit(d.clock, "MHz")),
    "clocks.max.graphics": _of_device(lambda d: _with_unit(d.clock_limit, "MHz")),
    "clocks.max.sm": _of_device(lambda d: _with_unit(d.clock_limit, "MHz")),
    "compute_mode": _of_device(lambda d: "Default"),
    "display_active": _of_device(lambda d: "Disabled"),
    "display_mode": _of_device(lambda d: "Disabled"),
}

_ABSENT = """
addressing_mode serial vbios_version inforom.img inforom.oem inforom.ecc inforom.pwr gom.current gom.pending
persistence_mode accounting.mode accounting.buffer_size driver_model.current driver_model.pending
pci.device_id pci.sub_device_id pcie.link.gen.current pcie.link.gen.gpucurrent pcie.link.gen.max pcie.link.gen.gpumax
pcie.link.gen.hostmax pcie.link.width.current pcie.link.width.max fan.speed pstate
clocks_event_reasons.supported clocks_event_reasons.active clocks_event_reasons.gpu_idle clocks_event_reasons.sw_power_cap
clocks_event_reasons.hw_slowdown clocks_event_reasons.hw_thermal_slowdown clocks_event_reasons.sw_thermal_slowdown
clocks_throttle_reasons.active clocks_throttle_reasons.gpu_idle clocks_throttle_reasons.sw_power_cap
clocks_throttle_reasons.hw_slowdown clocks_throttle_reasons.hw_thermal_slowdown
ecc.mode.current ecc.mode.pending ecc.errors.corrected.volatile.total ecc.errors.uncorrected.volatile.total
ecc.errors.corrected.aggregate.total ecc.errors.uncorrected.aggregate.total
retired_pages.single_bit_ecc.count retired_pages.double_bit.count retired_pages.pending
temperature.gpu.tlimit temperature.memory power.management power.draw.average power.default_limit power.min_limit power.max_limit
module.power.draw.average module.power.draw.instant
clocks.current.memory clocks.current.video clocks.max.memory clocks.applications.graphics clocks.applications.memory
clocks.default_applications.graphics clocks.default_applications.memory
utilization.encoder utilization.decoder utilization.jpeg utilization.ofa
encoder.stats.sessionCount encoder.stats.averageFps encoder.stats.averageLatency dramEncryption.mode.current
mig.mode.current mig.mode.pending gsp.mode.current gsp.mode.default fabric.state fabric.status c2c.mode
""".split()

_OTHER_NAMES = {
    "gpu_name": "name",
    "gpu_uuid": "uuid",
    "gpu_bus_id": "pci.bus_id",
    "gpu_serial": "serial",
    "clocks.gr": "clocks.current.graphics",
    "clocks.sm": "clocks.current.sm",
    "clocks.mem": "clocks.current.memory",
    "clocks.video": "clocks.current.video",
    "clocks.max.gr": "clocks.max.graphics",
    "clocks.max.mem": "clocks.max.memory",
}
"""Names that nvidia-smi takes for others; the heading has the name as given."""

GPU_FIELDS: Mapping[str, Callable[[MachineState, DeviceState], Value]] = {**_GPU, **dict.fromkeys(_ABSENT, _no)}
"""Each property of a device, with what reads it."""

APP_FIELDS: Mapping[str, Callable[[DeviceState, Process], Value]] = {
    "timestamp": lambda d, p: Value(f"{datetime.now():%Y/%m/%d %H:%M:%S.%f}"[:-3]),
    "gpu_name": lambda d, p: Value(d.name),
    "gpu_bus_id": lambda d, p: Value(d.bus),
    "gpu_uuid": lambda d, p: Value(d.uuid),
    "gpu_serial": lambda d, p: Value(NOT_AVAILABLE),
    "pid": lambda d, p: Value(str(p.pid)),
    "process_name": lambda d, p: Value(p.name),
    "name": lambda d, p: Value(p.name),
    "used_gpu_memory": lambda d, p: mib(p.memory),
    "used_memory": lambda d, p: mib(p.memory),
}
"""Each property of a process, with what reads it."""

_UNITS = {
    "memory": "[MiB]",
    "utilization": "[%]",
    "power": "[W]",
    "clocks": "[MHz]",
    "used_gpu": "[MiB]",
    "used_mem": "[MiB]",
}
_WITHOUT = ("clocks_", "power.management")


@dataclass(frozen=True)
class Layout:
    """How values are printed."""

    header: bool = True
    units: bool = True


def layout_of(style: str) -> Layout:
    """Read `--format`; click.UsageError when it is none."""
    words = [word.strip() for word in style.split(",")]
    if words[0] != "csv" or not set(words[1:]) <= {"noheader", "nounits"}:
        raise click.UsageError('"--format=" is needed: csv, with noheader or nounits if wanted')
    return Layout("noheader" not in words, "nounits" not in words)


def chosen(names: str, table: Mapping[str, T]) -> tuple[tuple[str, T], ...]:
    """Return the properties named in a list; click.UsageError names one that does not exist, in nvidia-smi's words."""
    found: list[tuple[str, T]] = []
    for name in (part.strip() for part in names.split(",")):
        own = name if name in table else _OTHER_NAMES.get(name, name)
        if own not in table:
            raise click.UsageError(f'Field "{name}" is not a valid field to query.')
        found.append((name, table[own]))
    return tuple(found)


def gpu_rows(
    state: MachineState, wanted: Sequence[tuple[str, Callable[[MachineState, DeviceState], Value]]]
) -> list[list[Value]]:
    """Return the wanted values of each device."""
    return [[read(state, device) for _, read in wanted] for device in state.devices]


def app_rows(
    state: MachineState, wanted: Sequence[tuple[str, Callable[[DeviceState, Process], Value]]]
) -> list[list[Value]]:
    """Return the wanted values of each process on each device."""
    return [[read(d, p) for _, read in wanted] for d in state.devices for p in d.processes]


def as_csv(rows: Sequence[Sequence[Value]], wanted: Sequence[tuple[str, object]], layout: Layout, first: bool) -> str:
    """Return the rows as nvidia-smi prints them; the heading only at first."""
    lines = [", ".join(_heading(name, layout) for name, _ in wanted)] if layout.header and first else []
    for row in rows:
        lines.append(", ".join(v.text + (f" {v.unit}" if v.unit and layout.units else "") for v in row))
    return "\n".join(lines)


def _heading(name: str, layout: Layout) -> str:
    """Return the heading of a column; units stand in it either way, as nvidia-smi does."""
    if name.startswith(_WITHOUT):
        return name
    unit = next((unit for start, unit in _UNITS.items() if name.startswith(start)), "")
    return f"{name} {unit}" if unit else name
