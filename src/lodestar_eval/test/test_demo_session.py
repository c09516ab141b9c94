"""What surrounds a run of the demo over ROS."""

from __future__ import annotations

import socket

import pytest

pytest.importorskip("rclpy", reason="the demo's session needs ROS")

from lodestar_eval.demo.session import StackFailed, free_domain


def test_two_runs_never_share_a_domain():
    with free_domain() as first, free_domain() as second:
        assert first != second
    with free_domain() as again:
        assert again == first


def test_a_domain_that_someone_listens_on_is_passed_over():
    with free_domain() as domain:
        pass
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as participant:
        participant.bind(("", 7410 + 250 * domain))
        with free_domain() as other:
            assert other != domain


def test_no_free_domain_is_said(monkeypatch):
    def taken(*_):
        raise OSError("in use")

    monkeypatch.setattr("lodestar_eval.demo.session._bind", taken)
    with pytest.raises(StackFailed, match="ROS_DOMAIN_ID"), free_domain():
        pytest.fail("there is none")
