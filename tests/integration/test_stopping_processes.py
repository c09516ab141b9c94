"""Random stops, releases, directives and kill -9 over the real processes between a directive and a Go2.

Goal selector, the simulator's navigator, gate, base, guard and the stand-in for the robot are processes. The test plays
the robot's body, the map, an explorer, and the people who hold and release.

With other seeds: PYTHONPATH=tests python -m integration.test_stopping_processes --runs 30
"""

from __future__ import annotations

import argparse
import math
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import Twist
from nav_msgs.msg import OccupancyGrid, Odometry
from std_srvs.srv import SetBool
from tf2_msgs.msg import TFMessage
from unitree_api.msg import Request
from waiting import Moment

from integration.bed import Bed, Processes
from integration.fakes import FakeExpert, stamped
from integration.surroundings import EXPERTS, STOP_BOUND, TIMES, moves, release_until_idle
from lodestar.experts.protocol import Proposal
from lodestar.geometry.poses import planar_transform
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar_bringup.domains import free_domain
from lodestar_go2.sport import SportApi
from lodestar_interfaces.action import FollowDirective
from lodestar_interfaces.msg import Heartbeat, Hold, Holds
from lodestar_interfaces.srv import GetEntities, PlaceHold, ReleaseHold
from lodestar_ros import qos
from lodestar_ros.conversions import grid_to_msg

pytestmark = pytest.mark.slow

KILLED = ("motion_gate", "goal_selector", "sim_navigator", "go2_base")
NODES = (*KILLED, "go2_guard", "go2_stand_in")
GATE, BASE = "the gate", "the base"
PEOPLE = ("Ada", "Bob")
SILENCE = 0.9  # s in which the goal selector is stopped, above the gate's timeout and STOP_BOUND
STEPS = 16  # events of a run


@dataclass
class Ban:
    """A span in which nothing may move. bounds: seconds after its begin, for what the gate and the base send.

    A hold or a pause has its owner, the number that it was acknowledged with, and `by`, the node that has done so.
    """

    why: str
    begun: Moment
    bounds: dict[str, float]
    until: float = math.inf  # s, monotonic
    kind: int = 0
    owner: str = ""
    number: int = 0
    by: str = ""

    def forbids(self, sender: str, at: float) -> bool:
        """Return whether a motion sent at a time breaks the ban. Waits for a core are left out."""
        bound = self.bounds.get(sender, math.inf)
        if not self.begun.at + bound < at < self.until:
            return False
        return bound == 0.0 or self.begun.until(at) > bound


class Body:
    """The robot's body and its map: walks as the stand-in says, publishes where it is, and a grid without walls."""

    def __init__(self, bed: Bed) -> None:
        self.pose = np.zeros(3)
        self._velocity = np.zeros(3)
        node = bed.node
        self._places = bed.on_executor(lambda: node.create_publisher(Odometry, "stand_in/odom", qos.RELIABLE))
        self._grid = bed.on_executor(lambda: node.create_publisher(OccupancyGrid, "grid", qos.LATCHED))
        self._tf = bed.on_executor(lambda: node.create_publisher(TFMessage, "/tf", qos.TF))
        bed.on_executor(
            lambda: node.create_subscription(Twist, "stand_in/cmd_vel", self._on_velocity, qos.COMMAND)
        )
        self._node, self._ended = node, threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _on_velocity(self, twist: Twist) -> None:
        self._velocity = np.array([twist.linear.x, twist.linear.y, twist.angular.z])

    def _run(self) -> None:
        free = np.zeros((120, 120), np.int8)
        shown = 0.0
        while not self._ended.wait(0.02):
            x, y, yaw = self.pose
            forward, left, turn = 0.02 * self._velocity
            ahead, aside = math.cos(yaw), math.sin(yaw)
            self.pose = np.array(
                [x + forward * ahead - left * aside, y + forward * aside + left * ahead, yaw + turn]
            )
            message = Odometry()
            message.header.stamp = self._node.get_clock().now().to_msg()
            message.pose.pose.position.x, message.pose.pose.position.y = map(float, self.pose[:2])
            message.pose.pose.orientation.z = math.sin(self.pose[2] / 2.0)
            message.pose.pose.orientation.w = math.cos(self.pose[2] / 2.0)
            self._places.publish(message)
            self._tf.publish(
                TFMessage(transforms=[stamped("map", "odom", planar_transform(0, 0, 0), time.time())])
            )
            if time.monotonic() > shown + 1.0:
                shown = time.monotonic()
                self._grid.publish(grid_to_msg(OccupancyGrid2D(free, 0.1, (-6.0, -6.0), time.time())))

    def close(self) -> None:
        self._ended.set()
        self._thread.join(2.0)


class Street:
    """The processes, what the test plays, and what was promised since the run began."""

    def __init__(self, bed: Bed, processes: Processes) -> None:
        self.bed, self.processes = bed, processes
        self.body = Body(bed)
        node = bed.node
        self.experts = bed.on_executor(lambda: {name: FakeExpert(bed, name) for name in EXPERTS})
        self.experts["frontier"].answer = _somewhere
        bed.on_executor(lambda: node.create_service(GetEntities, "scene_dictionary/get_entities", _nothing))
        bed.hear(Heartbeat, "goal_selector/heartbeat", qos.COMMAND)
        self._clients: dict[str, Any] = {}
        self.bans: list[Ban] = []
        self.freed: dict[tuple[int, str], tuple[float, int]] = {}  # see `free`
        self.broken: list[str] = []
        self.moved = {GATE: 0.0, BASE: 0.0}  # time of the newest motion that was sent, monotonic
        self.motions = 0
        self.standing: Holds | None = None
        self.goal: Any = None  # a directive that was sent, and has not ended
        self.log: list[str] = []
        processes.start(*NODES, robot="go2_protocol", parameters={
            "goal_selector": TIMES, "go2_stand_in": {"traps.silent_from": 0.0}
        })  # fmt: skip
        for topic, kind, profile, on_message in (
            ("cmd_vel_out", Twist, qos.COMMAND, self._on_gate),
            ("/api/sport/request", Request, qos.EVENT, self._on_base),
            ("motion_gate/holds", Holds, qos.LATCHED, self._on_holds),
        ):
            bed.on_executor(
                lambda kind=kind, topic=topic, on_message=on_message, profile=profile: (
                    node.create_subscription(kind, topic, on_message, profile)
                )
            )

    # --- what is seen --------------------------------------------------------------------------------------

    def _on_gate(self, message: Twist, info: Any) -> None:
        if moves(message):
            self._on_motion(GATE, info)

    def _on_base(self, message: Request, info: Any) -> None:
        if message.header.identity.api_id == SportApi.MOVE:
            self._on_motion(BASE, info)

    def _on_motion(self, sender: str, info: Any) -> None:
        # When it was sent. A pause between the two clocks would make it later.
        at = info["source_timestamp"] * 1e-9 + min(-time.time() + time.monotonic() for _ in range(3))
        self.moved[sender], self.motions = at, self.motions + 1
        self.broken += [
            f"{sender} moves the robot {at - ban.begun.at:.3f} s after {ban.why}"
            for ban in self.bans
            if ban.forbids(sender, at)
        ]
        self.bed.poke()

    def _on_holds(self, message: Holds) -> None:
        self.standing = message
        stand = {(one.kind, one.who) for one in message.standing}
        self.broken += [
            f"{ban.why} is lost: the gate tells {sorted(stand)}"
            for ban in self.bans
            if ban.by == "motion_gate" and ban.until == math.inf and message.number >= ban.number
            and (ban.kind, ban.owner) not in stand
        ]  # fmt: skip
        self.bed.poke()

    # --- what is promised -------------------------------------------------------------------------------------

    def ban(self, why: str, bounds: dict[str, float], **hold: Any) -> Ban:
        self.bans.append(Ban(why, self.processes.now(), bounds, **hold))
        return self.bans[-1]

    def end(self, which: Callable[[Ban], bool]) -> list[Ban]:
        """End the bans that are asked to end, from now on, and return them: the answer may come late or never."""
        ended = [ban for ban in self.bans if ban.until == math.inf and which(ban)]
        for ban in ended:
            ban.until = time.monotonic()
        return ended

    def free(self, kind: int, owner: str = "", number: int = sys.maxsize) -> None:
        """Note that the owner's records up to this number are asked to be released. owner: "" = of every owner."""
        self.freed[kind, owner] = time.monotonic(), number

    def is_free(self, kind: int, owner: str, asked: float, number: int = 0) -> bool:
        """Return whether a record was to be released after it was asked for: then its answer is late."""
        freed = (self.freed.get((kind, one), (0.0, 0)) for one in (owner, ""))
        return any(at > asked and number <= until for at, until in freed)

    def call(self, kind: Any, name: str, request: Any, then: Callable[[Any], None]) -> None:
        """Ask without waiting; `then` takes the answer, if one comes."""
        if name not in self._clients:
            self._clients[name] = self.bed.on_executor(lambda: self.bed.node.create_client(kind, name))
        self._clients[name].call_async(request).add_done_callback(lambda done: then(done.result()))

    # --- events ------------------------------------------------------------------------------------------------

    def place(self, kind: int, who: str) -> None:
        asked = time.monotonic()

        def placed(response: PlaceHold.Response) -> None:
            if self.is_free(kind, who, asked, response.number):
                return
            why = f"hold or pause {response.number} of {who}"
            self.ban(
                why,
                {GATE: 0.0, BASE: STOP_BOUND},
                kind=kind,
                owner=who,
                number=response.number,
                by="motion_gate",
            )

        request = PlaceHold.Request(kind=kind, who=who, why="a test")
        self.call(PlaceHold, "motion_gate/place_hold", request, placed)

    def ask(self, node: str, name: str) -> None:
        """Hold or pause at goal selector or base, which pass it on to the gate."""

        asked, kind, owner = time.monotonic(), Hold.HOLD if name == "hold" else Hold.PAUSE, f"{node}/{name}"

        def answered(response: SetBool.Response) -> None:
            self.broken += [] if response.success else [f"{node} refused: {response.message}"]
            bounds = {BASE: 0.0} if node == "go2_base" else {GATE: STOP_BOUND, BASE: STOP_BOUND}
            stands = owner in {one.who for one in self.standing.standing}
            crashed = not stands and self.is_free(Hold.HOLD, node, asked)  # as in `release`
            if not crashed and not self.is_free(kind, owner, asked):
                self.ban(f"{name} at {node}", bounds, kind=kind, owner=owner, by=node)

        self.call(SetBool, f"{node}/{name}", SetBool.Request(data=True), answered)

    def release(self, one: Hold) -> None:
        """Release a record by its number; what it stands for ends, or the refusal says that it does not."""
        stand = {told.who for told in self.standing.standing}

        def is_meant(ban: Ban) -> bool:
            if (
                ban.by and one.who == ban.by != "motion_gate"
            ):  # the hold after a crash, in the place of a lost one
                return ban.owner not in stand
            return (ban.kind, ban.owner) == (one.kind, one.who) and ban.number <= one.number

        ended = self.end(is_meant)
        self.free(one.kind, one.who, one.number)
        freed = self.freed[one.kind, one.who]

        def answered(response: ReleaseHold.Response) -> None:
            if response.error_code:
                if self.freed.get((one.kind, one.who)) is freed:
                    del self.freed[one.kind, one.who]
                for ban in ended:
                    ban.begun, ban.until = self.processes.now(), math.inf

        request = ReleaseHold.Request(number=one.number, who="a person")
        self.call(ReleaseHold, "motion_gate/release_hold", request, answered)

    def resume(self) -> None:
        self.end(lambda ban: ban.kind == Hold.PAUSE)
        self.free(Hold.PAUSE)
        self.call(SetBool, "goal_selector/pause", SetBool.Request(data=False), lambda response: None)

    def direct(self) -> Any:
        """Send a directive; nothing moves the robot once it has ended."""
        self.end(lambda ban: not ban.by)
        client = self.bed.action(FollowDirective, "follow_directive").client
        sent = self.goal = client.send_goal_async(FollowDirective.Goal(text="find the red chair"))

        def ended(done: Any) -> None:
            if (
                done.result().result.error_code != FollowDirective.Result.BUSY
            ):  # a request that was sent twice
                self.stop_wanting(sent, "a directive's end")

        def accepted(done: Any) -> None:
            done.result().get_result_async().add_done_callback(ended)

        sent.add_done_callback(accepted)
        return sent

    def cancel(self) -> None:
        sent = self.goal
        if sent.done():
            answer = sent.result().cancel_goal_async()
            answer.add_done_callback(lambda _: self.stop_wanting(sent, "a cancel"))

    def stop_wanting(self, goal: Any, why: str) -> None:
        if goal is not None and goal is self.goal:
            self.goal = None
            self.ban(why, {GATE: STOP_BOUND, BASE: STOP_BOUND})

    def be_silent(self) -> None:
        """Stop the goal selector for a while, so that its heartbeat is lost."""
        starter = self.processes.starter
        starter.send("goal_selector", signal.SIGSTOP)
        silence = self.ban("the last heartbeat", {GATE: STOP_BOUND, BASE: STOP_BOUND}, by="silence")
        time.sleep(SILENCE)
        silence.until = time.monotonic()
        starter.send("goal_selector", signal.SIGCONT)

    def kill(self, name: str) -> None:
        self.processes.kill(name)
        self.bed.bury(name)
        if name == "goal_selector":
            self.stop_wanting(self.goal, "the goal selector's death")

    def is_up(self, name: str) -> bool:
        return self.processes.starter.process(name).poll() is None

    # --- a run --------------------------------------------------------------------------------------------------

    def choose(self, rng: random.Random) -> tuple[str, Callable[[], None]]:
        """Return an event by its name."""
        dead = [name for name in KILLED if not self.is_up(name)]
        selector = "goal_selector" not in dead
        if dead and rng.random() < 0.5:
            name = rng.choice(dead)
            return f"start {name}", lambda: self.processes.starter.start_one(name)
        if self.standing.standing and rng.random() < 0.6:
            one = rng.choice(self.standing.standing)
            return f"release {one.number} of {one.who}", lambda: self.release(one)
        if selector and self.goal is None and rng.random() < 0.7:
            return "directive", self.direct
        who = rng.choice(PEOPLE)
        events = [
            (f"hold of {who}", lambda: self.place(Hold.HOLD, who)),
            (f"pause of {who}", lambda: self.place(Hold.PAUSE, who)),
            ("hold at goal_selector", lambda: self.ask("goal_selector", "hold")),
            ("pause at goal_selector", lambda: self.ask("goal_selector", "pause")),
            ("hold at go2_base", lambda: self.ask("go2_base", "hold")),
            ("resume", self.resume),
        ]
        if selector:
            events.append(("silence", self.be_silent))
        if self.goal is not None:
            events.append(("cancel", self.cancel))
        return rng.choice(events)

    def run(self, seed: int, steps: int = STEPS) -> int:
        """Let random events happen, then bring everything to rest and to life again; return how many were kills."""
        rng, kills = random.Random(seed), 0
        self.log.append(f"seed {seed}")
        self.drive()
        for _ in range(steps):
            name, happen = self.choose(rng)
            self.log.append(name)
            happen()
            alive = [name for name in KILLED if self.is_up(name)]
            if rng.random() < 0.4 and alive:  # while what was asked for is under way
                time.sleep(rng.choice((0.0, 0.0, 0.002, 0.01, 0.05)))
                victim = rng.choice(alive)
                self.log.append(f"kill {victim}")
                self.kill(victim)
                kills += 1
            time.sleep(rng.choice((0.0, 0.1, 0.4, 0.8)))
            self.check()
        self.rest()
        return kills

    def check(self) -> None:
        assert not self.broken, "\n".join([*self.broken[:5], "after " + " | ".join(self.log)])

    def rest(self) -> None:
        """Start what is dead; every stop that was acknowledged and not released stands now."""
        self.log.append("rest")
        for name in KILLED:
            if not self.is_up(name):
                self.processes.starter.start_one(name)

        def all_stand() -> bool:
            stand = {(one.kind, one.who) for one in self.standing.standing}
            crashed = {one.who for one in self.standing.standing}
            due = [ban for ban in self.bans if ban.kind and ban.until == math.inf]
            return all((ban.kind, ban.owner) in stand or ban.by in crashed for ban in due)

        self.until(lambda: self.broken or all_stand(), "what was acknowledged to stand")
        self.bed.next("goal_selector/heartbeat")
        self.check()

    def drive(self) -> None:
        """Release everything, as people would, and follow a directive until the robot walks."""
        stop = PlaceHold.Request(kind=Hold.HOLD, who="a test", why="a new run")
        self.bed.call(PlaceHold, "motion_gate/place_hold", stop)  # ends a directive
        self.end(lambda ban: bool(ban.kind))
        self.free(Hold.HOLD)
        self.free(Hold.PAUSE)
        release_until_idle(self.bed)
        self.goal = None
        self.bans.clear()
        since = time.monotonic()

        def is_walking() -> bool:
            return bool(self.broken) or min(self.moved.values()) > since

        while (
            not is_walking()
        ):  # a hold that was answered late is asked for again, and a busy robot gives up early
            release_until_idle(self.bed)
            self.bed.answered(self.direct, "the directive to be taken")
            self.until(lambda: is_walking() or self.goal is None, "the robot to walk")
        self.check()

    def until(self, condition: Callable[[], Any], what: str) -> None:
        try:
            self.bed.until(condition, what)
        except AssertionError as error:
            told = {name: self.bed.diagnosis(name).get("message") for name in NODES}
            raise AssertionError(f"{error}\n{told}\nafter {' | '.join(self.log)}") from None

    def close(self) -> None:
        self.body.close()


def _somewhere(request: Any) -> Proposal:
    angle = 2.4 * request.epoch
    pose = np.array([3.5 * math.cos(angle), 3.5 * math.sin(angle), angle])
    return Proposal("frontier", request.epoch, pose, 0.9, "there", stamp=request.stamp)


def _nothing(request: GetEntities.Request, response: GetEntities.Response) -> GetEntities.Response:
    response.until_id = GetEntities.Request.ALL
    return response


@pytest.fixture(scope="module")
def bed(domain: int) -> Iterator[Bed]:
    bed = Bed(informed=True)
    yield bed
    bed.close()


@pytest.fixture(scope="module")
def street(bed: Bed, processes: Processes):
    street = Street(bed, processes)
    yield street
    street.close()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_stop_survives_every_kill_and_nothing_moves_without_a_goal(street: Street, seed: int) -> None:
    kills = street.run(seed)
    assert kills and street.motions


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=100, help="of the first run")
    parser.add_argument("--steps", type=int, default=STEPS)
    given = parser.parse_args()
    with free_domain() as domain, tempfile.TemporaryDirectory() as logs:
        os.environ["ROS_DOMAIN_ID"] = str(domain)
        bed, processes = Bed(informed=True), Processes(Path(logs))
        street = Street(bed, processes)
        try:
            for seed in range(given.seed, given.seed + given.runs):
                begun, moved = time.monotonic(), street.motions
                kills = street.run(seed, given.steps)
                took = time.monotonic() - begun
                sys.stdout.write(
                    f"seed {seed}: {kills} kills, {street.motions - moved} motions, {took:.0f} s\n"
                )
                sys.stdout.flush()
        finally:
            street.close()
            processes.stop()
            bed.close()


if __name__ == "__main__":
    main()
