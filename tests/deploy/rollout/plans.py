"""A plan for tests, and traffic that is made up for it."""

import random

from anywarp.deploy.rollout import plan_file
from anywarp.deploy.rollout.observations import Observation, Writer

TEXT = """\
version: 1
name: {name}
endpoint:
  requests_per_second: 20
  listen: 127.0.0.1:{port0}
source:
  name: h100
  price_per_hour: 30
  members:
    - {{name: a, url: "http://127.0.0.1:{a}", capacity: 30}}
target:
  name: mi300
  price_per_hour: 20
  members:
    - {{name: b, url: "http://127.0.0.1:{b}", capacity: 30}}
shadow: {{noise: 0}}
stages:
  - {{kind: shadow, at_least: 1s, at_most: 1m}}
  - {{share: 10 %, at_least: 1s, at_most: 1m}}
  - {{share: 100 %, at_least: 1s, at_most: 1m}}
  - {{kind: bake, at_least: 2s, at_most: 1m}}
gates:
{gates}
driver: {driver}
{more}
"""


GATES = """\
  - {kind: divergence, at_most: 5 %}
  - {kind: errors, more_at_most: 10 %}
  - {kind: latency, quantile: 0.5, ratio_at_most: 1.5}
"""


def text(name="chat", a=9001, b=9002, driver="{kind: proxy}", more="", port0=8080, gates=GATES):
    return TEXT.format(name=name, a=a, b=b, driver=driver, more=more, port0=port0, gates=gates)


def plan(**given):
    return plan_file.parse(text(**given), "plan.yaml").plan


def observe(
    writer: Writer,
    plan,
    stage,
    count,
    rng: random.Random,
    *,
    errors=0.0,
    slow=1.0,
    parted=0.0,
    lengths=("to 512", "over 4096"),
    only=None,
):
    """Write observations of a stage: callers on both sides by its share, replays of a fifth of them. A fault is the target's, in class `only` if given."""
    for n in range(count):
        exchange = f"{stage.title} {n} {rng.random()}"
        side = "target" if rng.random() < stage.target_share else "source"
        length = rng.choice(lengths)
        bad = only in (None, length)
        failed = side == "target" and bad and rng.random() < errors
        ms = rng.lognormvariate(5, 0.3) * (slow if side == "target" and bad else 1)
        put(writer, Observation(
            plan.name, stage.title, side, exchange, member="b" if side == "target" else "a", route="/v1/completions", length=length,
            status=500 if failed else 200, first_ms=ms / 10, total_ms=ms, tokens_in=100, tokens_out=50,
        ))  # fmt: skip
        if rng.random() < 0.2:
            differs = bad and rng.random() < parted
            put(writer, Observation(
                plan.name, stage.title, "shadow", exchange, member="a" if side == "target" else "b", route="/v1/completions", length=length,
                status=200, comparison="teacher-forced", compared=50, divergence=3 if differs else None, margin=2.0 if differs else None,
            ))  # fmt: skip


def put(writer, observation):
    while not writer.put(observation):
        pass
