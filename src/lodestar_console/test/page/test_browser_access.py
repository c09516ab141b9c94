"""Tests of accessibility: names of controls, keyboard operation, contrast, and screen sizes."""

from __future__ import annotations

from typing import Any

import pytest
from looking import SIZES, opened

pytestmark = [pytest.mark.browser, pytest.mark.timed]

READY = "window.lodestar?.store.part('robot') && lodestar.view.grid.version > 0 && document.querySelector('.stop')"
UNLABELLED = """[...document.querySelectorAll('button, input, textarea, select, [role=application], [role=log]')]
    .filter((e) => e.checkVisibility() && !(e.getAttribute('aria-label') || e.innerText || e.labels?.length))
    .map((e) => e.outerHTML)"""


def test_every_control_has_a_name_and_the_keyboard_reaches_all(browser: Any, console: Any) -> None:
    with opened(browser, console.address) as look:
        look.until(READY)
        for tab in ("Decisions", "Beliefs", "Memories", "Health"):
            look.page.click(f"role=tab[name=/{tab}/]")
            assert look.page.evaluate(UNLABELLED) == []
        look.page.evaluate("document.activeElement.blur()")
        reached = set()
        for _ in range(60):
            look.page.keyboard.press("Tab")
            reached.add(
                look.page.evaluate("(e => e.id || e.className || e.innerText)(document.activeElement)")
            )
        assert {"stop", "stage tool-select", "say", "timeline-stage"} <= reached, reached


@pytest.mark.parametrize("dark", [False, True])
def test_contrast_of_all_text_is_aa(browser: Any, console: Any, dark: bool) -> None:
    console.parts["health"] = {
        "findings": [{"level": "warning", "text": "late", "do": "wait"}], "stack": [], "cpu": 0.5,
        "nodes": [{"name": "sim", "alive": False, "level": "error", "status": "",
                   "pss": 5 << 20, "rate": 1.0, "age": 0.1, "restarts": 1}],
    }  # fmt: skip
    with opened(browser, console.address, dark=dark) as look:
        look.until(READY)
        for tab in ("Beliefs", "Memories", "Health", "Decisions"):
            look.page.click(f"role=tab[name=/{tab}/]")
            assert look.page.evaluate(LOW_CONTRAST) == []


LOW_CONTRAST = """(() => {
  const rgba = (text) => { const n = text.match(/[\\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n; };
  const over = (top, below) => [0, 1, 2].map((i) => top[3] * top[i] + (1 - top[3]) * below[i]);
  const light = (c) => {
    const [r, g, b] = c.map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = (element) => { const layers = [];
    for (let e = element; e; e = e.parentElement) layers.unshift(rgba(getComputedStyle(e).backgroundColor));
    return layers.reduce((below, top) => over(top, below), [255, 255, 255]); };
  const low = [];
  for (const e of document.querySelectorAll('#page *')) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !e.checkVisibility() || e.disabled) continue;
    const back = behind(e), front = over(rgba(getComputedStyle(e).color), back);
    const [a, b] = [light(front), light(back)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) low.push(`${ratio.toFixed(2)} ${e.className || e.tagName}: ${e.textContent.slice(0, 30)}`);
  }
  return low;
})()"""


@pytest.mark.parametrize("size", ["laptop", "desk", "phone"])
def test_stop_is_in_sight_at_every_size_and_nothing_runs_over(browser: Any, console: Any, size: str) -> None:
    with opened(browser, console.address, SIZES[size], dark=size == "desk") as look:
        look.until(READY)
        width, height = SIZES[size]
        assert look.page.evaluate("document.documentElement.scrollWidth") <= width
        assert look.page.evaluate("document.documentElement.scrollHeight") <= height
        panels = ["Map", "Talk", "Camera", "Details", "Time"] if size == "phone" else [""]
        for panel in panels:
            if panel:
                look.page.click(f".panels >> text={panel}")
            box = look.page.locator(".stop").bounding_box()
            assert box["width"] >= 120 and box["height"] >= 48
            assert box["x"] >= 0 and box["x"] + box["width"] <= width and box["y"] + box["height"] <= height
