"""Experts whose quality differs by building and changes: some of what they propose in whole searches is false.

A false proposal names a place of the known floor where nothing is, and tells the chance of a real one. The robot drives
there, looks and finds nothing; what that changes in later offers happens, unlike in `choice_trials`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lodestar.experts.config import ReachConfig
from lodestar.experts.protocol import Proposal, ProposalRequest, Rejection
from lodestar.experts.reach import Reach
from lodestar.experts.registry import EGO_VLM, SEMANTIC_MAP
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar_eval.metrics import paired_difference
from lodestar_eval.outcomes import EpisodeOutcome
from lodestar_eval.registry import Bar, Table

#: Chance that an answer begins a false claim where none is made, by expert. As a claim lasts until the robot has been
#: there, more of the answers are false: with 0.4 about 0.7, where the robot drives to what is claimed.
Falseness = Mapping[str, float]

#: What changes from one third of the buildings to the next, and that chance by kind of building and expert;
#: chosen, the regime that issue 36 names. Where a detector does not know the word, map and view name others.
PHASES = ("a view that is wrong in warehouses", "a detector without the word", "rooms without labels")
FALSENESS: tuple[Mapping[str, Falseness], ...] = (
    {"office": {EGO_VLM.name: 0.4}, "warehouse": {EGO_VLM.name: 0.8}},
    {
        kind: {SEMANTIC_MAP.name: 0.8, EGO_VLM.name: 0.4 if kind != "warehouse" else 0.8}
        for kind in ("apartment", "office", "warehouse")
    },
    {kind: {SEMANTIC_MAP.name: 0.8} for kind in ("apartment", "office", "warehouse")},
)
_CHANCE = 0.66  # of a thing in view as it is told (docs/measurements/choices.md: 11.3 expected of 17)
_NEAR, _FAR = 2.0, 10.0  # metres of way to a false place; chosen, a room
_THERE = 1.0  # metres from it at which the robot has looked; chosen
_REACH = ReachConfig()


def phase_of(number: int, buildings: int) -> int:
    """Return the phase of one of so many buildings in sequence."""
    return number * len(PHASES) // max(buildings, 1)


def falseness_in(world: str, phase: int) -> Falseness:
    """Return the chances of false claims in a building of a kind, such as "office" or "office?ring=1"."""
    return FALSENESS[phase].get(world.partition("?")[0], {})


class FalseWitness:
    """Replaces answers by false places, by the chance of each expert. A place is claimed until the robot was there."""

    def __init__(self, falseness: Falseness, seed: int) -> None:
        self._falseness = dict(falseness)
        self._rng = {
            name: np.random.default_rng((seed, index)) for index, name in enumerate(sorted(self._falseness))
        }
        self._claims: dict[str, tuple[int, np.ndarray | None]] = {}  # errand, place (3,)

    def answer(
        self, name: str, request: ProposalRequest, own: Proposal | Rejection, grid: OccupancyGrid2D
    ) -> Proposal | Rejection:
        """Return the expert's own answer, or a false one about a place of the grid."""
        if name not in self._falseness:
            return own
        errand, claim = self._claims.get(name, (0, None))
        if errand != request.errand or claim is None or _was_seen(claim, request):
            claim = None
            if self._rng[name].random() < self._falseness[name]:
                claim = self._drawn(name, request, grid)
            self._claims[name] = request.errand, claim
        if claim is None:
            return own
        seconds = Reach(grid, request.robot_pose, _REACH).seconds(claim, verifies=True)
        return own if seconds is None else _claimed(name, request, claim, seconds, own)

    def _drawn(self, name: str, request: ProposalRequest, grid: OccupancyGrid2D) -> np.ndarray | None:
        """Return a place (3,) of the floor that can be reached, None where there is none."""
        ways = Reach(grid, request.robot_pose, _REACH).easy
        rows, columns = np.nonzero(np.isfinite(ways) & (ways >= _NEAR) & (ways <= _FAR))
        if not len(rows):
            return None
        pick = int(self._rng[name].integers(len(rows)))
        place = grid.points_of(np.array([rows[pick], columns[pick]]))
        toward = place - request.robot_pose[:2]
        return np.array([*place, np.arctan2(toward[1], toward[0])])


def _was_seen(claim: np.ndarray, request: ProposalRequest) -> bool:
    """Return whether the robot is there, or the place is left out."""
    places = [request.robot_pose[:2], *(np.asarray(goal)[:2] for goal in request.excluded_goals)]
    return any(np.linalg.norm(claim[:2] - place) <= _THERE for place in places)


def _claimed(
    name: str, request: ProposalRequest, claim: np.ndarray, seconds: float, own: Proposal | Rejection
) -> Proposal:
    return Proposal(
        name, request.epoch, claim, _CHANCE, "what is sought may stand there",
        stamp=own.stamp if isinstance(own, Proposal) else request.stamp, chance=_CHANCE, seconds=seconds,
    )  # fmt: skip


def phase_metrics(
    rows: Mapping[str, Sequence[EpisodeOutcome]], phases: Mapping[tuple[str, int], int], limit: float
) -> dict[str, float]:
    """Return `seconds.POLICY`, `seconds.POLICY.PHASE` and `saved.POLICY`: by the first row against each other one,
    paired by building, with 95 % intervals.

    rows: by policy. phases: of buildings by world and seed. limit: seconds that a search counts with that fails.
    """
    seconds = {
        policy: {(o.world, o.seed): o.duration if o.success else max(limit, o.duration) for o in found}
        for policy, found in rows.items()
    }
    ours, *rivals = seconds
    metrics = {}
    for policy, taken in seconds.items():
        metrics[f"seconds.{policy}"] = float(np.mean(list(taken.values())))
        for phase in sorted(set(phases.values())):
            own = [value for key, value in taken.items() if phases[key] == phase]
            metrics[f"seconds.{policy}.{phase}"] = float(np.mean(own)) if own else float("nan")
    for rival in rivals:
        both = [key for key in seconds[rival] if key in seconds[ours]]
        value, low, high = paired_difference(
            [seconds[rival][key] for key in both],
            [seconds[ours][key] for key in both],
            np.random.default_rng(0),
        )
        metrics |= {f"saved.{rival}": value, f"saved_low.{rival}": low, f"saved_high.{rival}": high}
    return metrics


def phase_table(policies: Sequence[str], metrics: Mapping[str, float]) -> Table:
    """Return seconds until found by policy and phase, and what the first policy saves."""
    rows = []
    for policy in policies:
        parts = [metrics.get(f"seconds.{policy}.{phase}", float("nan")) for phase in range(len(PHASES))]
        told = ""
        if f"saved.{policy}" in metrics:
            low, high = metrics[f"saved_low.{policy}"], metrics[f"saved_high.{policy}"]
            told = f"{metrics[f'saved.{policy}']:+.1f} ({low:+.1f} to {high:+.1f})"
        rows.append((policy, f"{metrics[f'seconds.{policy}']:.1f}", *(f"{part:.1f}" for part in parts), told))
    columns = ("policy", "s until found", *PHASES, f"saved by {policies[0]} (95 %)")
    return Table("Seconds until found, experts that change", columns, tuple(rows))


def phase_bars(metrics: Mapping[str, float]) -> tuple[Bar, ...]:
    """Return the bars: the first policy saves seconds against every other."""
    return tuple(Bar(name, value, 1e-6) for name, value in metrics.items() if name.startswith("saved_low."))
