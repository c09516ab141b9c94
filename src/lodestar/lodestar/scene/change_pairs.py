"""Pairs of things of two sessions that may be one, and their likelihood ratios (VLM-DEWM 3.2.2, B.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from lodestar.models.kinship import looks_of, same_kind
from lodestar.scene.category_priors import CategoryPriors
from lodestar.scene.config import ChangeConfig
from lodestar.scene.one_to_one import Pairs
from lodestar.scene.records import Embedding

_FOUND = 1e-9  # least probability of anything, so that no ratio is infinite
_FLAT = 1e-4  # square metres, added to every variance


@dataclass(frozen=True)
class Sight:
    """A thing as one session knows it, in `map`, metres.

    mean: (3,). covariance: (3, 3), of the error of the mean. extent: longest side, nan = unknown. watched: chance,
    [0, 1], that the other session had its place in view. appearance: a describer's vector, None = none.
    id: of the session. kept: the mapping carried the id over from the other session, where it names the same thing.
    """

    id: int
    label: str
    mean: np.ndarray
    covariance: np.ndarray
    extent: float = float("nan")
    caption: str = ""
    appearance: Embedding | None = None
    watched: float = 1.0
    kept: bool = False


@dataclass(frozen=True)
class PairWeights:
    """Candidates and what explains the rest. stayed: (E,) share of a pair's weight that the thing is in its place.

    left: (N,) share of what explains a thing of the earlier session without a partner that it is gone, not missed.
    arrived: (M,) share of what explains one of the later session without a partner that it is new.
    """

    pairs: Pairs
    stayed: np.ndarray
    left: np.ndarray
    arrived: np.ndarray


def weigh(
    before: Sequence[Sight],
    after: Sequence[Sight],
    elapsed: float,
    priors: CategoryPriors,
    config: ChangeConfig,
) -> PairWeights:
    """Return the candidate pairs of two sessions with their weights; see `PairWeights`.

    A thing is in its place (normal density, gated), has moved to where things lie (`_landing`), or is gone. The
    covariance grows while it is not observed, by its kind's prior of moving (A.5.2).
    """
    chances = [1.0 - priors.of(s.label).chance_to_stay(elapsed) for s in before]
    moves = np.clip(np.array(chances), config.least_moves, 1.0 - config.least_moves)
    landing = _landing(before, after, config)
    seen_there = config.detected * np.array([s.watched for s in before])
    anywhere = config.detected * (float(np.mean([s.watched for s in before])) if before else 1.0)
    departed = moves * config.leaves
    missed = (1.0 - moves) * (1.0 - seen_there) + moves * (1.0 - config.leaves) * (1.0 - anywhere)
    alone = np.maximum(departed + missed, _FOUND)
    overlooked = 1.0 - config.detected * np.array([s.watched for s in after])
    birth = len(after) * landing * (config.arrivals + overlooked)
    rows, columns = _candidates(before, after, moves, config)
    stay = _in_place(before, after, rows, columns, moves, config)
    kin = np.array([same_kind(before[i].label, after[j].label) for i, j in zip(rows, columns)], float)
    stay *= ((1.0 - moves) * seen_there)[rows]
    move = kin * landing[columns] * (moves * (1.0 - config.leaves) * anywhere)[rows]
    alike = _likeness(before, after, rows, columns, config)
    weights = (stay + move) * alike / (alone[rows] * birth[columns])
    keep = weights > _FOUND
    pairs = Pairs(rows[keep], columns[keep], weights[keep], (len(before), len(after)))
    stayed = (stay / np.maximum(stay + move, 1e-300))[keep]
    return PairWeights(pairs, stayed, departed / alone, config.arrivals / (config.arrivals + overlooked))


def _landing(before: Sequence[Sight], after: Sequence[Sight], config: ChangeConfig) -> np.ndarray:
    """Return the density (M,), per cubic metre, with which a thing that moves or comes lands at each place of `after`.

    Things lie where things lie, on tops and shelves: a part of the density is around the places of both sessions.
    """
    if not after:
        return np.zeros(0)
    here = np.array([s.mean for s in after])
    places = np.concatenate([here, np.array([s.mean for s in before]).reshape(-1, 3)])
    sides = np.maximum(places.max(axis=0) - places.min(axis=0), 1.0)
    even = 1.0 / max(float(np.prod(sides)), config.least_volume)
    spread = config.landing_spread
    peak = (2.0 * np.pi * spread**2) ** -1.5
    tree = cKDTree(places)
    around = np.zeros(len(here))
    for j, near in enumerate(tree.query_ball_point(here, 3.0 * spread)):
        gaps = ((places[near] - here[j]) ** 2).sum(axis=1)
        around[j] = peak * (np.exp(-0.5 * gaps / spread**2).sum() - 1.0)  # without itself
    around /= max(len(places) - 1, 1)
    return (1.0 - config.landing_share) * even + config.landing_share * around


def _candidates(
    before: Sequence[Sight], after: Sequence[Sight], moves: np.ndarray, config: ChangeConfig
) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs (E,), (E,) that are near enough to be in place, or of one kind and among the nearest of it."""
    if not before or not after:
        return np.zeros(0, int), np.zeros(0, int)
    there, here = np.array([s.mean for s in before]), np.array([s.mean for s in after])
    found: set[tuple[int, int]] = set()
    widest = max(float(np.max(np.linalg.eigvalsh(s.covariance))) for s in after) + _FLAT
    tree = cKDTree(here)
    own = [float(np.max(np.linalg.eigvalsh(s.covariance))) for s in before]
    reach = np.sqrt(config.gate * (np.array(own) + widest + moves * config.nudge**2))
    for i, near in enumerate(tree.query_ball_point(there, reach)):
        found |= {(i, j) for j in near}
    labels = {s.label for s in after}
    of_label = {label: [j for j, s in enumerate(after) if s.label == label] for label in labels}
    for label in {s.label for s in before}:
        kin = [j for other in sorted(labels) if same_kind(label, other) for j in of_label[other]]
        if not kin:
            continue
        own_rows = [i for i, s in enumerate(before) if s.label == label]
        count = min(config.candidates, len(kin))
        _, nearest = cKDTree(here[kin]).query(there[own_rows], k=[*range(1, count + 1)])
        found |= {(i, kin[k]) for i, ks in zip(own_rows, nearest.tolist()) for k in ks}
    rows, columns = np.array(sorted(found), int).reshape(-1, 2).T
    return rows, columns


def _in_place(
    before: Sequence[Sight],
    after: Sequence[Sight],
    rows: np.ndarray,
    columns: np.ndarray,
    moves: np.ndarray,
    config: ChangeConfig,
) -> np.ndarray:
    """Return the densities (E,), per cubic metre, of the later place if the thing stayed; 0 beyond the gate."""
    if not len(rows):
        return np.zeros(0)
    gap = np.array([s.mean for s in after])[columns] - np.array([s.mean for s in before])[rows]
    spread = np.array([s.covariance for s in before])[rows] + np.array([s.covariance for s in after])[columns]
    spread = spread + (_FLAT + moves[rows] * config.nudge**2)[:, None, None] * np.eye(3)
    far = np.einsum("ei,ei->e", gap, np.linalg.solve(spread, gap[:, :, None])[:, :, 0])
    density = np.exp(-0.5 * far) / np.sqrt((2.0 * np.pi) ** 3 * np.linalg.det(spread))
    return np.where(far < config.gate, density, 0.0)


def _likeness(
    before: Sequence[Sight],
    after: Sequence[Sight],
    rows: np.ndarray,
    columns: np.ndarray,
    config: ChangeConfig,
) -> np.ndarray:
    """Return how much likelier (E,) one thing has both labels, captions, sizes and vectors than two things."""
    wrong = 1.0 - (1.0 - config.mislabelled) ** 2
    counts = Counter(s.label for s in [*before, *after])
    others = max(sum(counts.values()) - 1, 1)
    ratios = np.ones(len(rows))
    for edge, (i, j) in enumerate(zip(rows.tolist(), columns.tolist())):
        one, other = before[i], after[j]
        own = 2 if one.label == other.label else 1  # of the pair, that do not say how common the label is
        common = (counts[other.label] - own + config.unseen_twin) / others
        same = same_kind(one.label, other.label)
        ratio = wrong
        if same:
            called = 1.0 - config.called_otherwise if own == 2 else config.called_otherwise
            ratio += (1.0 - wrong) * called / common
            ratio *= _looks_ratio(one, other, config) * _size_ratio(one.extent, other.extent, config)
        ratio *= _appearance_ratio(one.appearance, other.appearance, config)
        ratios[edge] = ratio * (config.same_id if one.kept and other.kept and one.id == other.id else 1.0)
    return ratios


def _looks_ratio(one: Sight, other: Sight, config: ChangeConfig) -> float:
    first, second = looks_of(one.caption, one.label), looks_of(other.caption, other.label)
    if not first or not second:
        return 1.0
    return config.looks_agree if first <= second or second <= first else config.looks_differ


def _size_ratio(a: float, b: float, config: ChangeConfig) -> float:
    if not (a > 0.0 and b > 0.0):
        return 1.0
    apart = float(np.log(a / b)) ** 2
    narrow, wide = config.size_spread, config.kind_spread
    return float(wide / narrow * np.exp(-0.5 * apart * (narrow**-2 - wide**-2)))


def _appearance_ratio(a: Embedding | None, b: Embedding | None, config: ChangeConfig) -> float:
    if a is None or b is None or a.model != b.model or a.vector.shape != b.vector.shape:
        return 1.0
    return float(np.exp(config.appearance_slope * (float(a.vector @ b.vector) - config.appearance_level)))
