"""Tests that a pass of a search ends after a long path without news, and restarts with another task."""

from dataclasses import replace

import numpy as np
from expert_worlds import request, two_rooms

from lodestar.experts.coverage import LookedAt
from lodestar.experts.progress import Pass, Progress

FAR = Pass(4.5, 0.5, "unseen area")
SEEN = np.full((1, 4), 0.95)  # chances of good eyes


def _looked(heading: float) -> LookedAt:
    looked = LookedAt(4.5)
    looked.set_grid(two_rooms())
    looked.look(np.array([2.0, 2.0]), heading, 1.4)
    return looked


def _drive(progress: Progress, looked: LookedAt, metres: float) -> bool:
    """Drive to and fro for `metres`; return whether the pass is over."""
    over = False
    for x in np.tile([1.0, 2.0], round(metres / 2.0)):
        progress.advance(request((x, 1.0, 0.0)))
        over = progress.barren(two_rooms(), looked, FAR, SEEN)
    return over


def test_a_way_that_shows_nothing_ends_the_pass_for_good():
    progress = Progress(20.0, 1.0)
    assert not _drive(progress, _looked(0.0), 16.0)
    assert _drive(progress, _looked(0.0), 16.0)
    more = _looked(0.0)
    more.look(np.array([2.0, 2.0]), 3.0, 1.4)
    assert _drive(progress, more, 2.0)
    assert not progress.barren(two_rooms(), more, Pass(2.5, 0.5, "nearer"), SEEN)


def test_area_newly_seen_keeps_it_alive():
    progress = Progress(20.0, 1.0)
    looked = _looked(0.0)
    for heading in (1.2, 2.4, 3.6):
        assert not _drive(progress, looked, 16.0)
        looked.look(np.array([2.0, 2.0]), heading, 1.4)


def test_another_task_begins_anew():
    progress = Progress(20.0, 1.0)
    assert _drive(progress, _looked(0.0), 40.0)
    other = replace(request((1.0, 1.0, 0.0)), step_index=1)
    progress.advance(other)
    assert not progress.barren(two_rooms(), _looked(0.0), FAR, SEEN)


def test_a_first_stop_at_the_far_end_is_driven_to():
    progress, looked = Progress(20.0, 1.0), _looked(0.0)
    assert not _drive(progress, looked, 2.0)
    progress.aim(FAR, 50.0)
    progress.aim(FAR, 90.0)  # the next goal does not extend the limit
    assert not progress.is_given_up
    assert not _drive(progress, looked, 54.0)
    assert _drive(progress, looked, 10.0)
    assert progress.is_given_up


def test_a_near_stop_brings_no_further_way():
    progress, looked = Progress(20.0, 1.0), _looked(0.0)
    assert not _drive(progress, looked, 2.0)
    progress.aim(FAR, 5.0)
    assert _drive(progress, looked, 22.0)


def test_a_far_stop_after_a_near_one_that_showed_nothing_is_driven_to():
    progress, looked = Progress(20.0, 1.0), _looked(0.0)
    assert not _drive(progress, looked, 2.0)
    progress.aim(FAR, 5.0)
    assert not _drive(progress, looked, 6.0)
    progress.aim(FAR, 40.0)
    assert not _drive(progress, looked, 44.0)
    progress.aim(FAR, 40.0)  # no news here either, so the next goal does not extend the limit
    assert _drive(progress, looked, 10.0)


def test_news_on_the_way_set_a_new_first_stop():
    progress, looked = Progress(20.0, 1.0), _looked(0.0)
    _drive(progress, looked, 2.0)
    progress.aim(FAR, 50.0)
    looked.look(np.array([2.0, 2.0]), 2.4, 1.4)
    assert not _drive(progress, looked, 2.0)
    progress.aim(FAR, 5.0)
    assert _drive(progress, looked, 24.0)
