"""Tasks on the machines of a Ray cluster, which gives each the processors and GPUs that the plan asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from anywarp.deploy.fleet import outcome as outcomes
from anywarp.deploy.fleet import tasks
from anywarp.deploy.fleet.execution import execute, own_words
from anywarp.deploy.fleet.problems import RUNNER, problem
from anywarp.deploy.fleet.runners.runner import Seen

if TYPE_CHECKING:
    from anywarp.deploy.fleet.folder import Batch, Folder
    from anywarp.deploy.fleet.plan import Ray


class RayRunner:
    """Hands tasks to Ray while it drives; they end with it."""

    settle = 0.0

    def __init__(self, machine: Ray, folder: Folder) -> None:
        self._machine, self._folder = machine, folder
        self._ray: Any = None
        self._given: dict[tuple[str, int], Any] = {}
        self._ended: dict[tuple[str, int], str] = {}
        self._mine: set[str] = set()

    def submit(self, batch: Batch) -> str:
        """Take a batch; AnywarpError (Y144) where Ray is missing or cannot be reached."""
        if self._ray is None:
            self._ray = _connected(self._machine.address)
        self._mine.add(batch.id)
        return "ray"

    def find(self, batch: Batch) -> str | None:
        """Return None: what an earlier process was given ended with it."""
        return None

    def look(self, batch: Batch, ticket: str) -> Mapping[int, Seen]:
        """Give tasks to Ray, take results from it, and return where each is."""
        if batch.id not in self._mine:
            return {number: Seen("ended") for number in range(len(batch.tasks))}
        self._take()
        return {number: self._one(batch, number) for number in range(len(batch.tasks))}

    def _one(self, batch: Batch, number: int) -> Seen:
        place = batch.id, number
        if place in self._ended:
            return Seen("ended", self._ended[place])
        if place not in self._given:
            if len(self._given) >= self._machine.at_once:
                return Seen("waiting")
            task = batch.tasks[number]
            wanted = {"num_cpus": self._machine.cpus, "num_gpus": task.gpus, "max_retries": 0}
            self._given[place] = self._ray.remote(**wanted)(run_task).remote(task.as_json())
        return Seen("running")

    def _take(self) -> None:
        """Write down what tasks came to that have ended."""
        places = {given: place for place, given in self._given.items()}
        done: list[Any] = self._ray.wait(list(places), num_returns=len(places), timeout=0.1)[0] if places else []
        for one in done:
            place = places[one]
            del self._given[place]
            try:
                text = str(self._ray.get(one))
            except Exception as error:  # Ray's own kinds: a worker that died, a machine that was lost
                self._ended[place] = f"Ray says {type(error).__name__}: {str(error)[:300]}"
                continue
            self._ended[place] = "it came to nothing"
            self._folder.write(outcomes.from_text(text, "the answer of a worker"), place[0])

    def close(self) -> None:
        """Leave the cluster, which ends what it runs for us."""
        if self._ray is not None:
            self._ray.shutdown()
            self._ray = None


def run_task(value: dict[str, Any]) -> str:
    """Run a task on a machine of the cluster; return its outcome as text."""
    return outcomes.as_text(execute(tasks.from_json(value), own_words()))


def _connected(address: str | None) -> Any:
    try:
        import ray  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise problem(RUNNER, "machines of the kind ray need Ray", "pip install 'anywarp[ray]'") from None
    api: Any = ray
    try:
        api.init(address=address, include_dashboard=False, log_to_driver=False, logging_level="error")
    except Exception as error:  # Ray's own kinds, and the system's
        raise problem(
            RUNNER, f"Ray cannot be reached: {error}"[:500], "ray start --head, or leave the address out"
        ) from None
    return api
