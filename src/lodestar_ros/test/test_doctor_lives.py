"""Tests of the doctor's tracking of nodes that end and restart, compared with random true histories."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import hypothesis.strategies as st
import pytest
from hypothesis import given

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from sound_stack import INPUTS, put, sound

from lodestar_ros.doctor.checkup import checkup
from lodestar_ros.doctor.findings import NodeChange
from lodestar_ros.doctor.graph_checks import deciding
from lodestar_ros.doctor.lives import FRESH, SILENT, NodeLives
from lodestar_ros.twins import Identity


def process(token, uptime):
    return Identity("/memory", "here", 7, token, uptime)


def says(lives, token, begun, sent, delay=0.0, text=None):
    lives.take("memory", process(token, sent - begun), (0, text or token, {}), sent + delay)


def test_a_node_that_ended_is_told_with_the_time_and_its_last_word_is_dropped():
    lives = NodeLives()
    says(lives, "a", 0.0, 10.0)
    assert lives.statuses(12.0) == {"memory": (0, "a", {})} and not lives.changes(12.0)
    assert lives.before(12.0) == {"memory": {}}
    for sent, value in ((10.5, "1"), (11.0, "2")):
        lives.take("memory", process("a", sent), (0, "a", {"x": value}), sent)
    assert lives.before(12.0) == {"memory": {"x": "1"}}
    assert lives.statuses(18.0) == {}
    assert lives.changes(18.0)["memory"].silent == pytest.approx(7.0)


def test_the_late_word_of_a_dead_process_is_not_its_successors():
    lives = NodeLives()
    says(lives, "old", 0.0, 10.0)
    says(lives, "new", 10.6, 11.0)
    assert lives.changes(11.0)["memory"].restarted == pytest.approx(0.4)
    says(lives, "old", 0.0, 10.5, delay=1.0)
    assert lives.statuses(11.6) == {"memory": (0, "new", {})}
    assert not lives.changes(11.6), "they may both run: that is another finding"
    says(lives, "new", 10.6, 16.0)
    assert lives.statuses(17.0) == {"memory": (0, "new", {})}
    assert lives.changes(17.0)["memory"].restarted == pytest.approx(6.4)


def test_a_node_that_does_not_say_which_process_it_is_is_never_silent():
    lives = NodeLives()
    lives.take("driver", None, (1, "hot", {}), 0.0)
    assert lives.statuses(99.0) == {"driver": (1, "hot", {})} and lives.changes(99.0) == {}


def test_a_twin_that_yields_is_no_restart_of_the_older_process():
    lives = NodeLives()
    for at in range(1000, 1040):
        says(lives, "older", 0.0, float(at))
        if at < 1004:
            says(lives, "younger", 1000.0, float(at))
        assert not lives.changes(at + 0.5)


def test_deciding_nodes_that_all_ended_are_named():
    seen = sound()
    for name in deciding():
        seen = put(seen, "changes", name, NodeChange(silent=9.0))
    seen = replace(seen, nodes=Counter({n: c for n, c in seen.nodes.items() if n[1:] not in deciding()}))
    named = [one for one in checkup(seen, INPUTS) if one.check in ("missing_node", "node_silent")]
    assert sorted(one.what.split()[0] for one in named) == sorted(deciding())
    assert all("9 s ago" in one.what for one in named)


def test_a_node_that_ended_and_left_the_graph_is_named_once():
    seen = put(sound(), "changes", "memory", NodeChange(silent=9.0))
    seen = replace(seen, nodes=seen.nodes - type(seen.nodes)({"/memory": 1}))
    found = [one for one in checkup(seen, INPUTS) if "memory" in one.what]
    assert [one.check for one in found] == ["missing_node"]
    assert "its last word 9 s ago" in found[0].what


@st.composite
def courses(draw):
    """Draw consecutive lives (begin, end) of a node, delays of its messages, and the end of the observation."""
    now, lives = 0.0, []
    for _ in range(draw(st.integers(1, 4))):
        begun = now + draw(st.floats(0.3, 12.0))
        now = begun + draw(st.floats(0.2, 20.0))
        lives.append((begun, now))
    delays = draw(st.lists(st.floats(0.0, 1.5), min_size=5, max_size=40))
    return lives, delays, now + draw(st.floats(0.0, 12.0))


@given(courses())
def test_what_is_told_is_what_runs_in_any_course(course):
    """Messages are sent every second and arrive up to 1.5 s late, possibly after messages of a successor."""
    spans, delays, end = course
    words = []
    for number, (begun, ended) in enumerate(spans):
        sent = [begun + 0.1 + k for k in range(int(ended - begun) + 1) if begun + 0.1 + k < ended]
        words += [
            (at + delays[(number + k) % len(delays)], str(number), begun, at) for k, at in enumerate(sent)
        ]
    lives, heard = NodeLives(), dict[str, float]()
    for arrives, token, begun, sent in sorted(words):
        if arrives > end:
            continue
        says(lives, token, begun, sent, delay=arrives - sent, text=f"{token} at {sent}")
        heard[token] = arrives
        told = lives.statuses(arrives)["memory"][1].split(" ")[0]
        assert arrives - heard[told] <= FRESH, "a process that runs was just heard"
    if not heard:
        assert lives.statuses(end) == {} and lives.changes(end) == {}
        return
    newest = max(heard, key=int)
    silent = end - max(heard.values())
    first = {t: b for _, t, b, _ in words}
    if silent > SILENT:
        assert lives.statuses(end) == {}
        assert lives.changes(end)["memory"].silent == pytest.approx(silent)
    elif end - heard[newest] <= FRESH and all(
        first[newest] > arrives for arrives, t, _, _ in words if t != newest
    ):
        assert lives.statuses(end)["memory"][1].startswith(newest)
        begun = min(
            arrives - sent + begun for arrives, t, begun, sent in words if t == newest and arrives <= end
        )
        gone = any(heard[t] < max(begun, end - SILENT) for t in heard if t != newest)
        assert ("memory" in lives.changes(end)) is gone
