"""Configuration of the decision loop."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from lodestar.experts.absence_bounds import AbsenceConfig
from lodestar.experts.config import ApproachConfig, ReachConfig
from lodestar.floors.config import FloorsConfig
from lodestar.grid.config import LookConfig, SuccessConfig, ViewpointConfig
from lodestar.query.config import QueryConfig
from lodestar.worldmodel.config import ValidationConfig


@dataclass(frozen=True)
class RecoveryConfig:
    """Diagnosis of failed actions and recovery from them. Seconds are of the loop's time."""

    enabled: bool = True  # False: a goal that failed is left out, and the experts are asked again
    sure: float = 0.6  # probability from which the causes count as told apart (ours)
    max_looks: int = 3  # per failure, that would tell causes apart (the bound of the benchmark `recovery`)
    max_recoveries: int = 5  # N_max of a step (VLM-DEWM 4.2.3)
    wait: float = 5.0  # s of one look that waits (ours)
    turned: float = 1.0  # s after a look that turns, within which what is there is detected (ours)
    turn_reach: float = 6.0  # m to a known thing's place, within which a turn shows it (ours)
    person_patience: float = 20.0  # s that somebody in the way is waited for (ours)
    # s that the robot stands before a shut way, where nothing else is left (ours)
    shut_patience: float = 30.0
    localisation_patience: float = 15.0  # s until a lost pose ends the directive (ours)
    # Before the first motion of a directive, a robot may have been carried where this share (0..1) of the obstacles
    # around it stands where it was free when it rested, in directions that fill this angle. In apartment 711, one that
    # was carried by 1 to 3 m saw 0.05 to 0.41 on 50 to 180 degrees, one that stayed or was brought back up to 0.04 on
    # 70 degrees.
    carried_share: float = 0.12
    carried_angle: float = math.radians(85.0)  # rad
    carried_slack: float = 0.3  # m that obstacles may have moved (ours: corrections of the map)
    # s after a jump, before which the grid does not show the new pose's sight (ours)
    relocalised: float = 2.0
    max_contacts: int = 3  # felt on one drive, from which the goal is given up to find out why (ours)
    # s (stamps) without any image, from which nothing that needs one is done (ours)
    camera_patience: float = 3.0
    drive_blind: float = 2.0  # s (stamps) without any image on a drive to a thing (ours) ...
    drive_blind_way: float = 2.0  # m that it then drives on at most (ours)
    sensor_patience: float = 12.0  # s that silent sensors are waited for (ours)
    moving_closed: float = 30.0  # s for which a way is closed where somebody stands (ours)
    door_closed: float = 120.0  # s likewise where a door is shut (ours)
    unseen_closed: float = 600.0  # s likewise where nothing is seen: seeing through does not open it (ours)
    # s that another one is searched for, in all, where the known thing is gone, hidden or behind a shut way (ours)
    search_time: float = 120.0
    # s before the directive's time limit at which a search for another one ends, so that the robot can go back to what
    # shut the way and stand there for `shut_patience` (ours)
    last_try: float = 45.0
    # m^2 of floor that a look for another one must show per second of its way and its turn (ours: about a third of what
    # a search shows, which had looked at a room of 30 m^2 after 44 s; docs/measurements/jitter.md)
    least_shown: float = 0.2
    # Between two poses, off what odometry explains; smaller steps are corrections of the map while it is made.
    lost_step: float = 0.3  # m that count as a jump of the pose (ours)
    lost_turn: float = math.radians(15.0)  # rad likewise (ours)


@dataclass(frozen=True)
class PointingConfig:
    """Things that a person means by pointing at a place of the map."""

    # m in plan from the point to a choice, or to a thing of the kind that is searched for (ours)
    reach: float = 1.0
    # m likewise to any other thing, whose label is then mended (ours: the size of a click)
    touch: float = 0.3
    apart: float = 0.15  # m by which one choice must be nearer than the next (ours)


@dataclass(frozen=True)
class LoopConfig:
    """Each field states its unit and source; "ours" was chosen here. Seconds are of the loop's time unless a field
    says "stamps" (ARCHITECTURE.md, Time).
    """

    # Deadlines and patience.
    time_limit: float = 900.0  # s, of a directive that brings none (ours)
    # s, after which an expert is late for its epoch (DESIGN section 2); chosen: more than a look of a model takes
    expert_deadline: float = 3.5
    # s from the question, after which a decision that has a known target waits for nobody's look (ours)
    sure_after: float = 0.3
    thinking_patience: float = 90.0  # s, after which an expert that never answered is asked anew (ours)
    late_answer_age: float = 60.0  # s since the oldest request whose late answer may be used (ours)
    retry_interval: float = 0.5  # s between requests that bring nothing (ours)
    no_map_timeout: float = 15.0  # s without a first grid or pose (ours)
    grid_patience: float = 15.0  # s without a newer grid; 0 = a grid is good for ever (ours)
    pose_patience: float = 5.0  # s without a newer pose (ours)
    scene_patience: float = 30.0  # s (stamps) without any observation, after which a search was blind (ours)
    no_expert_timeout: float = 15.0  # s without any proposal though not explored (ours)
    navigator_timeout: float = 10.0  # s without a navigator (ours)
    accept_timeout: float = 5.0  # s without a word about a goal (ours)
    floors: FloorsConfig = field(default_factory=FloorsConfig, metadata={"shared": "floors"})
    # Looks that an errand counts: those since its directive began, and shortly before, if they are not older than the
    # age of `look_limits`. COUNT and LIST count all that are not older.
    look_limits: LookConfig = field(default_factory=LookConfig, metadata={"shared": "looks"})
    fresh_looks: float = 5.0  # s (stamps) before the begin of a directive (ours: what the camera shows then)
    # s that the camera may take to show what a skill of a user's has brought about, before it is rolled back (ours)
    skill_confirm: float = 5.0
    # Verification on arrival.
    verify_time: float = 3.0  # s that a target may take to be seen again (ours)
    # s (stamps) that it must be in view at least, because its box still grows (ours)
    settle_time: float = 0.7
    # s (stamps) before the arrival that count as a sight of a high target (ADR 0022)
    sight_before_arrival: float = 1.0
    look_time: float = 0.6  # s that a goal without a target is looked around at (ours)
    success: SuccessConfig = field(default_factory=SuccessConfig, metadata={"shared": "success"})
    confirm_margin: float = 0.05  # m off the success distance, for the error of the perceived box (ours)
    confirm_bearing_margin: float = math.radians(5.0)  # rad off the success bearing, likewise (ours)
    sight_margin: float = 0.8  # m before the target in which furniture does not hide it (ours)
    max_viewpoints: int = 5  # tried per entity before it is excluded (ours)
    unsure_viewpoints: int = 2  # likewise of one that does not meet the query, and may from nearer (ours)
    second_viewpoints: int = 2  # of an excluded entity, when everything else is explored (ADR 0021)
    # Where a target is known and an expert heads for it, only goals that do are considered. False: every valid proposal
    # is an arm (RoboAtlas Algorithm 1), and the policy has to learn that a known target comes first.
    known_first: bool = True
    # A goal is given up when the robot stays in one place, or takes far longer than its path explains.
    stuck_time: float = 12.0  # s (stamps) in one place (ours)
    stuck_distance: float = 0.15  # m, less than which is one place (ours)
    stuck_angle: float = 0.30  # rad, likewise (ours)
    goal_time_base: float = 30.0  # s that every goal may take (ours)
    slowest_speed: float = 0.12  # m/s, below which a goal is late (ours)
    max_navigation_failures: int = 6  # in a row, at different goals (ours)
    # On the way to a goal.
    target_check_interval: float = 0.5  # s between looks at the scene (ours)
    review_interval: float = 2.0  # s between requests whether an exploration goal is still worth it (ours)
    review_distance: float = 0.75  # m; an answer nearer to the goal is the same goal (ours)
    # A goal that only shows something has shown it from this near, with this much of the turn left; the next one is
    # then decided on while the robot moves (ours: a second of way, and less than half of a camera's width).
    pass_distance: float = 0.5  # m
    pass_angle: float = math.radians(35.0)  # rad
    # s that the word of one who looks may take; where it takes longer, the robot stands at such goals for it (ours)
    pass_answer: float = 1.0
    # A target under way is left for one with this much more score, or for one that is about as good and nearer by this
    # share and by this much in a straight line.
    better_score: float = 0.15  # of a score in [0, 1] (ours)
    about_as_good: float = 0.05  # of a score in [0, 1] (ours)
    nearer_share: float = 0.5  # of the path that remains (ours)
    nearer_by: float = 1.5  # m (ours)
    switch_interval: float = 4.0  # s between two switches (ours)
    # m of path, within which a promising thing is looked at while experts are late (ours)
    promising_reach: float = 5.0
    # m to a goal, from which on it is given up for facing the target from here (ours)
    worth_stopping: float = 0.25
    # Goals that failed or that brought nothing are not proposed again until the map around them changes.
    same_goal_distance: float = 0.35  # m (ours)
    same_goal_angle: float = math.radians(38.0)  # rad (ours)
    retry_radius: float = 1.5  # m around the goal that are compared (ours)
    retry_changed_share: float = 0.10  # of the cells there (ours)
    max_retries: int = 2  # per goal (ours)
    # Coming back, stepping aside, energy.
    place_tries: int = 3  # arrivals that are short of one place, after which it is given up (ours)
    return_tolerance: float = 0.5  # m from the start that count as being back (ours)
    retreat_distance: float = 0.45  # m of a step aside after two failures without motion (ours)
    max_retreats: int = 4  # at one place (ours)
    # m; a longer step between two poses is a correction of the map, not travel (ours)
    largest_step: float = 0.5
    energy_interval: float = 1.0  # s between looks at the battery (ours)
    charger_reach: float = 0.6  # m from the charger that count as being there (ours)
    # Questions that end a directive.
    open_questions: int = 16  # at once; the oldest gives way (ours)
    question_patience: float = 600.0  # s, after which one has expired (ours)
    question_choices: int = 6  # that are offered at most (ours)
    pointing: PointingConfig = field(default_factory=PointingConfig)  # "that is it"
    # Questions to the memory.
    memory_patience: float = 30.0  # s, after which it answers too late (STaR VI: 30 s on average)
    check_age: float = 60.0  # s (stamps) since the proof of an answer that saves a check the way (ours)
    covered: float = 0.95  # share of the floor that must have been looked at for it, or for a count (ours)
    recovery: RecoveryConfig = field(default_factory=RecoveryConfig)  # from failed actions
    absence: AbsenceConfig = field(default_factory=AbsenceConfig)  # "not there" as an answer
    priors_file: str = field(default="", metadata={"shared": "priors_file"})  # of what moves
    # Reports.
    nearest_matches: int = 5  # entities named where the target was not found (ours)
    map_id: int = field(default=1, metadata={"shared": "map_id"})  # of the decision log's records
    query: QueryConfig = field(default_factory=QueryConfig, metadata={"shared": "query"})
    viewpoints: ViewpointConfig = field(default_factory=ViewpointConfig, metadata={"shared": "viewpoints"})
    approach: ApproachConfig = field(default_factory=ApproachConfig, metadata={"shared": "approach"})
    reach: ReachConfig = field(default_factory=ReachConfig, metadata={"shared": "reach"})
    validation: ValidationConfig = field(default_factory=ValidationConfig, metadata={"shared": "validation"})

    @property
    def confirm_distance(self) -> float:
        """Metres to the perceived box within which a target is claimed."""
        return self.success.distance - self.confirm_margin

    @property
    def confirm_bearing(self) -> float:
        """Radians to the perceived box within which a target is claimed."""
        return self.success.bearing - self.confirm_bearing_margin
