"""Measure the console's page in Chromium: loading, typing and drawing with many entities and a large cloud.

`python scripts/measure_page.py --voxels 200000 --things 3000` prints one line per measured value. The page is
served by the scripted server of its tests, with their recorded run; Chromium renders on the CPU.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path
from typing import Any

PAGE_TESTS = Path(__file__).resolve().parents[1] / "src" / "lodestar_console" / "test" / "page"
ARGUMENTS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
READY = "window.lodestar && lodestar.store.rows('entities').size >= {} && lodestar.drawing.frames > 0"
#: Script that measures 30 times the ms from an input event to its answer in the page.
TYPE = """async () => {
    const field = document.querySelector('#say'), taken = [];
    const enter = (text) => { field.value = text; field.dispatchEvent(new InputEvent('input', {bubbles: true})); };
    const answered = () => document.querySelector('.say .hint').textContent.includes('question');
    for (let turn = 0; turn < 30; turn++) {
        const began = performance.now();
        enter('where is ' + turn);
        await new Promise((done) => {
            const channel = new MessageChannel();
            const look = () => answered() ? done() : channel.port2.postMessage(0);
            channel.port1.onmessage = look;
            look();
        });
        taken.push(performance.now() - began);
        enter('');
        await new Promise((done) => setTimeout(done, 60));
    }
    return taken;
}"""
SHOWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def until(page: Any, expression: str) -> None:
    while not page.evaluate(expression):
        time.sleep(0.01)


def told(name: str, values: list[float], unit: str) -> None:
    print(
        f"{name}: median {statistics.median(values):.3g} {unit}, largest {max(values):.3g} {unit}, {len(values)} times"
    )


def pan(page: Any) -> tuple[list[float], list[float]]:
    """Pan the map eight times; return the main thread's ms per frame, and the s from key press to shown
    frame.
    """
    page.focus(".stage")
    thread, shown = [], []
    for turn in range(8):
        began, drawn = time.monotonic(), page.evaluate("lodestar.drawing.frames")
        page.keyboard.press("ArrowLeft" if turn % 2 else "ArrowRight")
        until(page, f"lodestar.drawing.frames > {drawn}")
        page.evaluate(SHOWN)
        thread.append(page.evaluate("lodestar.drawing.last"))
        shown.append(time.monotonic() - began)
    return thread, shown


def main() -> int:
    """Print the measurements; return 0 if all of them succeeded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--voxels", type=int, default=200_000)
    parser.add_argument("--things", type=int, default=3_000)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    options = parser.parse_args()
    sys.path.insert(0, str(PAGE_TESTS))
    from playwright.sync_api import sync_playwright
    from scripted import ScriptedConsole, cloud_frame, walls

    console = ScriptedConsole()
    at, colors, instances = (part[: options.voxels] for part in walls(console.run, height=50))
    console.cloud = cloud_frame(at, colors, instances)
    some = list(console.run["entities"])
    for number in range(options.things - len(some)):
        thing = some[number % len(some)]
        x, y, z = thing["mean"]
        mean = [x + (number % 37 - 18) * 0.3, y + (number // 37 % 40 - 20) * 0.3, z]
        console.tables["entities"][1000 + number] = {**thing, "id": 1000 + number, "mean": mean}
    with console.serving(), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=options.chromium, args=ARGUMENTS)
        loads = []
        for _ in range(5):
            page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
            began = time.monotonic()
            page.goto(console.address)
            until(page, READY.format(options.things))
            loads.append(time.monotonic() - began)
        told("load", loads, "s")
        for view in ("2D", "3D"):
            page.click(f"role=button[name='{view}']")
            if view == "3D":
                until(page, f"lodestar.view.cloud.count >= {len(at)}")
            time.sleep(3.0)
            told(f"{view} typing", page.evaluate(TYPE), "ms")
            thread, shown = pan(page)
            told(f"{view} frame, this thread", thread, "ms")
            told(f"{view} frame, until shown", shown, "s")
        print(f"heap: {page.evaluate('performance.memory.usedJSHeapSize') / 2**20:.0f} MiB")
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
