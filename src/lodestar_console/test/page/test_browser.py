"""Tests of the page in a real browser: display of a recorded run, requests, and behaviour on a bad connection."""

from __future__ import annotations

import time
from typing import Any

import msgspec
import pytest
from looking import Opened, children, opened
from waiting import Moment

from lodestar_console import protocol

pytestmark = [pytest.mark.browser, pytest.mark.timed]


READY = "window.lodestar?.store.part('robot') && lodestar.view.grid.version > 0 && document.querySelector('.stop')"


def meaning(text: str, **fields: Any) -> dict[str, Any]:
    return {"understood": text, "steps": [], "problem": "", **fields}


def ready(look: Opened) -> None:
    look.until(READY)


def test_the_recorded_run_is_shown(browser: Any, console: Any) -> None:
    with opened(browser, console.address) as look:
        ready(look)
        look.sees("78 %")
        look.sees("Idle")
        look.sees("go by the map")
        look.until(f"lodestar.store.rows('entities').size === {len(console.run['entities'])}")
        known = look.page.evaluate("lodestar.view.grid.cells.reduce((n, c) => n + (c > 0), 0)")
        assert known > 5000
        assert look.page.evaluate(
            "document.scripts.length === 1 && !document.querySelector('[style*=expression]')"
        )


def test_stop_needs_no_focus_and_tells_when_it_stands(browser: Any, console: Any) -> None:
    with opened(browser, console.address) as look:
        ready(look)
        look.page.click("#say")
        look.page.keyboard.type("find the")
        pressed = Moment.now(children())
        look.page.keyboard.press("Escape")
        look.wait(lambda: console.stops, "STOP has come")
        assert pressed.until(console.stops[0]) < 0.5
        look.sees("Stands after")
        look.sees("Stopped, stands")
        assert console.requests == []  # STOP needs neither lease nor role
        look.page.click("text=Resume")
        console.asked(protocol.Resume)
        console.set_part("robot", held=False, holds=[])
        look.wait(lambda: "Stands after" not in look.page.inner_text("body"), "resumed")
        before = len(console.stops)  # a slow answer makes the page send it again
        look.page.click(".stop")
        look.wait(lambda: len(console.stops) > before, "STOP by its button")


def test_stop_without_an_answer_says_so_and_goes_out_again(browser: Any, console: Any) -> None:
    console.stop_answers = False
    with opened(browser, console.address) as look:
        ready(look)
        look.page.click(".stop")
        look.sees("Use its own stop")
        look.wait(lambda: console.unheard >= 2, "tries on more than one connection")
        assert not console.stops
        console.stop_answers = True
        look.sees("Stands after")
        assert console.stops
        look.errors.clear()  # browsers also log the refusals of the test server


@pytest.mark.parametrize("takes_posts", [True, False])
def test_stop_over_a_link_that_only_seems_open_goes_by_another(
    browser: Any, console: Any, takes_posts: bool
) -> None:
    console.takes_posts = takes_posts
    with opened(browser, console.address) as look:
        ready(look)
        look.until("lodestar.stop.state.connected")
        console.go_half_open()
        pressed = Moment.now(children())
        look.page.keyboard.press("Escape")
        look.wait(lambda: console.stops, "STOP has come by another way")
        assert pressed.until(console.stops[0]) < 1.0  # 0.3 s, plus margin for polling
        look.sees("Stands after")
        look.errors.clear()


def test_a_dead_socket_for_stop_is_noticed_and_made_anew_before_it_is_needed(
    browser: Any, console: Any
) -> None:
    with opened(browser, console.address) as look:
        ready(look)
        look.until("lodestar.stop.state.connected")
        console.go_half_open()
        look.until("!lodestar.stop.state.connected")
        look.until("lodestar.stop.state.connected")
        look.page.click(".stop")
        look.sees("Stands after")
        assert console.unheard == 0


def test_a_lost_link_is_seen_within_a_second_and_comes_back_whole(browser: Any, console: Any) -> None:
    with opened(browser, console.address) as look:
        ready(look)
        look.until("!lodestar.link.state.lost")
        console.silent = True
        went = Moment.now(children())
        look.until("document.querySelector('.strip')?.innerText.includes('Link lost')")
        assert went.passed() < 1.5  # 0.9 s of silence, plus margin for polling
        first = console.run["entities"][0]
        console.change("entities", {**first, "label": "renamed meanwhile"})
        # After 4 s of silence the page reconnects and receives all data again.
        look.until(f"lodestar.store.rows('entities').get({first['id']})?.label === 'renamed meanwhile'")
        console.silent = False
        look.until("!lodestar.link.state.lost")
        console.hang_up()
        look.until("!lodestar.link.state.lost && !document.querySelector('.strip')")


def test_a_session_that_has_ended_says_what_to_do(browser: Any, console: Any) -> None:
    with opened(browser, console.address) as look:
        ready(look)
        console.session_ended = True
        console.hang_up()
        look.sees("Your session has ended.")
        console.session_ended = False
        look.until("!lodestar.link.state.lost && !document.querySelector('.strip')")
        look.errors.clear()  # browsers also log the refusals


def test_a_gap_in_the_deltas_is_mended_by_a_resync(browser: Any, console: Any) -> None:
    with opened(browser, console.address) as look:
        ready(look)
        one, other = console.run["entities"][:2]
        console.change("entities", {**one, "label": "never arrived"}, lost=True)
        console.change("entities", {**other, "label": "arrived"})
        assert console.asked(protocol.Resync).name == "entities"
        look.until(f"lodestar.store.rows('entities').get({one['id']})?.label === 'never arrived'")


def test_a_directive_is_read_back_before_it_goes(browser: Any, console: Any) -> None:
    console.replies["directive"] = lambda request: (
        True,
        "",
        meaning("Find the red chair.") if request.dry_run else None,
    )
    with opened(browser, console.address) as look:
        ready(look)
        look.page.fill("#say", "find the red chair")
        look.page.press("#say", "Enter")
        look.sees("Find the red chair.")
        assert [request.dry_run for request in console.requests] == [True]
        look.until("document.activeElement.innerText === 'Go'")
        look.page.keyboard.press("Enter")
        look.wait(lambda: len(console.requests) == 2, "the directive itself")
        assert console.requests[1].dry_run is False and console.requests[1].text == "find the red chair"
        console.set_part(
            "directive", text="find the red chair", understood="Find the red chair.", running=True, phase="exploring",
            travelled=1.5, progress=[{"at": 50.0, "text": "Driving to the kitchen."}],
            question={"id": "q1", "text": "Which of them?", "choices": ["the one by the table", "the one by the door"]},
        )  # fmt: skip
        look.sees("Driving to the kitchen.")
        look.sees("1.50 m driven")
        look.page.click("text=the one by the door")
        answer = console.asked(protocol.AnswerRobot)
        assert (answer.question, answer.choice) == ("q1", 2)
        look.page.click("text=Cancel directive")
        console.asked(protocol.Cancel)


def test_a_directive_that_cannot_begin_says_why(browser: Any, console: Any) -> None:
    console.replies["directive"] = lambda _: (
        True,
        "",
        meaning("Find the ghost.", problem="Nobody can see a ghost."),
    )
    with opened(browser, console.address) as look:
        ready(look)
        look.page.fill("#say", "find the ghost")
        look.page.press("#say", "Enter")
        look.sees("Nobody can see a ghost.")
        assert look.page.is_disabled("role=button[name='Go']")


def test_a_question_is_answered_and_lights_up_its_place(browser: Any, console: Any) -> None:
    thing = console.run["entities"][0]
    answer = {
        "text": "The clock is in the living room.", "confidence": 0.9, "coverage": None, "directive": "",
        "places": [{"x": thing["mean"][0], "y": thing["mean"][1], "z": 0.0, "text": ""}], "entities": [thing["id"]],
        "proofs": [{"kind": "keyframe", "id": "k4", "text": "", "at": 1.0, "keyframe": 4, "session": "", "score": 1.0}],
        "last_verified": 13.0,
    }  # fmt: skip
    console.replies["ask"] = lambda _: (True, answer["text"], answer)
    with opened(browser, console.address) as look:
        ready(look)
        look.page.fill("#say", "where is the clock?")
        look.sees("A question: nothing moves")
        look.page.press("#say", "Enter")
        look.sees("The clock is in the living room.")
        look.sees("90 % sure")
        look.until(f"JSON.stringify(lodestar.ui.state.lit.entities) === '[{thing['id']}]'")
        look.wait(lambda: any("/keyframes/4.jpg" in path for path in console.paths), "its picture")
        assert all(not isinstance(request, protocol.SendDirective) for request in console.requests)


def test_markup_in_any_text_stays_text(browser: Any, console: Any) -> None:
    evil = '<img src=x onerror="window.taken=1"><script>window.taken=1</script>'
    first = console.run["entities"][0]
    console.tables["entities"][first["id"]] = {
        **first,
        "label": evil,
        "caption": evil,
        "attributes": [evil],
        "relations": [evil],
    }
    console.tables["memories"]["9"] = {**console.run["memories"][0], "id": "9", "text": evil}
    console.tables["decisions"]["d1"] = {**console.run["decisions"][0], "explanation": evil, "why": [evil]}
    console.tables["events"]["e"] = {
        "id": "e",
        "at": 3.0,
        "kind": evil,
        "text": evil,
        "pose": None,
        "keyframe": 0,
        "entities": [],
        "decision": "",
    }
    console.parts["rooms"] = [{**console.parts["rooms"][0], "name": evil}]
    console.parts["directive"] = {
        **console.parts["directive"],
        "text": evil,
        "understood": evil,
        "progress": [{"at": 1.0, "text": evil}],
    }
    console.parts["health"] = {
        **console.parts["health"],
        "findings": [{"level": "error", "text": evil, "do": evil}],
    }
    console.replies["ask"] = lambda _: (False, evil, None)
    with opened(browser, console.address) as look:
        ready(look)
        look.page.evaluate(f"lodestar.ui.set({{selected: {{kind: 'entity', id: {first['id']}}}}})")
        look.page.fill("#say", f"where is {evil}?")
        look.page.press("#say", "Enter")
        for tab in ("Beliefs", "Memories", "Health", "Decisions"):
            look.page.click(f"role=tab[name=/{tab}/]")
            look.sees("onerror")
        assert look.page.evaluate("window.taken") is None
        assert look.page.evaluate("document.querySelectorAll('img[src=x], #page script').length") == 0


def test_beliefs_are_corrected_and_taken_back(browser: Any, console: Any) -> None:
    console.replies["correct"] = lambda _: (True, "It is gone. Entry 3.", None)
    labels = [one["label"] for one in console.run["entities"]]
    thing = next(one for one in console.run["entities"] if labels.count(one["label"]) == 1)
    with opened(browser, console.address) as look:
        ready(look)
        look.page.click("role=tab[name=Beliefs]")
        look.page.fill("[placeholder='Search by name, room or number']", thing["label"])
        look.page.click(f".things >> text={thing['label']}")
        look.page.click("text=It is gone")
        correction = console.asked(protocol.Correct)
        assert (correction.text, correction.entity) == ("it is gone", thing["id"])
        look.sees("It is gone. Entry 3.")
        console.change(
            "beliefs",
            {
                "id": "b3",
                "entry": 3,
                "at": 50.0,
                "text": "The clock is gone.",
                "by": "operator",
                "entities": [thing["id"]],
                "undone": False,
            },
        )
        look.page.click("text=Undo")
        assert console.asked(protocol.Undo).entry == 3


def test_the_memory_is_searched_pinned_and_forgotten_after_a_second_word(browser: Any, console: Any) -> None:
    kept = console.run["memories"][-1]
    console.replies["memory_search"] = lambda _: (True, "", {"memories": [kept], "count": 1})
    with opened(browser, console.address) as look:
        ready(look)
        look.page.click("role=tab[name=Memories]")
        look.page.fill(".panel input[type=search]", "sink")
        look.page.press(".panel input[type=search]", "Enter")
        look.until("document.querySelectorAll('.memory').length === 1")
        look.page.click("text=Pin")
        assert console.asked(protocol.PinMemory).memory == kept["id"]
        look.page.click(".memory >> text=Forget")
        look.page.click("text=Forget it")
        assert console.asked(protocol.ForgetMemory).memories == [kept["id"]]
        look.until("document.querySelectorAll('.memory').length === 0")


def test_why_and_the_arms_of_a_decision(browser: Any, console: Any) -> None:
    last = console.run["decisions"][-1]
    console.tables["decisions"][last["id"]] = {
        **last,
        "why": ["did        go to entity 71", "because    it fits best"],
    }
    with opened(browser, console.address) as look:
        ready(look)
        look.page.click(".decision >> nth=0")
        look.sees("Not possible: a target that meets the query is known")
        look.page.click("text=Why?")
        look.sees("because    it fits best")


def test_the_timeline_leads_to_a_moment_and_back(browser: Any, console: Any) -> None:
    decision = console.run["decisions"][3]
    console.replies["at"] = lambda request: (
        True, "", {"at": request.time, "decision": decision, "events": [], "pose": [1.0, 2.0, 0.0],
                   "keyframe": 7, "grid_revision": 0},
    )  # fmt: skip
    with opened(browser, console.address) as look:
        ready(look)
        look.page.focus(".timeline-stage")
        look.page.keyboard.press("ArrowLeft")
        assert console.asked(protocol.At).time == pytest.approx(console.run["decisions"][-1]["at"])
        look.until("lodestar.ui.state.moment?.keyframe === 7")
        look.wait(lambda: any("/keyframes/7.jpg" in path for path in console.paths), "the picture of then")
        console.keeps_pictures = False
        then = {"decision": None, "events": [], "pose": None, "keyframe": 8, "grid_revision": 0}
        console.replies["at"] = lambda request: (True, "", {"at": request.time, **then})
        look.page.keyboard.press("ArrowLeft")
        look.sees("No picture of then is kept.")
        assert all("404" in error for error in look.errors), (
            "the browser tells of the picture that is not kept"
        )
        look.errors.clear()
        look.page.click(".timeline >> text=Back to now")
        look.until("lodestar.ui.state.moment === null")


def test_the_map_by_mouse_and_by_keyboard(browser: Any, console: Any) -> None:
    with opened(browser, console.address) as look:
        ready(look)
        look.page.focus(".stage")
        look.page.keyboard.press("n")
        chosen = look.until("lodestar.ui.state.selected?.id")
        assert chosen == min(one["id"] for one in console.run["entities"])
        look.sees("Told by people" if console.run["entities"][0]["stated"] else "first")
        look.page.click("role=button[name='Point out']")
        look.page.focus(".stage")
        look.page.keyboard.press("Enter")  # Enter selects the middle of the map
        look.page.click(".tool-form >> text=Point out")
        point = console.asked(protocol.PointOut)
        thing = next(one for one in console.run["entities"] if one["id"] == chosen)
        assert (point.x, point.y) == pytest.approx(tuple(thing["mean"][:2]), abs=0.05)
        look.page.click("role=button[name='Close way']")
        box = look.page.locator(".stage").bounding_box()
        for share in (0.3, 0.6):
            look.page.mouse.click(box["x"] + share * box["width"], box["y"] + 0.5 * box["height"])
        look.page.click(".tool-form >> text=Close way")
        way = console.asked(protocol.CloseWay)
        assert way.end[0] - way.start[0] > 0.5 and abs(way.end[1] - way.start[1]) < 0.2


def test_a_hidden_tab_asks_for_nothing(browser: Any, console: Any) -> None:
    with opened(browser, console.address) as look:
        ready(look)
        hide = """(hidden) => {
            Object.defineProperty(document, 'hidden', {value: hidden, configurable: true});
            document.dispatchEvent(new Event('visibilitychange'));
        }"""
        look.page.evaluate(hide, True)
        look.wait(lambda: console.wants and not console.wants[-1].grid, "nothing is wanted")
        last = console.wants[-1]
        assert not (last.grid or last.cloud or last.camera or last.looks)

        def quiet() -> bool:  # one that was on its way when the tab was hidden may still come
            before = console.pings
            time.sleep(1.2)
            return console.pings == before

        look.wait(quiet, "pings end")
        pings = console.pings
        look.page.evaluate(hide, False)
        look.wait(lambda: console.wants[-1].grid and console.pings > pings, "it asks again")
        look.until("!lodestar.link.state.lost")


def test_nothing_is_drawn_while_nothing_changes(browser: Any, console: Any) -> None:
    with opened(browser, console.address) as look:
        ready(look)
        drawn = -1

        def still() -> (
            bool
        ):  # a few looks also draw what came late at the start; stamps that draw do so each time
            nonlocal drawn
            before = look.page.evaluate("lodestar.drawing.frames")
            for _ in range(20):  # only the stamp of the standing robot changes
                console.set_part("robot", stamp=console.now())
                time.sleep(0.02)
            drawn = look.page.evaluate("lodestar.drawing.frames")
            return drawn == before

        look.wait(still, "a series of stamps draws nothing")
        x, y, z, yaw = console.parts["robot"]["pose"]
        console.set_part("robot", pose=[x + 0.2, y, z, yaw])
        look.until(f"lodestar.drawing.frames > {drawn}")


def test_the_clock_of_the_browser_may_be_wrong(browser: Any, console: Any) -> None:
    with opened(browser, console.address) as look:
        look.page.add_init_script("const now = Date.now; Date.now = () => now() + 600000;")
        look.page.reload()
        ready(look)
        look.until("lodestar.link.state.delay !== null")
        assert abs(look.page.evaluate("lodestar.link.now()") - console.now()) < 60.0  # of 600 s


def test_thirty_thousand_things_are_shown_within_bounds(browser: Any, console: Any) -> None:
    some = console.run["entities"]
    for number in range(30_000):
        base = some[number % len(some)]
        mean = [base["mean"][0] + number % 173 * 0.1, base["mean"][1] + number // 173 * 0.05, base["mean"][2]]
        console.tables["entities"][1000 + number] = {**base, "id": 1000 + number, "mean": mean}
    with opened(browser, console.address) as look:
        look.until("window.lodestar?.store.rows('entities').size >= 30000")
        ready(look)
        look.page.click("role=tab[name=Beliefs]")
        look.until("document.querySelectorAll('.things li').length > 0")
        assert look.page.evaluate("document.querySelectorAll('*').length") < 3000
        heap = look.page.evaluate("performance.memory?.usedJSHeapSize ?? 0")
        assert heap < 250 * 2**20, heap


def test_requests_are_what_the_protocol_allows() -> None:
    with pytest.raises(msgspec.ValidationError):
        protocol.page_message(b'{"type": "cancel", "id": 1, "extra": true}')
