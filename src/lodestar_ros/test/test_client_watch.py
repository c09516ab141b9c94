"""When the client of a directive counts as gone."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar_ros.client_watch import ClientConfig, ClientWatch

GRACE = ClientConfig(grace=2.0)


@pytest.fixture
def bench():
    bench = SimpleNamespace(now=0.0, clients=[b"a"])
    infos = lambda name: [SimpleNamespace(endpoint_gid=list(gid)) for gid in bench.clients]  # noqa: E731
    node = SimpleNamespace(resolve_topic_name=lambda name: name, get_subscriptions_info_by_topic=infos)
    bench.watch = lambda config=GRACE: ClientWatch(node, "follow_directive", config, lambda: bench.now)
    return bench


def test_a_client_is_gone_after_the_grace_and_not_before(bench):
    watch = bench.watch()
    watch.begin()
    bench.now = 100.0
    assert watch.gone_for() == 0.0, "it is there"
    bench.clients = []
    bench.now = 101.9
    assert watch.gone_for() == 0.0
    bench.now = 102.1
    assert watch.gone_for() == pytest.approx(2.1)


def test_one_that_the_graph_loses_for_a_moment_is_not_gone(bench):
    watch = bench.watch()
    watch.begin()
    for bench.now in (1.0, 2.0, 3.0, 4.0, 5.0):
        bench.clients = [] if bench.now % 2.0 else [b"a"]
        assert watch.gone_for() == 0.0


def test_one_that_comes_later_is_no_client_of_this_directive(bench):
    watch = bench.watch()
    watch.begin()
    bench.clients, bench.now = [b"b"], 5.0
    assert watch.gone_for() == pytest.approx(5.0)
    watch.begin()
    assert watch.gone_for() == 0.0


def test_while_one_of_several_is_there_the_directive_has_somebody(bench):
    bench.clients = [b"a", b"b"]
    watch = bench.watch()
    watch.begin()
    bench.clients, bench.now = [b"b"], 60.0
    assert watch.gone_for() == 0.0


def test_a_client_that_the_graph_shows_late_is_taken_up(bench):
    bench.clients = []
    watch = bench.watch()
    watch.begin()
    bench.clients, bench.now = [b"a"], 1.0
    assert watch.gone_for() == 0.0
    bench.clients, bench.now = [], 4.0
    assert watch.gone_for() == pytest.approx(3.0)


def test_it_can_be_switched_off(bench):
    watch = bench.watch(ClientConfig(stop_without=False))
    watch.begin()
    bench.clients, bench.now = [], 1e6
    assert watch.gone_for() == 0.0
