"""Which runner a machine of a plan has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anywarp.deploy.fleet.runners.runner import Runner

if TYPE_CHECKING:
    from anywarp.deploy.fleet.folder import Folder
    from anywarp.deploy.fleet.plan import Machine


def runner_of(machine: Machine, folder: Folder) -> Runner:
    """Return the runner of a machine of the plan."""
    if machine.kind == "here":
        from anywarp.deploy.fleet.runners.here import HereRunner

        return HereRunner(machine, folder)
    if machine.kind == "slurm":
        from anywarp.deploy.fleet.runners.slurm import SlurmRunner

        return SlurmRunner(machine, folder)
    if machine.kind == "kubernetes":
        from anywarp.deploy.fleet.runners.kubernetes import KubernetesRunner

        return KubernetesRunner(machine, folder)
    from anywarp.deploy.fleet.runners.ray import RayRunner

    return RayRunner(machine, folder)
