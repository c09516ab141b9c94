"""Tests of STOP: sent at once, never refused, and reported only from data received after it."""

import asyncio
import json
import time
from contextlib import ExitStack
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from page_client import PageClient, StateReader
from scripted_robot.console import ScriptedConsole
from waiting import PATIENCE, Moment
from websockets.exceptions import InvalidStatus

from lodestar_console.web.console import ConsoleConfig
from lodestar_console.web.sockets import MOST_SOCKETS
from lodestar_console.web.stop_desk import GATE_PATIENCE, PERIOD, StopDesk


@pytest.fixture
def script(tmp_path):
    script = ScriptedConsole(ConsoleConfig(port=0, folder=str(tmp_path / "own")))
    yield script
    script.close()


def press(socket):
    socket.send('{"stop": true}')
    assert json.loads(socket.recv(timeout=PATIENCE))["stop"] == "sent"


def test_a_press_is_answered_by_the_gate_and_then_by_the_robot(script):
    with PageClient(script.console.link("look")).open("stop") as socket:
        press(socket)
        assert [json.loads(socket.recv(timeout=PATIENCE))["stop"] for _ in range(2)] == ["held", "stands"]


def test_a_dead_gate_is_told_within_a_second_though_it_held_before(script):
    with PageClient(script.console.link("look")).open("stop") as socket:
        press(socket)
        assert [json.loads(socket.recv(timeout=PATIENCE))["stop"] for _ in range(2)] == ["held", "stands"]
        script.stack.gate_is_dead = True  # last reported as holding, with a standing robot
        began = Moment.now()
        press(socket)
        told = json.loads(socket.recv(timeout=PATIENCE))
        assert told["stop"] == "refused" and "hardware stop" in told["text"]
        assert time.monotonic() - began.at > GATE_PATIENCE - 0.1
        assert began.passed() < GATE_PATIENCE + 0.5
        with pytest.raises(TimeoutError):
            socket.recv(timeout=0.5)  # no report from earlier data


def words_of(socket, many, press):
    told = [json.loads(socket.recv(timeout=PATIENCE)) for _ in range(many)]
    assert {one["press"] for one in told} == {press}
    return [one["stop"] for one in told]


@pytest.mark.parametrize("stood", [True, False])
def test_resume_ends_the_watch_of_every_press_before_it(script, stood):
    """After a resume no further report on the press is sent, whether or not the robot stood."""
    page, other = PageClient(script.console.link("look")), PageClient(script.console.link())
    if not stood:
        script.stack.stands = lambda since: not script.stack._held and since > 0
    with page.open("stop") as socket, other.open("state") as state:
        socket.send('{"stop": true, "press": 7}')
        assert words_of(socket, 3 if stood else 2, 7) == ["sent", "held", "stands"][: 3 if stood else 2]
        assert StateReader(state).resume()["ok"]
        assert words_of(socket, 1, 7) == ["released"]
        with pytest.raises(TimeoutError):
            socket.recv(timeout=0.3)
        socket.send('{"stop": true, "press": 8}')
        assert words_of(socket, 2, 8) == ["sent", "held"], "the next press has a watch of its own"


def test_the_second_way_answers_with_the_word_of_the_gate(script):
    page = PageClient(script.console.link("look"))
    head = {"origin": page.origin}
    told = json.loads(page.get("/stop", "POST", head).body)
    assert told["stop"] == "held" and script.stack._held
    script.stack.gate_is_dead = True
    began = Moment.now()
    told = json.loads(page.get("/stop", "POST", head).body)
    assert told["stop"] == "refused" and "hardware stop" in told["text"]
    assert time.monotonic() - began.at > GATE_PATIENCE - 0.1
    assert began.passed() < GATE_PATIENCE + 1.0


def test_a_page_without_a_socket_of_its_own_is_answered_by_the_second_way(script):
    page = PageClient(script.console.link())
    with ExitStack() as tabs:
        for _ in range(MOST_SOCKETS):
            tabs.enter_context(page.open("stop")).send('{"stop": false}')
        with pytest.raises(InvalidStatus):
            page.open("stop").close()
        script.stack.gate_is_dead = True
        assert json.loads(page.get("/stop", "POST", {"origin": page.origin}).body)["stop"] == "refused"


def test_malformed_presses_end_with_the_socket_and_no_stop_is_lost(script):
    with PageClient(script.console.link()).open("stop") as socket:
        socket.send('{"stop": 1}')
        assert json.loads(socket.recv(timeout=PATIENCE))["stop"] == "refused"
        press(socket)
        assert script.stack.stops == 1


# --- StopDesk ----------------------------------------------------------------------------------------


class Gate:
    """Fake stack whose gate answers late or never."""

    def __init__(self, delay=0.0, is_dead=False):
        self.events, self.names, self.delay, self.is_dead, self.stood_at = [], [], delay, is_dead, 0.0

    def stop(self, who):
        answer = asyncio.get_running_loop().create_future()
        self.events.append("sent")
        self.names.append(who)
        if not self.is_dead:
            asyncio.get_running_loop().call_later(self.delay, answer.set_result, True)
        return answer

    def stands(self, since):
        return self.stood_at > since


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.floats(0.0, 0.15), st.integers(1, 200)), min_size=1, max_size=4))
def test_every_press_is_followed_by_a_stop_and_a_flood_is_few(bursts):
    """Each press is followed by a STOP, and at most one STOP is sent per period."""

    async def run():
        gate = Gate()
        desk, tasks, pressed = StopDesk(gate), [], []

        async def one():
            pressed.append(time.monotonic())
            gate.events.append("pressed")
            asyncio.get_running_loop().call_soon(gate.events.append, "another turn of the loop")
            return await desk.press("Ada")

        for pause, many in bursts:
            await asyncio.sleep(pause)
            tasks += [asyncio.ensure_future(one()) for _ in range(many)]
        return gate, pressed, await asyncio.gather(*tasks)

    gate, pressed, sent = asyncio.run(run())
    assert gate.events[:2] == ["pressed", "sent"], "the first is sent at once"
    assert all(end.at >= at for at, end in zip(pressed, sent))
    times = sorted({one.at for one in sent})
    assert len(times) == len(gate.names), "every STOP answers a press"
    between = [one for at, end in zip(pressed, sent) for one in times if at <= one < end.at]
    assert not between, "none was sent on that would have answered it before"
    assert len(times) <= 2 + (times[-1] - times[0]) / PERIOD
    assert all(after - before > 0.9 * PERIOD for before, after in pairwise(times))


def test_a_stop_is_sent_in_the_name_of_everybody_who_pressed():
    async def run():
        desk = StopDesk(gate := Gate())
        await desk.press("Ada")
        await asyncio.gather(*(desk.press(name) for name in ("Bob", "Carol", "Bob")))
        return gate.names

    assert asyncio.run(run()) == ["Ada", "Bob and Carol"]


def test_who_has_gone_takes_no_stop_of_others_along():
    async def run():
        gate = Gate()
        desk = StopDesk(gate)
        await desk.press("Ada")
        first, second = asyncio.ensure_future(desk.press("Ada")), asyncio.ensure_future(desk.press("Ada"))
        await asyncio.sleep(0.01)
        first.cancel()
        await second
        return len(gate.names)

    assert asyncio.run(run()) == 2


@pytest.mark.parametrize(
    ("delay", "is_dead", "holds"), [(0.0, False, True), (60.0, False, False), (0.0, True, False)]
)
def test_only_the_answer_to_this_very_stop_counts(monkeypatch, delay, is_dead, holds):
    async def run():
        sent = await StopDesk(Gate(delay, is_dead)).press("Ada")
        return await sent.is_held(0.1)

    assert asyncio.run(run()) == holds


def test_a_press_after_resume_began_is_watched_on():
    async def run():
        desk = StopDesk(Gate())
        before, began = await desk.press("Ada"), time.monotonic()
        after = await desk.press("Ada")
        desk.release(began)
        return before.released.is_set(), after.released.is_set()

    assert asyncio.run(run()) == (True, False)


def test_a_stand_of_before_the_press_is_none():
    async def run():
        gate = Gate()
        gate.stood_at = time.monotonic()
        desk = StopDesk(gate)
        await asyncio.sleep(0.01)
        sent = await desk.press("Ada")
        before = await desk.stands(sent, 0.1)
        gate.stood_at = time.monotonic()
        return before, await desk.stands(sent, 0.1)

    assert asyncio.run(run()) == (False, True)
