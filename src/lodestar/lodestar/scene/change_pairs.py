"""Pairs of objects of two sessions that may be one, and their likelihood ratios (VLM-DEWM 3.2.2, B.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from lodestar.models.category_priors import CategoryPriors
from lodestar.models.kinship import looks_of, same_kind
from lodestar.scene.one_to_one import Pairs
from lodestar.scene.records import Embedding

# squared Mahalanobis distance from which an object has left its place: 99.9 % of chi-square, 3 dimensions
CHANGE_GATE = 16.3
CHANGE_NUDGE = 0.03  # metres per axis, standard deviation of small moves of an object that was moved; A.7
CHANGE_DETECTED = 0.97  # probability that an object in view is in the session's map; chosen
CHANGE_MISLABELLED = 0.05  # probability that a session has a wrong label for an object; chosen
CHANGE_LEAVES = 0.35  # share of moved objects that left the observed places; chosen
CHANGE_ARRIVALS = 0.1  # new objects per object of the map; chosen
CHANGE_CANDIDATES = 12  # nearest objects of its kind that may be a moved object; chosen
CHANGE_LEAST_VOLUME = 20.0  # cubic metres, least volume in which objects may come to rest; chosen
CHANGE_LANDING_SHARE = 0.8  # probability that an object comes to rest near other objects; chosen
CHANGE_LANDING_SPREAD = 0.15  # metres per axis, standard deviation of the distance from these; chosen
CHANGE_CALLED_OTHERWISE = 0.05  # probability of another word for the same kind, such as mug and cup; chosen
CHANGE_UNSEEN_TWIN = 0.35  # objects of a label that are assumed besides those seen; chosen
CHANGE_LEAST_MOVES = 0.05  # least probability that an object of any kind was moved; chosen
CHANGE_LOOKS_AGREE = 3.0  # likelihood ratio of captions that agree; chosen
CHANGE_LOOKS_DIFFER = 0.3  # likelihood ratio of captions that contradict each other; chosen
CHANGE_SIZE_SPREAD = 0.3  # standard deviation of ln(size) of one object between two sessions; chosen
CHANGE_KIND_SPREAD = 0.6  # standard deviation of ln(size) of two objects of a kind; chosen
CHANGE_APPEARANCE_LEVEL = 0.8  # cosine of two appearance vectors that is no evidence either way; chosen
CHANGE_APPEARANCE_SLOPE = 8.0  # logarithm of the likelihood ratio per unit of cosine; chosen
CHANGE_SAME_ID = 20.0  # likelihood ratio of an id that the mapping kept over a load; chosen

_FOUND = 1e-9  # least probability, so that no ratio is infinite
_FLAT = 1e-4  # square metres, added to every variance


@dataclass(frozen=True)
class Sight:
    """An object as one session knows it, in `map`, metres.

    mean: (3,). covariance: (3, 3), of the error of the mean. extent: longest side, nan = unknown. watched:
    probability, [0, 1], that the other session had this place in view. appearance: feature vector, None =
    none. id: in its session. kept: whether the mapping kept the id in both sessions, so that it names the
    same object.
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
    """Candidate pairs of N earlier and M later objects, and the weights of their explanations.

    stayed: (E,) per candidate pair, the share of its weight for "stayed in its place". left: (N,) for an
    earlier object without a partner, the probability of "gone" as opposed to "missed". arrived: (M,) for a
    later object without a partner, the probability of "new" as opposed to "missed before".
    """

    pairs: Pairs
    stayed: np.ndarray
    left: np.ndarray
    arrived: np.ndarray


def weigh(
    before: Sequence[Sight], after: Sequence[Sight], elapsed: float, priors: CategoryPriors
) -> PairWeights:
    """Return the candidate pairs of two sessions with their weights; see `PairWeights`.

    An earlier object is in its place (normal density, gated), has moved to a likely place (`_landing`), or is
    gone. Its covariance grows while it is not observed, according to its kind's prior of moving (A.5.2).
    """
    chances = [1.0 - priors.of(s.label).chance_to_stay(elapsed) for s in before]
    moves = np.clip(np.array(chances), CHANGE_LEAST_MOVES, 1.0 - CHANGE_LEAST_MOVES)
    landing = _landing(before, after)
    seen_there = CHANGE_DETECTED * np.array([s.watched for s in before])
    anywhere = CHANGE_DETECTED * (float(np.mean([s.watched for s in before])) if before else 1.0)
    departed = moves * CHANGE_LEAVES
    missed = (1.0 - moves) * (1.0 - seen_there) + moves * (1.0 - CHANGE_LEAVES) * (1.0 - anywhere)
    alone = np.maximum(departed + missed, _FOUND)
    overlooked = 1.0 - CHANGE_DETECTED * np.array([s.watched for s in after])
    birth = len(after) * landing * (CHANGE_ARRIVALS + overlooked)
    rows, columns = _candidates(before, after, moves)
    stay = _in_place(before, after, rows, columns, moves)
    kin = np.array([same_kind(before[i].label, after[j].label) for i, j in zip(rows, columns)], float)
    stay *= ((1.0 - moves) * seen_there)[rows]
    move = kin * landing[columns] * (moves * (1.0 - CHANGE_LEAVES) * anywhere)[rows]
    alike = _likeness(before, after, rows, columns)
    weights = (stay + move) * alike / (alone[rows] * birth[columns])
    keep = weights > _FOUND
    pairs = Pairs(rows[keep], columns[keep], weights[keep], (len(before), len(after)))
    stayed = (stay / np.maximum(stay + move, 1e-300))[keep]
    return PairWeights(pairs, stayed, departed / alone, CHANGE_ARRIVALS / (CHANGE_ARRIVALS + overlooked))


def _landing(before: Sequence[Sight], after: Sequence[Sight]) -> np.ndarray:
    """Return the density (M,), per cubic metre, that a moved or new object comes to rest at each later place.

    Objects tend to lie near others, on tops and shelves: a part of the density is around the places of all
    objects of both sessions.
    """
    if not after:
        return np.zeros(0)
    here = np.array([s.mean for s in after])
    places = np.concatenate([here, np.array([s.mean for s in before]).reshape(-1, 3)])
    sides = np.maximum(places.max(axis=0) - places.min(axis=0), 1.0)
    even = 1.0 / max(float(np.prod(sides)), CHANGE_LEAST_VOLUME)
    spread = CHANGE_LANDING_SPREAD
    peak = (2.0 * np.pi * spread**2) ** -1.5
    tree = cKDTree(places)
    around = np.zeros(len(here))
    for j, near in enumerate(tree.query_ball_point(here, 3.0 * spread)):
        gaps = ((places[near] - here[j]) ** 2).sum(axis=1)
        around[j] = peak * (np.exp(-0.5 * gaps / spread**2).sum() - 1.0)  # without the object itself
    around /= max(len(places) - 1, 1)
    return (1.0 - CHANGE_LANDING_SHARE) * even + CHANGE_LANDING_SHARE * around


def _candidates(
    before: Sequence[Sight], after: Sequence[Sight], moves: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the index pairs (E,) into `before` and (E,) into `after` of objects that may be the same.

    The two are near enough for the object to have stayed, or among the nearest of the same kind. moves: prior
    probability of moving.
    """
    if not before or not after:
        return np.zeros(0, int), np.zeros(0, int)
    there, here = np.array([s.mean for s in before]), np.array([s.mean for s in after])
    found: set[tuple[int, int]] = set()
    widest = max(float(np.max(np.linalg.eigvalsh(s.covariance))) for s in after) + _FLAT
    tree = cKDTree(here)
    own = [float(np.max(np.linalg.eigvalsh(s.covariance))) for s in before]
    reach = np.sqrt(CHANGE_GATE * (np.array(own) + widest + moves * CHANGE_NUDGE**2))
    for i, near in enumerate(tree.query_ball_point(there, reach)):
        found |= {(i, j) for j in near}
    labels = {s.label for s in after}
    of_label = {label: [j for j, s in enumerate(after) if s.label == label] for label in labels}
    for label in {s.label for s in before}:
        kin = [j for other in sorted(labels) if same_kind(label, other) for j in of_label[other]]
        if not kin:
            continue
        own_rows = [i for i, s in enumerate(before) if s.label == label]
        count = min(CHANGE_CANDIDATES, len(kin))
        _, nearest = cKDTree(here[kin]).query(there[own_rows], k=[*range(1, count + 1)])
        found |= {(i, kin[k]) for i, ks in zip(own_rows, nearest.tolist()) for k in ks}
    rows, columns = np.array(sorted(found), int).reshape(-1, 2).T
    return rows, columns


def _in_place(
    before: Sequence[Sight], after: Sequence[Sight], rows: np.ndarray, columns: np.ndarray, moves: np.ndarray
) -> np.ndarray:
    """Return the densities (E,), per cubic metre, of the later place if the object stayed.

    They are 0 beyond the gate.
    """
    if not len(rows):
        return np.zeros(0)
    gap = np.array([s.mean for s in after])[columns] - np.array([s.mean for s in before])[rows]
    spread = np.array([s.covariance for s in before])[rows] + np.array([s.covariance for s in after])[columns]
    spread = spread + (_FLAT + moves[rows] * CHANGE_NUDGE**2)[:, None, None] * np.eye(3)
    far = np.einsum("ei,ei->e", gap, np.linalg.solve(spread, gap[:, :, None])[:, :, 0])
    density = np.exp(-0.5 * far) / np.sqrt((2.0 * np.pi) ** 3 * np.linalg.det(spread))
    return np.where(far < CHANGE_GATE, density, 0.0)


def _likeness(
    before: Sequence[Sight], after: Sequence[Sight], rows: np.ndarray, columns: np.ndarray
) -> np.ndarray:
    """Return likelihood ratios (E,): one object against two, from labels, captions, sizes and vectors."""
    wrong = 1.0 - (1.0 - CHANGE_MISLABELLED) ** 2
    counts = Counter(s.label for s in [*before, *after])
    others = max(sum(counts.values()) - 1, 1)
    ratios = np.ones(len(rows))
    for edge, (i, j) in enumerate(zip(rows.tolist(), columns.tolist())):
        one, other = before[i], after[j]
        own = 2 if one.label == other.label else 1  # the pair itself does not show how common the label is
        common = (counts[other.label] - own + CHANGE_UNSEEN_TWIN) / others
        same = same_kind(one.label, other.label)
        ratio = wrong
        if same:
            called = 1.0 - CHANGE_CALLED_OTHERWISE if own == 2 else CHANGE_CALLED_OTHERWISE
            ratio += (1.0 - wrong) * called / common
            ratio *= _looks_ratio(one, other) * _size_ratio(one.extent, other.extent)
        ratio *= _appearance_ratio(one.appearance, other.appearance)
        ratios[edge] = ratio * (CHANGE_SAME_ID if one.kept and other.kept and one.id == other.id else 1.0)
    return ratios


def _looks_ratio(one: Sight, other: Sight) -> float:
    first, second = looks_of(one.caption, one.label), looks_of(other.caption, other.label)
    if not first or not second:
        return 1.0
    return CHANGE_LOOKS_AGREE if first <= second or second <= first else CHANGE_LOOKS_DIFFER


def _size_ratio(a: float, b: float) -> float:
    if not (a > 0.0 and b > 0.0):
        return 1.0
    apart = float(np.log(a / b)) ** 2
    narrow, wide = CHANGE_SIZE_SPREAD, CHANGE_KIND_SPREAD
    return float(wide / narrow * np.exp(-0.5 * apart * (narrow**-2 - wide**-2)))


def _appearance_ratio(a: Embedding | None, b: Embedding | None) -> float:
    if a is None or b is None or a.model != b.model or a.vector.shape != b.vector.shape:
        return 1.0
    return float(np.exp(CHANGE_APPEARANCE_SLOPE * (float(a.vector @ b.vector) - CHANGE_APPEARANCE_LEVEL)))
