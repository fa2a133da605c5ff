"""The file in which a rollout is planned: pools, endpoint, stages, gates, driver.

The models are the one description of the file: reading, checking and the JSON schema for editors (`schema`) come from them. `plan_file.py`
reads the YAML and says where in it a mistake is.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from anywarp.deploy.rollout.units import Address, Listen, Seconds, Share, share

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$", description="A short name.")]
Kubernetes = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$")]
Action = Literal["rollback", "hold", "ask"]

MOST_MEMBERS, MOST_STAGES, MOST_GATES = 200, 20, 40


class _Part(BaseModel):
    """A mapping in the file: keys that nobody knows are mistakes."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, strict=False)


class Member(_Part):
    """One server of a pool."""

    name: Name
    url: Address = Field(description="Where it answers: scheme, host and port.")
    capacity: float = Field(gt=0, le=1e6, description="Requests per second that it carries within your latency.")
    concurrency: int = Field(
        default=64,
        ge=1,
        le=100_000,
        description="Requests that it works on at once; a request's cost is a share of this.",
    )
    health: str = Field(
        default="/health",
        pattern=r"^/[^\s\"']*$",
        max_length=200,
        description="The path that answers 200 when it is well.",
    )


class Pool(_Part):
    """The servers on one side, source or target."""

    name: Name
    members: tuple[Member, ...] = Field(min_length=1, max_length=MOST_MEMBERS)
    price_per_hour: float = Field(
        default=0, ge=0, le=1e6, description="Price of one member for an hour, in the plan's currency."
    )

    @property
    def capacity(self) -> float:
        """Requests per second of all members."""
        return sum(member.capacity for member in self.members)

    @property
    def price(self) -> float:
        """Price of the whole pool for an hour."""
        return self.price_per_hour * len(self.members)


class Affinity(_Part):
    """What keeps a conversation on its side."""

    header: str = Field(
        default="x-conversation-id",
        pattern=r"^[A-Za-z0-9-]{1,64}$",
        description="A header that names the conversation.",
    )
    cookie: str = Field(
        default="anywarp-side",
        pattern=r"^[A-Za-z0-9_-]{1,64}$",
        description="The cookie that is set where no header comes.",
    )
    lifetime: Seconds = Field(default=3600, description="How long a conversation that is silent is remembered.")


class Endpoint(_Part):
    """What callers use, and how requests fall into classes."""

    protocol: Literal["openai", "v2-http", "v2-grpc"] = "openai"
    model: str = Field(
        default="", max_length=300, description="The model that is served; others pass without being compared."
    )
    listen: Listen = Field(default="127.0.0.1:8080", description="Where callers reach the comparing proxy.")
    requests_per_second: float = Field(
        gt=0, le=1e6, description="What callers send in an ordinary hour; forecasts rest on it."
    )
    peak_requests_per_second: float | None = Field(default=None, gt=0, le=1e6, description="The most that they send.")
    length_classes: tuple[Annotated[int, Field(ge=1, le=10_000_000)], ...] = Field(
        default=(512, 4096),
        max_length=8,
        description="Bounds of the prompt's length in tokens; each class is judged on its own.",
    )
    smallest_class: Share = Field(
        default=0.05,
        description="A class with at least this share of the requests must pass on its own; smaller ones may only not fail.",
    )
    affinity: Affinity = Affinity()

    @model_validator(mode="after")
    def _in_order(self) -> Endpoint:
        if list(self.length_classes) != sorted(set(self.length_classes)):
            raise ValueError("length_classes must grow")
        return self

    @property
    def peak(self) -> float:
        """Requests per second that a side which takes all must carry."""
        return max(self.peak_requests_per_second or 0, self.requests_per_second)

    def length_class(self, tokens: int) -> str:
        """Return the name of the class of a prompt with so many tokens, such as `to 512` or `over 4096`."""
        for bound in self.length_classes:
            if tokens <= bound:
                return f"to {bound}"
        return f"over {self.length_classes[-1]}" if self.length_classes else "all"


class Shadow(_Part):
    """What the proxy replays on the target, unseen by callers."""

    sample: Share = Field(default=0.1, description="The share of comparable requests that is replayed.")
    gpu_seconds_per_minute: float = Field(
        default=60, gt=0, le=1e6, description="The most that replays may take of the target."
    )
    store_prompts: bool = Field(default=False, description="Keep prompts and answers, not digests alone.")
    timeout: Seconds = Field(default=120, description="How long a replay may take.")
    noise: Share = Field(
        default=0.25,
        description="The share of replays that goes to the source again, so that its own noise is measured.",
    )


class Stage(_Part):
    """One step: how much of the traffic the target takes, and for how long it is watched."""

    kind: Literal["shadow", "share", "bake"] = "share"
    share: Share = Field(default=0, description="The target's share of the traffic.")
    at_least: Seconds = Field(default=600, description="Watched for so long even when it is decided earlier.")
    at_most: Seconds = Field(default=86400, description="After this without a decision the stage is undecided.")
    compare: Share | None = Field(
        default=None, description="The share of requests replayed in this stage (default: shadow.sample)."
    )

    @model_validator(mode="after")
    def _fits(self) -> Stage:
        if self.at_most < self.at_least:
            raise ValueError("at_most is shorter than at_least")
        if self.kind == "shadow" and self.share:
            raise ValueError("in a shadow stage the target answers nobody: leave share out")
        if self.kind == "share" and not self.share:
            raise ValueError("a stage of kind share needs a share above 0 %")
        if self.kind == "bake" and "share" in self.model_fields_set and self.share != 1:
            raise ValueError("a bake has the whole traffic on the target: leave share out")
        return self

    @property
    def target_share(self) -> float:
        """The target's share of what callers are answered."""
        return 1.0 if self.kind == "bake" else self.share

    @property
    def title(self) -> str:
        """The stage's name for people: `shadow`, `5 %`, `bake`."""
        return f"{100 * self.share:g} %" if self.kind == "share" else self.kind


def title(text: str) -> str:
    """Return a stage's title as stages have it: `5%` is `5 %`."""
    return re.sub(r"\s*%$", " %", text)


def _stage(value: Any) -> Any:
    """Read the short forms `shadow`, `bake` and `5 %`."""
    if isinstance(value, str):
        return {"kind": value} if value in ("shadow", "bake") else {"kind": "share", "share": share(value)}
    return value


class _Gate(_Part):
    on_failure: Action | None = Field(
        default=None, description="What is done when this gate fails (default: the plan's)."
    )
    stages: tuple[str, ...] | None = Field(
        default=None, description="Titles of the stages that it guards (default: all that can decide it)."
    )


class Divergence(_Gate):
    """Share of compared answers that part from the source's, beyond the share by which the source parts from itself."""

    kind: Literal["divergence"]
    at_most: Annotated[Share, Field(gt=0)] = Field(
        description="The most that the share may be, above the source's own where that is measured."
    )
    margin: float = Field(
        default=0.1,
        ge=0,
        le=100,
        description="Partings where the source preferred its token by less (in nats) are ties and not counted.",
    )


class Kl(_Gate):
    """Mean Kullback-Leibler divergence per token between source and target, in nats."""

    kind: Literal["kl"]
    at_most: float = Field(gt=0, le=10, description="The most that the mean may be, in nats.")
    cap: float = Field(
        default=1.0, gt=0, le=100, description="Larger values of one answer count as this: the test needs a bound."
    )

    @model_validator(mode="after")
    def _below_cap(self) -> Kl:
        if self.at_most >= self.cap:
            raise ValueError("at_most must be below cap")
        return self


class Agreement(_Gate):
    """Share of tokens whose most likely token is the same on both sides, averaged over answers."""

    kind: Literal["agreement"]
    at_least: Annotated[Share, Field(gt=0, lt=1)] = Field(description="The least that the mean share may be.")


class Latency(_Gate):
    """A quantile of latency, target against source."""

    kind: Literal["latency"]
    measure: Literal["first", "total"] = Field(
        default="total", description="Until the first token, or the whole answer."
    )
    quantile: Annotated[float, Field(gt=0, lt=1)] = Field(default=0.99, description="Such as 0.5 or 0.99.")
    ratio_at_most: float = Field(gt=1, le=100, description="The most that target / source may be; above 1.")


class Errors(_Gate):
    """Share of requests that fail, target against source."""

    kind: Literal["errors"]
    more_at_most: Annotated[Share, Field(gt=0)] = Field(
        description="By how much the target's share may be above the source's, such as 0.5 %."
    )


class Cost(_Gate):
    """Cost per million tokens (in and out), of what the target answers."""

    kind: Literal["cost"]
    at_most: float | None = Field(
        default=None, gt=0, le=1e6, description="The most that a million tokens may cost, in the plan's currency."
    )
    ratio_at_most: float | None = Field(default=None, gt=0, le=100, description="The most that target / source may be.")

    @model_validator(mode="after")
    def _one(self) -> Cost:
        if (self.at_most is None) == (self.ratio_at_most is None):
            raise ValueError("give one of at_most and ratio_at_most")
        return self


class Power(_Gate):
    """Energy per token of the target, from a monitoring system that answers Prometheus' queries."""

    kind: Literal["power"]
    url: Annotated[str, Field(pattern=r"^https?://[^\s]+$", max_length=500)] = Field(description="Prometheus' address.")
    query: str = Field(
        min_length=1, max_length=4000, description="An expression whose value is the target pool's power in watts."
    )
    joules_per_token_at_most: float = Field(gt=0, le=1e6)


Gate = Annotated[Divergence | Kl | Agreement | Latency | Errors | Cost | Power, Field(discriminator="kind")]


class HaproxyDriver(_Part):
    """HAProxy, started by us before both pools."""

    kind: Literal["haproxy"]
    listen: Listen = Field(
        default="127.0.0.1:8081", description="Where HAProxy listens; the proxy sends everything there."
    )
    binary: str = Field(
        default="haproxy", min_length=1, max_length=500, description="The program, on the path or by its place."
    )
    drain: Seconds = Field(
        default=30, description="How long running requests may end when HAProxy is replaced or stopped."
    )


class ProxyDriver(_Part):
    """The comparing proxy divides the requests itself."""

    kind: Literal["proxy"]


class _Cluster(_Part):
    namespace: Kubernetes = "default"
    context: str | None = Field(
        default=None, max_length=300, description="The context of kubeconfig (default: the current one)."
    )


class GatewayDriver(_Cluster):
    """Weights of an HTTPRoute of the Gateway API."""

    kind: Literal["gateway-api"]
    route: Kubernetes = Field(description="The HTTPRoute's name.")
    rule: int = Field(default=0, ge=0, le=15, description="Which of its rules, from 0.")
    source_service: Kubernetes
    target_service: Kubernetes


class ArgoDriver(_Cluster):
    """Argo Rollouts moves the traffic; we write its AnalysisTemplate and answer what it asks."""

    kind: Literal["argo-rollouts"]
    rollout: Kubernetes = Field(description="The Rollout's name.")
    metrics_listen: Listen = Field(default="127.0.0.1:8082", description="Where its web metric asks us.")
    metrics_url: Annotated[str, Field(pattern=r"^https?://[^\s]+$", max_length=500)] = Field(
        description="The same, as Argo Rollouts reaches it."
    )


class KserveDriver(_Cluster):
    """KServe's canary: `canaryTrafficPercent` of an InferenceService."""

    kind: Literal["kserve"]
    service: Kubernetes = Field(description="The InferenceService's name.")


class IstioDriver(_Cluster):
    """Weights and mirror of a VirtualService of Istio."""

    kind: Literal["istio"]
    virtual_service: Kubernetes
    route: int = Field(default=0, ge=0, le=100, description="Which of its http routes, from 0.")
    source_host: Kubernetes
    target_host: Kubernetes
    source_subset: Kubernetes | None = None
    target_subset: Kubernetes | None = None


DriverPlan = Annotated[
    HaproxyDriver | ProxyDriver | GatewayDriver | ArgoDriver | KserveDriver | IstioDriver, Field(discriminator="kind")
]


class Confidence(_Part):
    """How often the gates may be wrong."""

    false_alarm: Annotated[Share, Field(gt=0, le=0.5)] = Field(
        default=0.05, description="The chance that any gate fails in the whole rollout although every limit is kept."
    )
    missed: Annotated[Share, Field(gt=0, le=0.5)] = Field(
        default=0.05, description="The chance that a stage passes although a limit is broken."
    )


class State(_Part):
    """Where the rollout's state is kept."""

    postgresql: str | None = Field(
        default=None, pattern=r"^postgres(ql)?://[^\s]+$|^service=\S+$", max_length=1000,
        description="A PostgreSQL that several operators share; the default is an SQLite file of this user.",
    )  # fmt: skip


class Plan(_Part):
    """A rollout from a source pool to a target pool."""

    version: Literal[1]
    name: Name
    currency: str = Field(default="USD", pattern=r"^[A-Z]{3}$")
    endpoint: Endpoint
    source: Pool
    target: Pool
    shadow: Shadow = Shadow()
    stages: tuple[Annotated[Stage, BeforeValidator(_stage, json_schema_input_type=Stage | str)], ...] = Field(
        min_length=1, max_length=MOST_STAGES
    )
    gates: tuple[Gate, ...] = Field(min_length=1, max_length=MOST_GATES)
    confidence: Confidence = Confidence()
    on_failure: Action = Field(default="rollback", description="What is done when a gate fails.")
    on_undecided: Action = Field(default="ask", description="What is done when a stage ends undecided.")
    driver: DriverPlan
    state: State = State()

    @model_validator(mode="after")
    def _fits(self) -> Plan:
        names = [m.name for pool in (self.source, self.target) for m in pool.members]
        if len(set(names)) < len(names):
            raise ValueError(f"two members are named {next(n for n in names if names.count(n) > 1)}")
        titles = [stage.title for stage in self.stages]
        if len(set(titles)) < len(titles):
            raise ValueError(f"two stages are {next(t for t in titles if titles.count(t) > 1)}")
        shares = [stage.target_share for stage in self.stages]
        if shares != sorted(shares):
            raise ValueError("the target's share must grow from stage to stage")
        for gate in self.gates:
            for named in map(title, gate.stages or ()):
                if named not in titles:
                    raise ValueError(f"a gate names the stage {named}, which is not there: {', '.join(titles)}")
        return self


def schema() -> dict[str, Any]:
    """Return the JSON schema of the file, for editors and other programs."""
    made = Plan.model_json_schema(mode="validation")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made, "title": "A plan of anywarp rollout"}
