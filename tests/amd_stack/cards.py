"""Cards for AMD's emulator: its own configurations, cut to few compute units, so that a program starts soon. `python cards.py CONFIGURATIONS FOLDER`
writes a file for each, and one with two of them."""

from __future__ import annotations

import json
import pathlib
import re
import sys

ENGINES, UNITS = 2, 4

CARDS = {
    # (AMD's configuration, the instruction set that the emulator must have, what differs)
    "gfx942": ("gfx942_cdna3_kmd", "cdna3", {}),
    "gfx90a": (
        "gfx942_cdna3_kmd",
        "cdna2",
        {"gfx_target_version": 90010, "device_id": 0x740F, "family_id": 141, "marketing_name": "AMD Instinct MI210"},
    ),
    "gfx950": ("gfx950_cdna4_kmd", "cdna4", {}),
    "gfx1100": ("gfx1100_w7900", "rdna3", {}),
    "gfx1201": ("gfx1201_r9700", "rdna4", {}),
}


def cut(configuration: dict, isa: str, changes: dict) -> dict:
    """The configuration with one die of few units."""
    device = configuration["vm"]["gpu"]["device"]
    configuration["vm"]["arch"] = isa
    arrays = device["num_shader_arrays_per_engine"]
    device |= {
        "simd_count": ENGINES * UNITS * device["simd_per_cu"],
        "num_shader_engines": ENGINES * arrays,
        "num_cu_per_sh": UNITS // arrays,
        **changes,
    }
    topology = configuration["topology"]
    [die] = [child for child in topology["root"]["children"] if child["type"] == "xcd"]
    [engines] = [child for child in die["children"] if child["type"] == "shader_engine"]
    [units] = [child for child in engines["children"] if child["type"] == "compute_unit"]
    [scalars] = [each for each in units["config"] if each["key"] == "sgprs_per_wf"]
    scalars["value"] = "128"  # 104 are fewer than GFX11's 106 and VCC behind them
    die["name"], engines["name"], units["name"] = "xcd[0:1]", f"se[0:{ENGINES}]", f"cu[0:{UNITS}]"
    for link in topology["links"]:
        link["pattern"] = re.sub(r"j\*\d+", f"j*{UNITS}", link["pattern"])
        for each, end in zip(link["for_ranges"], (1, ENGINES, UNITS), strict=True):
            each["end"] = end
    return configuration


def main(configurations: pathlib.Path, folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for arch, (name, isa, changes) in CARDS.items():
        made = cut(json.loads((configurations / f"{name}.json").read_text()), isa, changes)
        (folder / f"{arch}.json").write_text(json.dumps(made, indent=1) + "\n")
        made["vm"]["gpu"]["num_gpus"] = 2  # neighbours in one hive
        made["vm"]["gpu"]["device"] |= {"location_id": 768, "hive_id": 1}
        (folder / f"{arch}-2.json").write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
