"""The decision loop's numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class LoopConfig:
    """Times are seconds of the clock that `tick` is given, distances metres.

    Deadlines: expert_deadline, after which an expert's silence counts as "late" for that epoch (DESIGN
    section 2); no_map_timeout, without a grid or a pose; grid_patience, without a newer grid (0 = a grid is
    good for ever); pose_patience, without a newer pose; scene_patience, without anything at all having been
    seen, or a search has been blind; no_expert_timeout, without any proposal though not explored;
    navigator_timeout, without a navigator; accept_timeout, without a word about a goal; verify_time, how long
    a target may take to be seen again on arrival; settle_time, how long it must be in view there at least,
    because its box still grows; look_time, how long a goal without a target is looked around at;
    thinking_patience, after which an expert that never answered is asked anew; late_answer_age, the oldest question
    whose late answer may still be used.
    """

    time_limit: float = 900.0  # of a directive that brings none
    expert_deadline: float = 2.0
    thinking_patience: float = 90.0
    late_answer_age: float = 60.0
    retry_interval: float = 0.5
    no_map_timeout: float = 15.0
    grid_patience: float = 15.0
    pose_patience: float = 5.0
    scene_patience: float = 30.0
    no_expert_timeout: float = 15.0
    navigator_timeout: float = 10.0
    accept_timeout: float = 5.0
    verify_time: float = 3.0
    settle_time: float = 0.7
    sight_before_arrival: float = 1.0  # of what stands above camera_height (m): an edge hides it from near
    camera_height: float = 0.45
    look_time: float = 0.6
    # Where a target is known and somebody heads for it, only goals that do are considered. Off, every valid proposal is
    # an arm, as in RoboAtlas Algorithm 1, and the policy has to learn by itself that a known target comes first.
    known_first: bool = True
    # A goal is given up when the robot stays in one place, or takes far longer than its path explains.
    stuck_time: float = 12.0
    stuck_distance: float = 0.15
    stuck_angle: float = 0.30  # rad
    goal_time_base: float = 30.0
    slowest_speed: float = 0.12  # m/s, below which a goal is late
    max_navigation_failures: int = 6  # in a row, at different goals
    # Verification.
    max_viewpoints: int = 5  # per entity, before it is excluded
    second_viewpoints: int = 2  # of an excluded one, when everything else is explored
    target_check_interval: float = 0.5
    confirm_distance: float = 0.95  # DESIGN section 3 has 1.0; the rest is for the error of the perceived box
    confirm_bearing: float = math.radians(25.0)  # DESIGN section 3 has 30; the rest likewise
    sight_margin: float = 0.8  # the furniture that a target stands on does not hide it
    # While it drives to explore, the experts are asked again; the goal changes only if it lost its worth.
    review_interval: float = 2.0
    review_distance: float = 0.75
    # A target under way is left for another only where that is better by this much score, or about as good and
    # nearer by this share and by this many metres in a straight line, and not more often than every so many seconds.
    better_score: float = 0.15
    about_as_good: float = 0.05
    nearer_share: float = 0.5
    nearer_by: float = 1.5
    switch_interval: float = 4.0
    # With experts late or broken: semantic score from which a thing is worth a closer look, and within which way.
    promising: float = 0.6
    promising_reach: float = 5.0
    worth_stopping: float = (
        0.25  # metres to a goal, from which on it is given up for facing the target from here
    )
    # Goals that failed or that brought nothing are not proposed again until the map around them changes.
    same_goal_distance: float = 0.35
    same_goal_angle: float = math.radians(38.0)
    retry_radius: float = 1.5
    retry_changed_share: float = 0.10
    max_retries: int = 2
    return_tolerance: float = 0.5
    # A robot that failed twice without moving steps aside before it tries a far goal again.
    retreat_distance: float = 0.45
    max_retreats: int = 4  # at one place
    largest_step: float = 0.5  # a longer step between two poses is a correction of the map, not travel
    # Energy: how often it is looked at, and how much longer than the straight line an unknown way back may be.
    energy_interval: float = 1.0
    detour: float = 1.5
    charger_reach: float = 0.6  # from the charger, that count as being there
    nearest_matches: int = 5
    map_id: int = 1
