"""Context features of the bandit: the five of RoboAtlas IV-A or the eighteen of its App. A, by name."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence

import numpy as np

from lodestar.experts.protocol import Proposal
from lodestar.scene.similarity import TIERS, similarity_count
from lodestar.selection.config import FEATURE_SETS
from lodestar.selection.perceived import MODALITIES, Perceived, TaskState, frontier_share

# Scales that map every feature to [0, 1]. Features 1 - exp(-x / scale) are 0.63 at their scale; others are x / scale,
# at most 1. RoboAtlas names the features and not their scales.
CONTEXT_COVERAGE_SCALE = 100.0  # m^2, exponential, as the building's size is unknown; chosen
CONTEXT_RATE_SCALE = 10.0  # m^2 newly known per decision; chosen
# metres from the trail within which a goal retraces it; chosen
CONTEXT_BACKTRACKING_RADIUS = 1.0
CONTEXT_TRAIL_RECENT = 2.0  # metres of the trail's end that do not count; chosen
CONTEXT_SIMILARITY_SCALE = 3.0  # V_sim (eq. 4); chosen: three perfect matches
CONTEXT_TRAIL_STEP = 0.25  # metres between trail points; chosen: below CONTEXT_BACKTRACKING_RADIUS
# seconds, exponential, age of the egocentric confidence; chosen
CONTEXT_VLM_AGE_SCALE = 10.0
CONTEXT_DENSITY_SCALE = 0.5  # entities per free m^2; chosen
CONTEXT_FRONTIER_SCALE = 0.1  # share of free cells at the border to unknown cells; chosen
CONTEXT_MATCH_THRESHOLD = TIERS[0]  # similarity from which an entity is a match; tau_1 of eq. 3
CONTEXT_MATCH_SCALE = 3.0  # matches; chosen: as CONTEXT_SIMILARITY_SCALE
CONTEXT_DISTANCE_SCALE = 15.0  # metres in a straight line to a goal; chosen
CONTEXT_DISCOVERY_SCALE = 5.0  # new entities per decision; chosen
CONTEXT_DISPLACEMENT_SCALE = 3.0  # metres from the last decision's place; chosen
# seconds in which a settled robot moves less than CONTEXT_SETTLE_DISTANCE; chosen
CONTEXT_SETTLE_TIME = 0.5
CONTEXT_SETTLE_DISTANCE = 0.1  # metres that a settled robot moves in CONTEXT_SETTLE_TIME, at most; chosen

#: c_t of IV-A (coverage .. similarity), and terms of the arm-aware feature map phi: a bias, the egocentric view's
#: confidence and its age, the arm's confidence in its proposal, and the goal's distance.
FEATURES = (
    "bias", "coverage", "coverage_rate", "backtracking", "last_arm_x_vlm", "similarity", "vlm", "vlm_age",
    "confidence", "distance",
)  # fmt: skip

#: Features that differ between arms; a log stores each as "NAME.ARM".
ARM_FEATURES = ("backtracking", "confidence", "distance", "value")

#: Features for corrections of values (`selection/rates.py`): the value, and predictors of its error.
VALUED = ("bias", "value", "confidence", "similarity", "coverage", "density")

AREA = "area_m2"  # key of the free area in a logged context, m^2, for analyses; not a feature


def feature_names(features: str, arms: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of a feature set in order. Raises ValueError for an unknown set."""
    if features == "iv_a":
        return FEATURES
    if features == "valued":
        return VALUED
    if features == "app_a":
        scalars = (
            "bias", "coverage", "instance_density", "frontier_share", "max_similarity", "p90_similarity",
            "matches", "displacement", "discovery_rate", "budget_left", "progress", "repeated_arm",
        )  # fmt: skip
        one_hot = (*(f"modality.{name}" for name in MODALITIES), *(f"last_arm.{name}" for name in arms))
        return (*scalars, *one_hot)
    raise ValueError(f"unknown features {features!r}; known: {', '.join(FEATURE_SETS)}")


NO_TASK = TaskState()


class ContextBuilder:
    """Builds a feature vector per arm at each decision; stores the robot's past positions (trail) and the
    last decision.
    """

    def __init__(self, arms: tuple[str, ...], features: str = "iv_a") -> None:
        self.arms = arms
        self.features = features
        self.names = feature_names(features, arms)
        self.begin()
        self.restart_clock()

    def begin(self) -> None:
        """Begin a directive: reset the robot's past positions (trail) and the past choices."""
        self._trail: list[tuple[float, float]] = []
        self._last: Perceived | None = None
        self._picks: deque[int] = deque(maxlen=3)

    def restart_clock(self) -> None:
        """Discard earlier stamps after the clock restarted."""
        self._recent: deque[tuple[float, float, float]] = deque()  # stamp, x, y

    def observe_pose(self, pose: np.ndarray, stamp: float = 0.0) -> None:
        """Append pose (3,) at `stamp` seconds to the robot's past positions (trail)."""
        point = (float(pose[0]), float(pose[1]))
        if not self._trail or math.dist(point, self._trail[-1]) >= CONTEXT_TRAIL_STEP:
            self._trail.append(point)
        self._recent.append((stamp, *point))
        while len(self._recent) > 1 and self._recent[1][0] <= stamp - CONTEXT_SETTLE_TIME:
            self._recent.popleft()

    @property
    def settled(self) -> bool:
        """Return whether the robot has moved less than CONTEXT_SETTLE_DISTANCE within CONTEXT_SETTLE_TIME."""
        if not self._recent or self._recent[-1][0] - self._recent[0][0] < CONTEXT_SETTLE_TIME - 1e-6:
            return False
        here = self._recent[-1][1:]
        return all(math.dist(here, point[1:]) < CONTEXT_SETTLE_DISTANCE for point in self._recent)

    def coverage(self, area: float) -> float:
        """Return the coverage feature of `area` m^2 known free, in [0, 1)."""
        return 1.0 - math.exp(-max(area, 0.0) / CONTEXT_COVERAGE_SCALE)

    def rate(self, area: float, before: float) -> float:
        """Return the coverage-rate feature, in [0, 1]."""
        return _unit((area - before) / CONTEXT_RATE_SCALE)

    def similarity(self, now: Perceived) -> float:
        """Return V_sim (eq. 4) scaled to [0, 1]."""
        return _unit(similarity_count(now.similarities) / CONTEXT_SIMILARITY_SCALE)

    def discovery(self, now: Perceived, before: Perceived) -> float:
        """Return the number of new entities since `before`, scaled to [0, 1]."""
        return _unit((now.instances - before.instances) / CONTEXT_DISCOVERY_SCALE)

    def displacement(self, now: Perceived, before: Perceived) -> float:
        """Return the horizontal metres that the robot moved between two moments; 0 if a pose is unknown."""
        if now.pose is None or before.pose is None:
            return 0.0
        return math.hypot(now.pose[0] - before.pose[0], now.pose[1] - before.pose[1])

    def distance(self, now: Perceived, goal: np.ndarray) -> float:
        """Return the straight distance to a goal (x, y, ...), scaled to [0, 1]; 0 if the pose is unknown."""
        if now.pose is None:
            return 0.0
        return _unit(math.hypot(goal[0] - now.pose[0], goal[1] - now.pose[1]) / CONTEXT_DISTANCE_SCALE)

    def backtracks(self, goal: Sequence[float] | np.ndarray) -> bool:
        """Return whether a goal (x, y, ...) lies near the robot's past positions (trail), but not near the
        newest of them (B_t).
        """
        keep = len(self._trail) - int(CONTEXT_TRAIL_RECENT / CONTEXT_TRAIL_STEP)
        if keep <= 0:
            return False
        trail = np.array(self._trail[:keep])
        offset = np.hypot(trail[:, 0] - goal[0], trail[:, 1] - goal[1])
        recent = np.array(self._trail[keep:])
        ahead = np.hypot(recent[:, 0] - goal[0], recent[:, 1] - goal[1]).min(initial=np.inf)
        return bool(offset.min() <= CONTEXT_BACKTRACKING_RADIUS and ahead > CONTEXT_BACKTRACKING_RADIUS)

    def build(
        self,
        now: Perceived,
        offers: Mapping[str, Proposal],
        v_vlm: float = 0.0,
        vlm_age: float = 0.0,
        task: TaskState = NO_TASK,
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Return feature vectors (A, d) float64, one row of d features for each of A arms, and each of
        ARM_FEATURES (A,), 0 for an arm without a proposal.

        v_vlm: confidence of the egocentric expert in [0, 1], the last one while an answer is pending;
        vlm_age: its age in seconds, inf = never given. The rows differ only in the ARM_FEATURES of the set.
        """
        own = {
            "backtracking": [float(a in offers and self.backtracks(offers[a].goal)) for a in self.arms],
            "confidence": [_unit(offers[a].confidence) if a in offers else 0.0 for a in self.arms],
            "distance": [self.distance(now, offers[a].goal) if a in offers else 0.0 for a in self.arms],
            "value": [(offers[a].value or 0.0) if a in offers else 0.0 for a in self.arms],
        }
        by_arm = {name: np.array(values, np.float64) for name, values in own.items()}
        if self.features == "iv_a":
            values = self._iv_a(now, v_vlm, vlm_age)
        elif self.features == "valued":
            values = self._valued(now)
        else:
            values = self._app_a(now, task)
        contexts = np.repeat(
            np.array([[values[name] for name in self.names]], np.float64), len(self.arms), axis=0
        )
        for name, column in by_arm.items():
            if name in self.names:
                contexts[:, self.names.index(name)] = column
        return contexts, by_arm

    def _iv_a(self, now: Perceived, v_vlm: float, vlm_age: float) -> dict[str, float]:
        before = self._last or now
        last = (self._picks[-1] + 1) / len(self.arms) if self._picks else 0.0  # a_{t-1} in 1..A, 0 = none yet
        return {
            "bias": 1.0,
            "coverage": self.coverage(now.area),
            "coverage_rate": self.rate(now.area, before.area),
            "backtracking": 0.0,
            "last_arm_x_vlm": last * v_vlm,
            "similarity": self.similarity(now),
            "vlm": v_vlm,
            "confidence": 0.0,
            "distance": 0.0,
            "vlm_age": 1.0 - math.exp(-max(vlm_age, 0.0) / CONTEXT_VLM_AGE_SCALE),
        }

    def _valued(self, now: Perceived) -> dict[str, float]:
        density = _unit(now.instances / max(now.area, 1.0) / CONTEXT_DENSITY_SCALE)
        own = {"bias": 1.0, "value": 0.0, "confidence": 0.0}
        return own | {"similarity": now.best, "coverage": self.coverage(now.area), "density": density}

    def _app_a(self, now: Perceived, task: TaskState) -> dict[str, float]:
        before = self._last or now
        every = np.zeros(max(now.instances, len(now.similarities), 1))  # other entities count as 0
        every[: len(now.similarities)] = now.similarities
        values = {
            "bias": 1.0,
            "coverage": self.coverage(now.area),
            "instance_density": _unit(now.instances / max(now.area, 1.0) / CONTEXT_DENSITY_SCALE),
            "frontier_share": _unit(frontier_share(now.grid) / CONTEXT_FRONTIER_SCALE) if now.grid else 0.0,
            "max_similarity": float(every.max()),
            "p90_similarity": float(np.percentile(every, 90)),
            "matches": _unit(float((every >= CONTEXT_MATCH_THRESHOLD).sum()) / CONTEXT_MATCH_SCALE),
            "displacement": _unit(self.displacement(now, before) / CONTEXT_DISPLACEMENT_SCALE),
            "discovery_rate": self.discovery(now, before),
            "budget_left": _unit(task.budget_left),
            "progress": _unit(task.progress),
            "repeated_arm": float(len(self._picks) == 3 and len(set(self._picks)) == 1),
        }
        values.update({f"modality.{name}": float(name == task.modality) for name in MODALITIES})
        last = self._picks[-1] if self._picks else -1
        values.update({f"last_arm.{name}": float(index == last) for index, name in enumerate(self.arms)})
        return values

    def chosen(self, arm: int, now: Perceived) -> None:
        """Store the chosen arm and the current perception, with which the next context is compared."""
        self._picks.append(arm)
        self._last = now


def _unit(value: float) -> float:
    return min(max(float(value), 0.0), 1.0)
