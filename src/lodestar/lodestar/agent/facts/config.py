"""Configuration of the decision loop."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from lodestar.experts.absence_bounds import AbsenceConfig
from lodestar.experts.config import ReachConfig
from lodestar.floors.config import FloorsConfig
from lodestar.grid.config import LookConfig, SuccessConfig, ViewpointConfig
from lodestar.query.config import QueryConfig
from lodestar.worldmodel.config import ValidationConfig

RECOVERY_LOCALISATION_PATIENCE = 15.0  # s until a lost pose ends the directive (ours)
# s (stamps) without any image after which the loop does nothing that needs images (ours)
RECOVERY_CAMERA_PATIENCE = 3.0
LOOP_THINKING_PATIENCE = 90.0  # s until an expert that has not answered is asked again (ours)
LOOP_RETRY_INTERVAL = 0.5  # s until the next request after one without a goal (ours)
# s (stamps) before a directive; looks from then on count for it (ours: what the camera shows at its begin)
LOOP_FRESH_LOOKS = 5.0
# s (stamps) for which a target must be in view, because its box still grows (ours)
LOOP_SETTLE_TIME = 0.7
LOOP_LOOK_TIME = 0.6  # s of looking around at a goal without a target (ours)
LOOP_CONFIRM_MARGIN = 0.05  # m off the success distance, for the error of the perceived box (ours)
LOOP_CONFIRM_BEARING_MARGIN = math.radians(5.0)  # rad off the success bearing, for the same error (ours)
LOOP_SIGHT_MARGIN = 0.8  # m before the target in which furniture does not hide it (ours)
LOOP_STUCK_DISTANCE = 0.15  # m; less motion counts as staying in one place (ours)
LOOP_STUCK_ANGLE = 0.30  # rad; less counts as one heading (ours)
LOOP_REVIEW_DISTANCE = 0.75  # m; an answer nearer to the goal is the same goal (ours)
LOOP_SAME_GOAL_ANGLE = math.radians(38.0)  # rad within which two goals are the same (ours)
LOOP_PLACE_TRIES = 3  # arrivals that are short of one place, after which it is given up (ours)
LOOP_RETURN_TOLERANCE = 0.5  # m from the start that count as being back (ours)
LOOP_NEAREST_MATCHES = 5  # entities named where the target was not found (ours)


@dataclass(frozen=True)
class RecoveryConfig:
    """Time limits of the diagnosis of failed actions and of the recovery from them. Seconds are of the loop's
    time.
    """

    enabled: bool = True  # False: a goal that failed is left out, and the experts are asked again
    # s that the robot waits before a blocked path if nothing else is left (ours)
    shut_patience: float = 30.0
    # s of searching for an alternative, in all, if the known object is gone, hidden or unreachable (ours)
    search_time: float = 120.0
    # s before the directive's time limit at which a search for an alternative ends, so that the robot can
    # return to the obstacle on the blocked path and wait there for `shut_patience` (ours)
    last_try: float = 45.0
    # m^2 of floor that a look for an alternative must show per second of its drive and turn (ours: about a
    # third of the rate of a search that had looked at a room of 30 m^2 after 44 s)
    least_shown: float = 0.2


@dataclass(frozen=True)
class LoopConfig:
    """Configuration of the decision loop: timeouts, limits of inputs, success criterion, viewpoints,
    recovery.

    Each field states its unit and source; "ours" was chosen here. Seconds are of the loop's time unless a
    field says "stamps" (ARCHITECTURE.md, Time).
    """

    grid_patience: float = 15.0  # s without a newer grid; 0 = a grid never expires (ours)
    scene_patience: float = 30.0  # s (stamps) without an observation until a search counts as blind (ours)
    # s until an expert is late for its epoch (DESIGN section 2); chosen: more than a vision model takes
    expert_deadline: float = 3.5
    no_map_timeout: float = 15.0  # s without a first grid or pose (ours)
    pose_patience: float = 5.0  # s without a newer pose, after which the pose is unknown (ours)
    navigator_timeout: float = 10.0  # s without a navigator, after which the directive ends (ours)
    accept_timeout: float = 5.0  # s without a report of the navigator on a goal (ours)
    verify_time: float = 3.0  # s on arrival that a target may take to be seen again (ours)
    memory_patience: float = 30.0  # s until the memory's answer is too late (STaR VI: 30 s on average)
    no_expert_timeout: float = 15.0  # s without any proposal while not everything is explored (ours)
    floors: FloorsConfig = field(default_factory=FloorsConfig, metadata={"shared": "floors"})
    # Looks (camera observations) that count for an errand: those since its directive began or shortly before,
    # if not older than the age in `look_limits`. COUNT and LIST use all that are not older.
    look_limits: LookConfig = field(default_factory=LookConfig, metadata={"shared": "looks"})
    # s in which the camera must show the effects of a user-defined skill; else it is rolled back (ours)
    skill_confirm: float = 5.0
    success: SuccessConfig = field(default_factory=SuccessConfig, metadata={"shared": "success"})
    # If a target is known and an expert heads for it, only goals that head for it are considered. False:
    # every valid proposal is an arm (RoboAtlas Algorithm 1), and the policy must learn that a known target
    # comes first.
    known_first: bool = True
    # A goal is given up when the robot stays in one place, or takes far longer than its path explains.
    stuck_time: float = 12.0  # s (stamps) in one place (ours)
    goal_time_base: float = 30.0  # s that every goal may take (ours)
    max_retries: int = 2  # per goal (ours)
    question_patience: float = 600.0  # s after which an open question expires (ours)
    recovery: RecoveryConfig = field(default_factory=RecoveryConfig)  # from failed actions
    absence: AbsenceConfig = field(default_factory=AbsenceConfig)  # for answering that an object is absent
    priors_file: str = field(default="", metadata={"shared": "priors_file"})  # how often objects move
    map_id: int = field(default=1, metadata={"shared": "map_id"})  # of the decision log's records
    query: QueryConfig = field(default_factory=QueryConfig, metadata={"shared": "query"})
    viewpoints: ViewpointConfig = field(default_factory=ViewpointConfig, metadata={"shared": "viewpoints"})
    reach: ReachConfig = field(default_factory=ReachConfig, metadata={"shared": "reach"})
    validation: ValidationConfig = field(default_factory=ValidationConfig, metadata={"shared": "validation"})

    @property
    def confirm_distance(self) -> float:
        """Return the distance to the perceived box, metres, within which a target is claimed (reported as
        found).
        """
        return self.success.distance - LOOP_CONFIRM_MARGIN

    @property
    def confirm_bearing(self) -> float:
        """Return the bearing of the perceived box, radians, within which a target is claimed (reported as
        found).
        """
        return self.success.bearing - LOOP_CONFIRM_BEARING_MARGIN
