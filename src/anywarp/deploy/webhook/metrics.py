"""What the webhook counts, in Prometheus' format."""

from __future__ import annotations

from anywarp.deploy.webhook import codes
from anywarp.deploy.webhook.review import Answer


class Metrics:
    """Counters of one server; AnywarpError (Y110) without prometheus_client."""

    def __init__(self) -> None:
        try:
            from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
        except ImportError as error:
            raise codes.missing(error) from error
        self._registry = CollectorRegistry()
        self._reviews = Counter(
            "anywarp_webhook_reviews", "Reviews, by what became of them.", ["outcome"], registry=self._registry
        )
        self._refused = Counter(
            "anywarp_webhook_refused_requests", "Requests that were not read.", ["reason"], registry=self._registry
        )
        self._changes = Counter("anywarp_webhook_changes", "Places changed in pods.", registry=self._registry)
        self._left = Counter(
            "anywarp_webhook_left", "Places in pods that were left for a person.", registry=self._registry
        )
        self._seconds = Histogram("anywarp_webhook_review_seconds", "Time of a review.", registry=self._registry,
                                  buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10))  # fmt: skip
        self._loads = Counter(
            "anywarp_webhook_certificate_loads", "Times the certificate was read.", ["result"], registry=self._registry
        )
        self.under_way = Gauge("anywarp_webhook_reviews_under_way", "Reviews being answered.", registry=self._registry)

    def reviewed(self, said: Answer, seconds: float) -> None:
        """Count a review."""
        self._reviews.labels(said.outcome).inc()
        self._seconds.observe(seconds)
        if said.outcome in ("converted", "annotated"):
            self._changes.inc(said.changes)
        self._left.inc(said.left)

    def refused(self, reason: str) -> None:
        """Count a request that was turned away unread."""
        self._refused.labels(reason).inc()

    def certificate(self, result: str) -> None:
        """Count a reading of the certificate: `loaded` or `failed`."""
        self._loads.labels(result).inc()

    def text(self) -> bytes:
        """Return everything in the text format."""
        from prometheus_client import generate_latest

        return generate_latest(self._registry)
