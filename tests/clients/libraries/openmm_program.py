"""OpenMM's CUDA platform: forces and energies of a small box as its Reference platform has them in double, and what motion must keep."""

import numpy as np
import openmm
from checked import check, end
from openmm import unit

SIDE, MOLECULES = 2.4, 64
rng = np.random.default_rng(0)
CUDA = openmm.Platform.getPlatformByName("CUDA")
REFERENCE = openmm.Platform.getPlatformByName("Reference")
PER_NM = unit.kilojoule_per_mole / unit.nanometer


def waters():
    """Rigid molecules of three charges on a lattice, turned at random: positions in nm."""
    shape = np.array([[0, 0, 0], [0.09572, 0, 0], [-0.0239987, 0.0926627, 0]])
    places = np.stack(np.meshgrid(*[np.arange(4)] * 3, indexing="ij"), -1).reshape(-1, 3) * (SIDE / 4) + 0.1
    turned = []
    for place in places[:MOLECULES]:
        turn, _ = np.linalg.qr(rng.standard_normal((3, 3)))
        turned.append(place + shape @ turn.T)
    return np.concatenate(turned)


def box(rigid=True, method=openmm.NonbondedForce.PME):
    system = openmm.System()
    system.setDefaultPeriodicBoxVectors(*(SIDE * np.eye(3)))
    pairs, bonds, angles = openmm.NonbondedForce(), openmm.HarmonicBondForce(), openmm.HarmonicAngleForce()
    pairs.setNonbondedMethod(method)
    pairs.setCutoffDistance(0.9)
    pairs.setEwaldErrorTolerance(1e-4)
    for first in range(0, 3 * MOLECULES, 3):
        for mass, charge, width, depth in (
            (15.999, -0.834, 0.31507, 0.635968),
            (1.008, 0.417, 1, 0),
            (1.008, 0.417, 1, 0),
        ):
            system.addParticle(mass)
            pairs.addParticle(charge, width, depth)
        for a, b, distance in ((0, 1, 0.09572), (0, 2, 0.09572), (1, 2, 0.15139)):
            pairs.addException(first + a, first + b, 0, 1, 0)
            if rigid:
                system.addConstraint(first + a, first + b, distance)
        if not rigid:
            bonds.addBond(first, first + 1, 0.09572, 462750)
            bonds.addBond(first, first + 2, 0.09572, 462750)
            angles.addAngle(first + 1, first, first + 2, 1.824, 836.8)
    for force in (pairs, bonds, angles):
        system.addForce(force)
    return system


def chain():
    """A chain of particles under each of the other forces."""
    system = openmm.System()
    count = 40
    system.setDefaultPeriodicBoxVectors(*(4 * np.eye(3)))
    torsions, ryckaert, born = openmm.PeriodicTorsionForce(), openmm.RBTorsionForce(), openmm.GBSAOBCForce()
    custom = openmm.CustomNonbondedForce("a*exp(-r/b)*step(1.2-r); a=sqrt(a1*a2); b=0.5*(b1+b2)")
    outer, bond = openmm.CustomExternalForce("k*(x^2+y^4+sin(z))"), openmm.CustomBondForce("k*(r-0.3)^4")
    custom.addPerParticleParameter("a")
    custom.addPerParticleParameter("b")
    for force in (custom, born):
        force.setNonbondedMethod(type(force).CutoffNonPeriodic)
        force.setCutoffDistance(1.5)
    outer.addGlobalParameter("k", 3.0)
    bond.addPerBondParameter("k")
    for i in range(count):
        system.addParticle(12)
        custom.addParticle([1 + i % 3, 0.2 + 0.01 * i])
        outer.addParticle(i, [])
        born.addParticle((-1) ** i * 0.3, 0.15, 0.8)
        if i > 0:
            bond.addBond(i - 1, i, [200])
        if i > 2:
            torsions.addTorsion(i - 3, i - 2, i - 1, i, 1 + i % 3, 0.3, 5)
            ryckaert.addTorsion(i - 3, i - 2, i - 1, i, 1, 2, 3, 1, 0.5, 0.2)
    for force in (torsions, ryckaert, born, custom, outer, bond):
        system.addForce(force)
    return system, np.cumsum(rng.standard_normal((count, 3)) * 0.15 + 0.05, 0)


def context(system, positions, platform, precision="mixed", integrator=None):
    chosen = {"Precision": precision} if platform is CUDA else {}
    made = openmm.Context(system, integrator or openmm.VerletIntegrator(0.001), platform, chosen)
    made.setPositions(positions)
    return made


def state(made):
    found = made.getState(getEnergy=True, getForces=True)
    return found.getForces(asNumpy=True).value_in_unit(PER_NM), found.getPotentialEnergy()._value


def compare(name, system, positions, kinds):
    forces, energy = state(context(system, positions, REFERENCE))
    for precision, bound in kinds.items():
        found = state(context(system, positions, CUDA, precision))
        check(f"forces, {name}, {precision}", lambda found=found: found[0], forces, bound)
        check(f"energy, {name}, {precision}", lambda found=found: found[1], energy, 10 * bound)


def energy(made):
    found = made.getState(getEnergy=True)
    return found.getPotentialEnergy()._value + found.getKineticEnergy()._value


start = waters()
# OpenMM keeps widths and depths in single precision, whatever it computes in; energies are small differences of large sums.
# Both sum the far part of PME on meshes of their own: they agree to what is asked of Ewald's sum.
compare("PME", box(), start, {"mixed": 5e-4, "double": 5e-4})
compare("molecules that bend, PME", box(False), start, {"mixed": 5e-4})
compare("reaction field", box(method=openmm.NonbondedForce.CutoffPeriodic), start, {"mixed": 2e-5})
compare("every pair", box(method=openmm.NonbondedForce.NoCutoff), start, {"single": 2e-5, "double": 1e-7})
compare("chain", *chain(), {"mixed": 5e-5, "double": 1e-7})

made = context(box(), start, CUDA)
openmm.LocalEnergyMinimizer.minimize(made, 10, 30)
settled = made.getState(getPositions=True, getEnergy=True)
check(
    "rest has less energy",
    lambda: settled.getPotentialEnergy()._value < state(context(box(), start, REFERENCE))[1],
    True,
    0,
)
made.setVelocitiesToTemperature(300, 1)
made.applyVelocityConstraints(1e-7)
before = energy(made)
made.getIntegrator().step(100)
check("energy is kept", lambda: abs(energy(made) - before) / (3 * MOLECULES) < 0.05, True, 0)
moved = made.getState(getPositions=True).getPositions(asNumpy=True)._value.reshape(-1, 3, 3)
check("bonds are kept", lambda: np.linalg.norm(moved[:, 1] - moved[:, 0], axis=1), np.full(MOLECULES, 0.09572), 1e-5)
bath = context(box(), settled.getPositions(), CUDA, integrator=openmm.LangevinMiddleIntegrator(300, 50, 0.002))
bath.setVelocitiesToTemperature(300, 2)
seen = []
for _ in range(10):
    bath.getIntegrator().step(20)
    seen.append(bath.getState(getEnergy=True).getKineticEnergy()._value)
degrees = 6 * MOLECULES
temperature = 2 * np.mean(seen) / (degrees * 8.31446e-3)
check("temperature of a bath", lambda: abs(temperature - 300) < 40, True, 0)
end()
