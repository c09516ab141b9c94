"""Browser tests of input: pictures as goals, overlong texts, and a whole cloud in 3D."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from looking import opened

from lodestar_console import protocol

pytestmark = [pytest.mark.browser, pytest.mark.timed]
READY = "window.lodestar?.store.part('robot') && lodestar.view.grid.version > 0"
DROP = """([name, type, size]) => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array(size)], name, {type}));
    const form = document.querySelector('.say');
    for (const kind of ['dragover', 'drop']) {
        form.dispatchEvent(new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true}));
    }
}"""


def test_a_dropped_picture_goes_along_with_the_directive(browser: Any, console: Any) -> None:
    told = {"understood": "Find what the picture shows.", "steps": [], "problem": ""}
    console.replies["directive"] = lambda _: (True, "", told)
    with opened(browser, console.address) as look:
        look.until(READY)
        look.page.evaluate(DROP, ["chair.jpg", "image/jpeg", 5000])
        look.sees("chair.jpg")
        look.page.fill("#say", "find this")
        look.page.press("#say", "Enter")
        assert console.asked(protocol.SendDirective).picture == "p5000"
        look.page.click("role=button[name=Go]")
        look.wait(lambda: len(console.requests) == 2, "the directive itself")
        assert console.requests[1].picture == "p5000"


@pytest.mark.parametrize(
    ("name", "kind", "size", "said"),
    [
        ("huge.jpg", "image/jpeg", 20 * 2**20, "20.0 MiB; at most 8 MiB"),
        ("film.mp4", "video/mp4", 100, "has to be a JPEG or PNG"),
    ],
)
def test_a_picture_that_cannot_be_is_refused_in_a_sentence(
    browser: Any, console: Any, name: str, kind: str, size: int, said: str
) -> None:
    with opened(browser, console.address) as look:
        look.until(READY)
        look.page.evaluate(DROP, [name, kind, size])
        look.sees(said)
        assert name not in look.page.inner_text(".say")


def test_a_directive_of_20_kb_is_cut_and_the_page_says_so(browser: Any, console: Any) -> None:
    with opened(browser, console.address) as look:
        look.until(READY)
        look.page.focus("#say")
        look.page.keyboard.insert_text("find the red chair " * 1000)
        look.sees(f"At most {protocol.MAX_DIRECTIVE} characters")
        assert len(look.page.input_value("#say")) == protocol.MAX_DIRECTIVE


def test_what_was_refused_is_told_and_stays(browser: Any, console: Any) -> None:
    console.replies["correct"] = lambda _: (False, "Nothing has the number 1.", None)
    with opened(browser, console.address) as look:
        look.until(READY)
        look.page.click("role=tab[name=Beliefs]")
        look.page.fill("[placeholder='it is gone']", "it is gone")
        look.page.press("[placeholder='it is gone']", "Enter")
        look.sees("Nothing has the number 1.")
        assert look.page.input_value("[placeholder='it is gone']") == "it is gone"  # the input is kept
        look.page.click("role=button[name='Close message']")
        look.wait(lambda: "Nothing has the number 1." not in look.page.inner_text("body"), "it is closed")


def test_the_cloud_is_drawn_in_3d_and_leaves_the_page_answering(browser: Any, console: Any) -> None:
    from scripted import cloud_frame, walls

    at, colors, instances = walls(console.run, height=20)
    console.cloud = cloud_frame(at, colors, instances)
    with opened(browser, console.address) as look:
        look.until(READY)
        look.page.click("role=button[name='3D']")
        look.until(f"lodestar.view.cloud.count === {len(np.unique(at, axis=0))}")
        look.page.fill("#say", "where is it?")
        look.sees("A question: nothing moves")
        look.until(
            """(() => { const c = document.querySelector('canvas.solid'); return c && c.width > 100; })()"""
        )
        look.page.click("role=button[name='2D']")
        look.until("!document.querySelector('canvas.solid') && !lodestar.ui.state.solid")
        look.wait(lambda: not console.wants[-1].cloud, "the cloud is no longer asked for")
