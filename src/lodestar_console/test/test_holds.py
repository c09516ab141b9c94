"""STOP and Resume over the two services that hold: each is asked for itself; nothing is told before it is answered."""

import asyncio
from collections import deque
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar_console.intake import orders
from lodestar_console.intake.orders import RosStack


class Told:
    """A future of rclpy."""

    def __init__(self):
        self.callbacks, self.said = [], None

    def add_done_callback(self, callback):
        self.callbacks.append(callback)

    def give(self, success):
        self.said = SimpleNamespace(success=success)
        for one in self.callbacks:
            one(self)

    def exception(self):
        return None

    def result(self):
        return self.said


class Holder:
    """Client of one service. how: "ok", "refuses", "silent", "raises" (as rclpy does of a broken handle), "missing"."""

    def __init__(self, how="ok"):
        self.how, self.asked, self.on_ask = how, [], lambda held: None

    def service_is_ready(self):
        return self.how != "missing"

    def call_async(self, request):
        self.asked.append(request.data)
        if self.how == "raises":
            raise RuntimeError("the handle is broken")
        self.on_ask(request.data)
        told = Told()
        if self.how in ("ok", "refuses"):
            asyncio.get_running_loop().call_soon(told.give, self.how == "ok")
        return told

    def remove_pending_request(self, _):
        pass


def stack_of(gate, selector):
    stack = RosStack.__new__(RosStack)
    stack._holds, stack._asked, stack._stops, stack.errors = [gate, selector], deque(), 0, []
    stack._node = SimpleNamespace(diagnostics=SimpleNamespace(error=stack.errors.append))
    return stack


@pytest.fixture(autouse=True, scope="module")
def soon():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(orders, "RELEASE_PATIENCE", 0.02)
        yield


def resume(stack):
    return asyncio.run(stack._resume())


def test_resume_is_told_when_both_have_answered():
    gate, selector = Holder(), Holder()
    told = resume(stack_of(gate, selector))
    assert told.ok and gate.asked == selector.asked == [False]


@pytest.mark.parametrize("missing", [0, 1])
def test_where_one_is_missing_neither_is_released(missing):
    holders = [Holder(), Holder()]
    holders[missing].how = "missing"
    told = resume(stack_of(*holders))
    assert not told.ok and orders.HOLDERS[missing] in told.text
    assert holders[0].asked == holders[1].asked == []


HOW = st.sampled_from(["ok", "refuses", "silent", "raises", "missing"])


@settings(deadline=None, max_examples=60)
@given(HOW, HOW)
def test_released_is_told_exactly_where_both_say_so_and_else_the_last_word_is_to_hold(of_gate, of_selector):
    gate, selector = Holder(of_gate), Holder(of_selector)
    told = resume(stack_of(gate, selector))
    assert told.ok == (of_gate == of_selector == "ok") and told.text
    for one in (gate, selector):
        assert not one.asked or one.asked[-1] is not told.ok


@pytest.mark.parametrize("pressed_at", [0, 1])
def test_a_stop_while_it_is_released_has_the_last_word(pressed_at):
    holders = gate, selector = Holder(), Holder()
    stack = stack_of(gate, selector)

    def press(held):
        if not held:
            asyncio.get_running_loop().call_soon(stack.stop)

    holders[pressed_at].on_ask = press
    told = resume(stack)
    assert not told.ok and "STOP" in told.text
    assert gate.asked[-1] is True and selector.asked[-1] is True


@settings(deadline=None, max_examples=40)
@given(HOW, HOW)
def test_stop_asks_each_of_them_whatever_the_other_does(of_gate, of_selector):
    gate, selector = Holder(of_gate), Holder(of_selector)

    async def run():
        answer = stack_of(gate, selector).stop()
        await asyncio.sleep(0.005)
        return answer.done() and answer.result()

    assert asyncio.run(run()) == (of_gate == "ok")
    for one in (gate, selector):
        assert one.asked == ([] if one.how == "missing" else [True])
