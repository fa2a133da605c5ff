"""Counters of energy: sums by hand, a counter that starts again, and what is missing is named."""

import stat

from anywarp.check.bench import energy


def package(folder, number, energy_uj, name="package-0", most=262143328850):
    place = folder / f"intel-rapl:{number}"
    place.mkdir(parents=True)
    (place / "name").write_text(name + "\n")
    (place / "max_energy_range_uj").write_text(f"{most}\n")
    (place / "energy_uj").write_text(f"{energy_uj}\n")
    return place / "energy_uj"


def test_joules_are_differences_of_microjoules(tmp_path):
    one, two = package(tmp_path, 0, 1_000_000), package(tmp_path, 1, 5_000_000, "package-1")
    (tmp_path / "intel-rapl:0:0").mkdir()  # the cores, which the package's counter holds already
    meters = energy.meters(cards=False, rapl=tmp_path)
    before = meters.read()
    one.write_text("3500000")
    two.write_text("5000001")
    used = meters.used(before, meters.read())
    assert used == {"processor package-0": 2.5, "processor package-1": 5.000001 - 5} or abs(sum(used.values()) - 2.500001) < 1e-9  # fmt: skip
    assert len(used) == 2 and not meters.missing


def test_a_counter_that_starts_again_goes_on(tmp_path):
    one = package(tmp_path, 0, 9_000_000, most=10_000_000)
    meters = energy.meters(cards=False, rapl=tmp_path)
    before = meters.read()
    one.write_text("500000")
    assert meters.used(before, meters.read()) == {"processor package-0": 1.5}


def test_what_cannot_be_read_is_named(tmp_path, monkeypatch):
    assert "virtual machines" in energy.meters(cards=False, rapl=tmp_path).missing["processor"]
    monkeypatch.setenv("PATH", str(tmp_path))
    assert energy.meters(rapl=tmp_path).missing["AMD"] == "amd-smi is not on the path"


AMD_SMI = """#!/bin/sh
[ "$*" = "metric --energy --json" ] || exit 1
echo '{"gpu_data": [{"gpu": 0, "energy": {"total_energy_consumption": {"value": 123.5, "unit": "J"}}}]}'
"""


def test_amd_cards_are_asked_through_amd_smi(tmp_path, monkeypatch):
    tool = tmp_path / "amd-smi"
    tool.write_text(AMD_SMI)
    tool.chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert energy.meters(rapl=tmp_path).read()["AMD 0"] == 123.5
    tool.write_text("#!/bin/sh\necho '[{}]'\n")
    assert "energy" in energy.meters(rapl=tmp_path).missing["AMD"]
