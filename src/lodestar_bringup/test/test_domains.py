"""Tests that two runs never share a ROS domain."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from lodestar_bringup import domains
from lodestar_bringup.places import StackError


@pytest.fixture(autouse=True)
def two_domains(monkeypatch):
    """Leave two domains that no test of nodes claims meanwhile."""
    monkeypatch.setattr(domains, "_FIRST", 10)
    monkeypatch.setattr(domains, "_LAST", 12)


def test_claims_differ_and_end():
    with domains.free_domain() as first, domains.free_domain() as second:
        assert first != second
        with pytest.raises(StackError, match="end other runs"), domains.free_domain():
            pass
    with domains.free_domain() as again:
        assert again in (first, second)


@pytest.mark.parametrize("number", [0, 1, 119])
def test_a_domain_with_a_participant_is_not_taken(number):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as participant:
        participant.bind(("127.0.0.1", 7410 + 250 * 10 + 2 * number))
        with domains.free_domain() as domain:
            assert domain == 11


def test_a_session_whose_nodes_were_killed_leaves_nothing_that_holds_the_next_one():
    holds = pytest.importorskip("lodestar_ros.motion.holds")
    assert holds.MOTION_STATE == domains.MOTION_STATE
    for _ in range(2):
        with domains.session_environment(33) as own:
            mark = Path(own[domains.MOTION_STATE]) / "33" / "motion_gate.running"
            assert own["ROS_DOMAIN_ID"] == "33" and not mark.exists()
            mark.parent.mkdir()
            mark.write_text("running")
        assert not mark.exists()


def test_every_user_of_a_free_domain_keeps_its_holds_apart():
    sources = Path(__file__).parents[2].glob("*/lodestar_*/**/*.py")
    users = [text for text in map(Path.read_text, sources) if "import free_domain" in text]
    assert all("session_environment(" in text or "XDG_STATE_HOME" in text for text in users)
