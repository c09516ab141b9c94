"""Test of an operator's first minute, in a browser on the real server around a scripted robot."""

from __future__ import annotations

from typing import Any

import pytest
from looking import children, opened
from waiting import Moment

pytestmark = [pytest.mark.browser, pytest.mark.timed]


def test_open_direct_stop_resume_ask_correct_undo_and_look_back(browser: Any, script: Any) -> None:
    address = script.console.link("command")
    home = address.split("enter")[0]
    with opened(browser, address, home=home) as look:
        page = look.page
        assert page.url == home  # the key is not in the URL
        look.until("lodestar.view.grid.version > 0")
        look.until("lodestar.view.camera !== null")
        grew = look.page.evaluate("lodestar.view.grid.cells.reduce((n, c) => n + (c > 0), 0)")

        page.fill("#say", "find the red chair")
        page.press("#say", "Enter")
        page.click("role=button[name=Go]")
        look.until("lodestar.store.part('directive').running")
        look.until("lodestar.store.part('robot').speed > 0")
        look.until(f"lodestar.view.grid.cells.reduce((n, c) => n + (c > 0), 0) > {grew}")

        pressed = Moment.now(children())
        page.keyboard.press("Escape")
        look.until("lodestar.store.part('robot').held && lodestar.store.part('robot').stands")
        assert pressed.passed() < 2.0
        look.sees("Stands after")
        page.click("role=button[name=Resume]")
        look.until("!lodestar.store.part('robot').held")

        page.fill("#say", "where is the red chair?")
        page.press("#say", "Enter")
        look.until("document.querySelector('.told .actions')")
        look.until("document.querySelector('.log').lastElementChild.matches('.told')")  # below the directive

        page.click("role=tab[name=Beliefs]")
        page.click(".things .row >> nth=0")
        page.click("role=button[name='It is gone']")
        look.until("lodestar.store.rows('beliefs').size === 1")
        page.click("role=button[name=/Undo entry/]")
        look.until("[...lodestar.store.rows('beliefs').values()][0].undone")

        page.focus(".timeline-stage")
        page.keyboard.press("ArrowLeft")
        look.until("lodestar.ui.state.moment !== null")
        page.click(".timeline >> text=Back to now")


def test_a_page_that_looks_on_may_stop_and_nothing_else(browser: Any, script: Any) -> None:
    address = script.console.link("look")
    with opened(browser, address, home=address.split("enter")[0]) as look:
        look.until("lodestar.store.part('robot')")
        look.page.fill("#say", "find the red chair")
        look.page.press("#say", "Enter")
        look.until("document.querySelector('.told.bad, .told .primary')")
        look.page.click(".stop")
        look.until("lodestar.store.part('robot').held")
        assert look.page.is_disabled("role=button[name=Resume]")


def test_the_keyboard_alone_directs_stops_and_resumes(browser: Any, script: Any) -> None:
    address = script.console.link("command")
    with opened(browser, address, home=address.split("enter")[0]) as look:
        look.until("lodestar.store.part('robot')")
        keys = look.page.keyboard

        def go_to(name: str) -> None:
            for _ in range(80):
                keys.press("Tab")
                if (
                    look.page.evaluate("(e => e.id || e.innerText || e.className)(document.activeElement)")
                    == name
                ):
                    return
            raise AssertionError(f"the keyboard does not reach {name}")

        go_to("say")
        keys.type("find the red chair")
        keys.press("Enter")
        look.until("document.activeElement.innerText === 'Go'")
        keys.press("Enter")
        look.until("lodestar.store.part('robot').speed > 0")
        keys.press("Escape")
        look.until("lodestar.store.part('robot').held && lodestar.store.part('robot').stands")
        go_to("Resume")
        keys.press("Enter")
        look.until("!lodestar.store.part('robot').held")
        go_to("tab-decisions")
        keys.press("ArrowRight")
        look.until("lodestar.ui.state.tab === 'beliefs'")
