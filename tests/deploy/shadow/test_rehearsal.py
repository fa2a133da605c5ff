"""The rehearsal of a rollout: its model against the arithmetic it was trained with, its engine, and the whole of it."""

import importlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROLLOUT = Path(__file__).parents[3] / "examples" / "rollout"

pytestmark = pytest.mark.torch


@pytest.fixture
def modules(monkeypatch):
    """The example's modules by name, imported from its folder and forgotten again."""
    torch = pytest.importorskip("torch", reason="this machine has no torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(ROLLOUT.parent / "story"))
    monkeypatch.syspath_prepend(str(ROLLOUT))
    yield importlib.import_module
    torch.set_num_threads(threads)
    for name in {"model", "engine", "server", "train", "corpus", "tokenizer"} & (set(sys.modules) - before):
        del sys.modules[name]


def test_the_model_is_the_one_that_was_trained(modules):
    """Mean cross entropy as the training's own numpy computes it."""
    import torch

    train, model = modules("train"), modules("model").Model(2, "cpu")
    tokens = [model.tokenizer.end, *model.tokenizer.encode("Once upon a time, there was a kind girl named Lily.")]
    weights = train.load_weights(ROLLOUT.parent / "story" / "weights.safetensors")
    network = train.Network(train.Shape(), weights, len(tokens) - 1)
    expected = network.loss(np.array([tokens[:-1]]), np.array([tokens[1:]]))
    logits = model.forward([tokens[:-1]], [1], [0])[0]
    got = torch.nn.functional.cross_entropy(logits, torch.tensor(tokens[1:]))
    assert float(got) == pytest.approx(expected, rel=1e-4) and expected < 2


def test_tokens_made_together_are_those_made_alone(modules):
    """Requests that join and leave between steps, over two slots, give what each gives with the engine for itself."""
    engine, model = modules("engine"), modules("model")

    def answers(prompts, slots):
        made = {n: [] for n in range(len(prompts))}
        running = engine.Engine(model.Model(slots, "cpu"), slots)
        encode = running.model.tokenizer.encode
        for n, (prompt, most) in enumerate(prompts):
            running.waiting.put(
                engine.Work([running.model.tokenizer.end, *encode(prompt)], most, made[n].append, top=2)
            )
        while len(running.free) < slots or not running.waiting.empty():
            while running.free and not running.waiting.empty():
                running.begin(running.waiting.get())
            running.step()
        return made

    prompts = [("Once upon a time", 12), ("Tom went to", 3), ("The red kite was", 7), ("Near the pond", 9)]
    together = answers(prompts, 2)
    for n, prompt in enumerate(prompts):
        alone = answers([prompt], 1)[0]
        assert together[n][-1] == alone[-1] == "length"
        assert [t.id for t in together[n][:-1]] == [t.id for t in alone[:-1]] and len(alone) == prompt[1] + 1
        for a, b in zip(together[n], alone[:-1]):
            assert a.logprob == pytest.approx(b.logprob, abs=1e-4) and a.top[0][0] == a.id


@pytest.mark.long
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("fault", [None, "rope-base", "slow-tail", "errors"])
def test_the_whole_rehearsal(tmp_path, fault):
    """The sound target gets all traffic; each fault is stopped by its gate, and no caller gets a wrong answer or none."""
    command = [
        sys.executable,
        str(ROLLOUT / "rehearse"),
        "--folder",
        str(tmp_path),
        *([] if shutil.which("haproxy") else ["--no-haproxy"]),
    ]
    done = subprocess.run([*command, *(["--fault", fault] if fault else [])], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ("done: bake passed" in done.stderr) == (fault is None) and ("rolling back" in done.stderr) == (
        fault is not None
    )
    name = f"rehearsal-{fault or 'sound'}"
    answers = json.loads((tmp_path / f"{name}-load.log").read_text().splitlines()[-1])
    assert answers["right"] > 50 and answers["wrong"] == answers["lost"] == 0
    assert "<svg" in (tmp_path / f"{name}.html").read_text()
