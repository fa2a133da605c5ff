"""Tasks that Ray runs, on a Ray of this machine."""

import importlib.util
import json

import pytest

from anywarp.cli.main import call


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="ray is not installed")
def test_a_fleet_runs_on_ray(tmp_path, capsys):
    (tmp_path / "p.yaml").write_text(
        "version: 1\nname: r\nmachines: [{kind: ray, at_once: 2}]\nentries:\n"
        "  - {name: a, verb: bench, command: [fine]}\n  - {name: b, verb: bench, command: [refuse]}\n"
    )
    assert call(["fleet", "run", str(tmp_path / "p.yaml"), "--format", "json"]) == 1
    states = {row["entry"]: (row["state"], row["failures"]) for row in json.loads(capsys.readouterr().out)["rows"]}
    assert states == {"a": ("done", 0), "b": ("failed", 2)}
