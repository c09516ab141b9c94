"""Configuration of the answer that a thing is not there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class AbsenceConfig:
    """Bounds of the answer that a thing is not there (CHECK), though not everything was looked at."""

    enabled: bool = True  # False: "no" is said only where nothing reachable is left to look at
    prior: float = 0.5  # probability that what is asked about is there, before any look (ours: nobody knows)
    rate: float = 0.95  # of things that are recognised in a clear look (ours)
    # rad that a thing must span for it, 25 pixels of 640; less in proportion below (ours)
    clear_angle: float = 0.05
    size: float = 0.3  # m of the longest side, of a kind without a prior (ours)
    typical_support: float = 0.7  # share of things of a kind that are on what the kind stands on (ours)
    # m of unseen space behind an open edge of the map (apartment 701: 11 m^2 at 9.5 m)
    edge_depth: float = 1.0
    bound: float = 0.12  # probability of being there, up to which the answer is no (ours)
    unsure: float = 0.3  # likewise from which a search that is over answers nothing (ours)
    # s without a look that was worth it, after which `unsure` bounds the answer no (ours)
    barren_time: float = 45.0
    answer_worth: float = 600.0  # s of looking that a right answer is worth (ours: the limit of `ask-to-act`)
    speed: float = 0.32  # m/s of a search, stops included (measured: `ask-to-act`, apartment 711)
    look_time: float = 3.0  # s of a turn at a goal (ours)
    reserve: float = 5.0  # s before the time limit at which it answers with what it knows (ours)
