"""Browser tests of the map on the real server: zones, looks, changes, camera image, and past states."""

from __future__ import annotations

from typing import Any

import pytest
from looking import Opened, opened

pytestmark = [pytest.mark.browser, pytest.mark.timed]

READY = "window.lodestar?.store.part('robot') && lodestar.view.grid.version > 0 && lodestar.view.camera"


@pytest.fixture
def look(browser: Any, script: Any):
    address = script.console.link("command")
    with opened(browser, address, home=address.split("enter")[0]) as look:
        look.until(READY)
        yield look


def click_map(look: Opened, *shares: tuple[float, float]) -> None:
    """Click places on the map, given as fractions of its width and height."""
    box = look.page.locator(".stage").bounding_box()
    for x, y in shares:
        look.page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])


def zones(look: Opened) -> list[dict[str, Any]]:
    return [zone for zone in look.page.evaluate("lodestar.store.part('zones')") if zone["laid"]]


def test_a_zone_is_drawn_laid_undone_and_another_one_removed_on_the_map(look: Opened) -> None:
    page = look.page
    page.click("role=button[name='Keep out']")
    click_map(look, (0.6, 0.55), (0.75, 0.55))
    look.sees("2 corners; an area has at least 3.")
    assert page.is_disabled(".tool-form .primary")
    click_map(look, (0.75, 0.7), (0.9, 0.9))
    page.click("role=button[name='Take back corner']")
    look.sees("3 corners, ")
    click_map(look, (0.68, 0.45))
    look.sees("the outline crosses itself")
    assert page.is_disabled(".tool-form .primary")
    page.click("role=button[name='Take back corner']")
    drawn = page.evaluate("lodestar.ui.state.places")
    page.fill("[placeholder='wet floor']", "wet <b>paint</b>")
    page.select_option(".tool-form select", "60")
    page.click(".tool-form .primary")
    look.wait(lambda: zones(look), "the zone is there")
    (zone,) = zones(look)
    assert zone["outline"] == drawn and zone["text"] == "wet <b>paint</b>" and zone["expires"] > 0
    look.until("lodestar.store.part('lease').lease?.holder === lodestar.store.hello.name")

    page.click("role=tab[name=Beliefs]")
    look.sees("is closed (wet <b>paint</b>)")
    page.click("role=button[name=/Undo entry/]")
    look.wait(lambda: not zones(look), "it is undone")

    page.focus(".stage")  # keyboard only: Enter selects the middle of the map
    page.click("role=button[name='Keep out']")
    page.focus(".stage")
    for key in ("Enter", "ArrowRight", "Enter", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    look.until("lodestar.ui.state.places.length === 3")
    page.click(".tool-form .primary")
    look.wait(lambda: zones(look), "the second zone is there")
    centre = page.evaluate("(() => { const o = lodestar.store.part('zones').find((z) => z.laid).outline;"
                           " return [0, 1].map((i) => o.reduce((s, p) => s + p[i], 0) / o.length); })()")  # fmt: skip
    assert len(centre) == 2
    page.click("section:has(h3:text('Closed ways and zones')) li:has-text('keep out') >> button:text('Show')")
    look.sees("an area that an operator has closed")
    page.click(".thing >> role=button[name=Remove]")
    look.wait(lambda: not zones(look), "it is removed")


def test_what_was_looked_at_comes_when_its_layer_is_on(look: Opened, script: Any) -> None:
    page = look.page
    assert page.evaluate("lodestar.view.looks.version") == 0 and not script.stack.wishes.looks
    page.click("summary:has-text('Layers')")
    page.check("text=What was looked at")
    look.until("lodestar.view.looks.version > 0 && lodestar.view.looks.cells.some((c) => c > 100)")
    page.uncheck("text=What was looked at")
    look.wait(lambda: not script.stack.wishes.looks, "they are no longer asked for")


def test_a_thing_in_the_picture_is_opened_by_a_click_and_by_its_name(look: Opened) -> None:
    page = look.page
    page.click(".in-view button >> nth=0")
    look.until("lodestar.ui.state.selected?.id === 1")
    page.click(".thing [aria-label=Close]")
    box = page.locator(".camera canvas").bounding_box()

    def is_hit() -> bool:  # the camera image changes
        outline = page.evaluate("lodestar.view.camera.detections[0].outline")
        u, v = (sum(point[axis] for point in outline) / len(outline) for axis in (0, 1))
        page.mouse.click(box["x"] + u / 320 * box["width"], box["y"] + v / 240 * box["height"])
        return bool(page.evaluate("lodestar.ui.state.selected?.id === 1"))

    look.wait(is_hit, "a click on the thing")
    page.click(".thing [aria-label=Close]")
    look.until("lodestar.ui.state.selected === null")
    page.mouse.click(box["x"] + 3, box["y"] + 3)
    assert page.evaluate("lodestar.ui.state.selected") is None


def test_changes_against_the_map_of_before_are_listed_and_shown(look: Opened) -> None:
    page = look.page
    page.click("role=tab[name=Beliefs]")
    look.sees("Changes against the map that was loaded")
    row = "section:has(h3:text('Changes against')) li"
    look.wait(
        lambda: page.locator(f"{row} .tag").all_inner_texts() == ["moved", "gone", "new"], "the three changes"
    )
    page.click(f"{row}:has-text('lamp') >> button:text('Show')")
    look.until("JSON.stringify(lodestar.ui.state.lit.places) === '[[6,3.2]]'")


def test_memories_are_on_the_map_with_their_time_and_lead_to_it(look: Opened, script: Any) -> None:
    page = look.page
    assert page.evaluate("lodestar.store.rows('memories').size") == 0
    page.click("role=tab[name=Memories]")
    look.until("lodestar.store.rows('memories').size >= 6")
    page.click(".memory >> nth=0 >> text='Go to then'")
    look.until("lodestar.ui.state.moment?.keyframe > 0")
    look.sees("As it was at")
    look.until("lodestar.ui.state.lit.places.length === 1")
    page.click("role=tab[name=Decisions]")
    page.click(".camera >> text='Back to now'")
    look.wait(lambda: not script.stack.wishes.memories, "they are no longer asked for")


def test_an_answer_shows_when_and_where_its_proof_was_seen(look: Opened) -> None:
    page = look.page
    page.fill("#say", "where is the printer?")
    page.press("#say", "Enter")
    look.sees("Rests on 1 memory")
    page.click("text=Rests on 1 memory")
    page.click(".told .row")
    look.until("lodestar.ui.state.moment?.keyframe === 4")
    look.until("JSON.stringify(lodestar.ui.state.lit.places) === '[[9.2,3.2]]'")


def test_a_decision_shows_the_picture_of_then_and_leads_to_it(look: Opened) -> None:
    page = look.page
    page.fill("#say", "find the red chair")
    page.press("#say", "Enter")
    page.click("role=button[name=Go]")
    look.until("lodestar.store.rows('decisions').size > 0")
    page.click(".decision .row >> nth=0")
    look.until("document.querySelector('.whole .picture img')?.naturalWidth > 0")
    page.click(".whole >> text='Go to then'")
    look.until("lodestar.ui.state.moment?.keyframe > 0 && lodestar.ui.state.moment.pose")
    look.until("document.querySelector('.camera img')?.naturalWidth > 0")
    late = page.evaluate("lodestar.ui.state.moment.time")
    box = page.locator(".timeline-stage").bounding_box()
    at = page.evaluate("lodestar.store.rows('decisions').values().next().value.at")
    assert at == late
    page.mouse.move(box["x"] + box["width"] - 4, box["y"] + 5)
    lanes = page.locator(".lane-names li").all_inner_texts()
    middle = box["y"] + 14 * lanes.index("decision") + 7
    why = page.evaluate(
        "[...lodestar.store.rows('decisions').values()].find((one) => one.chosen === 'semantic_map').explanation"
    ).removeprefix("semantic_map: ")

    def is_previewed() -> bool:
        for share in range(200):
            page.mouse.move(box["x"] + share / 200 * box["width"], middle)
            if f"decision: {why[:30]}" in "".join(page.locator(".preview").all_inner_texts()):
                return True
            page.evaluate("new Promise(requestAnimationFrame)")  # where the page draws late
        return False

    look.wait(is_previewed, "the decision in the preview")
    look.until("document.querySelector('.preview img')?.naturalWidth > 0")


def test_the_surface_has_its_colours_or_one_for_each_thing(look: Opened) -> None:
    page = look.page
    page.click("role=button[name='3D']")
    look.until("lodestar.view.cloud.count > 3000")
    drawn = "(() => { const f = lodestar.drawing.frames; return f; })()"
    before = page.evaluate(drawn)
    page.click("role=button[name='By thing']")
    look.until(f"lodestar.ui.state.byInstance && lodestar.drawing.frames > {before}")
    page.click("role=button[name='Colour']")
    look.until("!lodestar.ui.state.byInstance")
