"""Tests of the detection that a directive's client is gone."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar.timing.stamps import AttendedTime
from lodestar_interfaces.action import FollowDirective
from lodestar_ros.client_watch import DISCOVERY, FORGET, ClientConfig, ClientWatch, OwnedGoal
from lodestar_ros.motion.rivals import BARE

GRACE = ClientConfig(grace=2.0)


def info(gid):
    return SimpleNamespace(endpoint_gid=list(gid), node_name=gid.decode(), node_namespace="/")


@pytest.fixture
def bench():
    bench = SimpleNamespace(now=0.0, clients=[b"a"], owners={})
    node = SimpleNamespace(
        resolve_topic_name=lambda name: f"/{name}",
        get_subscriptions_info_by_topic=lambda name: [info(gid) for gid in bench.clients],
        get_topic_names_and_types=lambda: [("/grid", []), *((topic, []) for topic in bench.owners)],
        get_publishers_info_by_topic=lambda topic: [info(bench.owners[topic])],
    )
    bench.read = lambda: bench.now
    bench.watch = lambda config=GRACE: ClientWatch(node, "follow_directive", config, lambda: bench.read())
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


def test_a_listener_whose_own_goals_have_an_owner_is_no_client_of_a_goal_without_one(bench):
    bench.clients, bench.owners = [b"a", b"page"], {"/owners/sender_1": b"page"}
    watch = bench.watch()
    watch.begin()
    bench.clients, bench.now = [b"page"], 3.0
    assert watch.gone_for() == pytest.approx(3.0)


def test_a_node_with_an_owner_is_the_client_where_no_other_is_seen(bench):
    bench.clients, bench.owners = [b"page"], {"/owners/sender_1": b"page"}
    watch = bench.watch()
    watch.begin()
    bench.now = 60.0
    assert watch.gone_for() == 0.0
    bench.clients, bench.now = [], 63.0
    assert watch.gone_for() == pytest.approx(3.0)


def test_programs_without_a_name_are_not_taken_for_one_another(bench):
    bare = BARE[0].encode()
    bench.clients, bench.owners = [bare], {"/owners/bridged": bare}
    watch = bench.watch()
    watch.begin()
    bench.clients, bench.now = [b"page"], 3.0
    assert watch.gone_for() == pytest.approx(3.0)


def test_a_stop_of_the_goal_selector_itself_is_no_absence(bench):
    attended = AttendedTime(0.5)
    plain, bench.read = bench.watch, lambda: attended.at(bench.now)
    watch = plain()
    watch.begin()
    bench.clients, bench.now = [], 30.0  # the graph is read before the client that is still there
    assert watch.gone_for() == 0.0
    bench.clients, bench.now = [b"a"], 30.1
    assert watch.gone_for() == 0.0
    bench.clients = []
    gone = [watch.gone_for() for bench.now in np.arange(30.2, 32.6, 0.1)]
    assert gone[-1] > 2.0 and not any(gone[:18])


def test_it_can_be_switched_off(bench):
    watch = bench.watch(ClientConfig(stop_without=False))
    watch.begin()
    bench.clients, bench.now = [], 1e6
    assert watch.gone_for() == 0.0


def test_every_sender_has_a_name_of_its_own_and_a_goal_keeps_the_owner_that_it_names():
    node = SimpleNamespace(create_publisher=lambda *_: None)
    one, two = OwnedGoal(node), OwnedGoal(node)
    assert one.name != two.name
    assert one.mark(FollowDirective.Goal()).owner == one.name
    assert two.mark(FollowDirective.Goal(owner="page")).owner == "page"


@pytest.fixture
def owners(bench):
    """Add a node's subscriptions to the bench; `listed` is the number of publishers in the graph."""
    bench.listed, bench.closed, bench.made = 0, [], []

    def subscribe(message_type, topic, callback, profile, event_callbacks):
        bench.tell = lambda alive: event_callbacks.liveliness(SimpleNamespace(alive_count=int(alive)))
        bench.made.append(topic)
        return SimpleNamespace(topic_name=topic)

    node = SimpleNamespace(
        get_topic_names_and_types=list,
        create_subscription=subscribe,
        count_publishers=lambda topic: bench.listed,
        destroy_subscription=bench.closed.append,
        resolve_topic_name=lambda name: name,
        get_subscriptions_info_by_topic=lambda name: [],
    )
    bench.watch = lambda config=GRACE: ClientWatch(node, "follow_directive", config, lambda: bench.now)
    return bench


def test_an_owner_is_watched_before_its_directive_begins(owners):
    watch = owners.watch()
    owner = watch.owner("page")
    owners.tell(True)
    owners.now = 8.0
    assert owner.gone_for() == 0.0
    owners.tell(False)
    owners.now = 9.9
    assert not owner.is_alive() and owner.gone_for() == 0.0
    watch.begin(owner)  # its text was read meanwhile: that does not prolong the grace
    owners.now = 10.1
    assert watch.gone_for() == pytest.approx(2.1)


def test_an_owner_that_was_never_seen_has_the_time_of_a_discovery(owners):
    owner = owners.watch().owner("page")
    owners.now = DISCOVERY
    assert owner.gone_for() == 0.0
    owners.now += 0.1
    assert owner.gone_for() == pytest.approx(DISCOVERY + 0.1)


def test_one_subscription_serves_all_goals_of_an_owner_and_goes_long_after_it(owners):
    watch = owners.watch()
    first = watch.owner("page")
    owners.tell(True)
    owners.now = 5.0
    second = watch.owner("page")
    assert second.is_alive() and owners.made == ["owners/page"]
    owners.tell(False)
    owners.now = 6.0
    assert second.gone_for() == 0.0 and first.gone_for() == pytest.approx(6.0)
    watch.owner("other")
    assert not owners.closed, "an event may be on its way"
    owners.now = 6.0 + FORGET + 0.1
    assert not second.is_alive()
    watch.owner("third")
    assert [one.topic_name for one in owners.closed] == ["owners/other"], "the page is still asked about"
    owners.now += FORGET + 0.1
    owners.tell(True)
    owners.now += FORGET + 0.1
    watch.owner("page")
    assert [one.topic_name for one in owners.closed] == ["owners/other"], "the third lives"
    owners.tell(False)
    owners.now += FORGET - 0.1
    watch.owner("page")
    assert len(owners.closed) == 1, "its end was a moment ago"
    owners.now += 0.2
    watch.owner("page")
    assert [one.topic_name for one in owners.closed] == ["owners/other", "owners/third"]


def test_no_owner_is_watched_without_a_name_or_when_switched_off(owners):
    assert owners.watch().owner("") is None
    assert owners.watch(ClientConfig(stop_without=False)).owner("page") is None
