"""STOP is sent at once and never refused; what is said of it stands on what the gate and the robot said afterwards."""

import asyncio
import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from page_client import PageClient

from lodestar_console.scripted.console import ScriptedConsole
from lodestar_console.web.console import ConsoleConfig
from lodestar_console.web.stop_desk import GATE_PATIENCE, PERIOD, StopDesk


@pytest.fixture
def script(tmp_path):
    script = ScriptedConsole(ConsoleConfig(port=0, folder=str(tmp_path / "own")))
    yield script
    script.close()


def press(socket):
    socket.send('{"stop": true}')
    assert json.loads(socket.recv(timeout=2.0))["stop"] == "sent"


def test_a_press_is_answered_by_the_gate_and_then_by_the_robot(script):
    with PageClient(script.console.link("look")).open("stop") as socket:
        press(socket)
        assert [json.loads(socket.recv(timeout=2.0))["stop"] for _ in range(2)] == ["held", "stands"]


def test_a_dead_gate_is_told_within_a_second_though_it_held_before(script):
    with PageClient(script.console.link("look")).open("stop") as socket:
        press(socket)
        assert [json.loads(socket.recv(timeout=2.0))["stop"] for _ in range(2)] == ["held", "stands"]
        script.stack.gate_is_dead = True  # its last word was that it holds, and the robot stands
        began = time.monotonic()
        press(socket)
        told = json.loads(socket.recv(timeout=3.0))
        assert told["stop"] == "refused" and "hardware stop" in told["text"]
        assert GATE_PATIENCE - 0.1 < time.monotonic() - began < GATE_PATIENCE + 0.5
        with pytest.raises(TimeoutError):
            socket.recv(timeout=0.5)  # nothing is said of before


def test_malformed_presses_end_with_the_socket_and_no_stop_is_lost(script):
    with PageClient(script.console.link()).open("stop") as socket:
        socket.send('{"stop": 1}')
        assert json.loads(socket.recv(timeout=2.0))["stop"] == "refused"
        press(socket)
        assert script.stack.stops == 1


# --- the desk alone ------------------------------------------------------------------------------------


class Gate:
    """A stack whose gate answers late, or never."""

    def __init__(self, delay=0.0, is_dead=False):
        self.sent, self.delay, self.is_dead, self.stood_at = [], delay, is_dead, 0.0

    def stop(self):
        answer = asyncio.get_running_loop().create_future()
        self.sent.append(time.monotonic())
        if not self.is_dead:
            asyncio.get_running_loop().call_later(self.delay, answer.set_result, True)
        return answer

    def stands(self, since):
        return self.stood_at > since


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.floats(0.0, 0.15), st.integers(1, 200)), min_size=1, max_size=4))
def test_every_press_is_followed_by_a_stop_and_a_flood_is_few(bursts):
    """No press goes without a STOP at or after it, and no more are sent than one a period."""

    async def run():
        gate = Gate()
        desk, tasks, pressed = StopDesk(gate), [], []

        async def one():
            pressed.append(time.monotonic())
            return await desk.press()

        for pause, many in bursts:
            await asyncio.sleep(pause)
            tasks += [asyncio.ensure_future(one()) for _ in range(many)]
        return gate, pressed, await asyncio.gather(*tasks)

    gate, pressed, sent = asyncio.run(run())
    assert gate.sent[0] - pressed[0] < 0.05, "the first is sent at once"
    assert all(end.at >= at for at, end in zip(pressed, sent))
    between = [one for at, end in zip(pressed, sent) for one in gate.sent if at <= one < end.at]
    assert not between, "none was sent on that would have answered it before"
    assert len(gate.sent) <= 2 + (gate.sent[-1] - gate.sent[0]) / PERIOD
    assert all(after - before > 0.9 * PERIOD for before, after in zip(gate.sent, gate.sent[1:]))


def test_who_has_gone_takes_no_stop_of_others_along():
    async def run():
        gate = Gate()
        desk = StopDesk(gate)
        await desk.press()
        first, second = asyncio.ensure_future(desk.press()), asyncio.ensure_future(desk.press())
        await asyncio.sleep(0.01)
        first.cancel()
        await second
        return len(gate.sent)

    assert asyncio.run(run()) == 2


@pytest.mark.parametrize(
    ("delay", "is_dead", "holds"), [(0.0, False, True), (0.5, False, False), (0.0, True, False)]
)
def test_only_the_answer_to_this_very_stop_counts(monkeypatch, delay, is_dead, holds):
    async def run():
        sent = await StopDesk(Gate(delay, is_dead)).press()
        return await sent.is_held(0.1)

    assert asyncio.run(run()) == holds


def test_a_stand_of_before_the_press_is_none():
    async def run():
        gate = Gate()
        gate.stood_at = time.monotonic()
        desk = StopDesk(gate)
        await asyncio.sleep(0.01)
        sent = await desk.press()
        before = await desk.stands(sent, 0.1)
        gate.stood_at = time.monotonic()
        return before, await desk.stands(sent, 0.1)

    assert asyncio.run(run()) == (False, True)
