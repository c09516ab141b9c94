"""Tests of the demo's report on an invented run: all files and all keys."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar_eval.demo.arrivals import Arrival
from lodestar_eval.demo.growing_map import GrowingMap
from lodestar_eval.demo.record import RunRecord
from lodestar_eval.demo.report import closing_lines, summary_of, write_demo_report
from lodestar_eval.demo.unfinished import begin_report
from lodestar_eval.labels import runs_of
from lodestar_eval.map_records import MapEntity, MapGoal, MapPicture
from lodestar_eval.maps import draw_map

KEYS = [
    "directive",
    "world",
    "seed",
    "success",
    "claimed_success",
    "distance_m",
    "path_length_m",
    "spl",
    "duration_s",
    "wall_s",
    "first_decision_s",
    "real_time_factor",
    "decisions",
    "coverage",
    "collisions",
    "peak_pss_mib",
    "error_code",
    "error_msg",
]


def arrival(caption: str) -> Arrival:
    mask = np.zeros((480, 640), bool)
    mask[200:300, 250:400] = True
    return Arrival(np.full((480, 640, 3), 90, np.uint8), mask, caption)


def decision(epoch: int, expert: str, goal: list[float]) -> dict:
    arms = [{"expert": expert, "proposal": {"goal": goal}}, {"expert": "ego_vlm", "proposal": None}]
    return {"epoch": epoch, "chosen": expert, "arms": arms, "outcome": "PENDING"}


@pytest.fixture
def record() -> RunRecord:
    cells = np.full((60, 80), -1, np.int8)
    cells[5:55, 5:75] = 0
    cells[5, 5:75] = cells[54, 5:75] = 100
    chair = MapEntity("red chair", np.array([6.0, 4.0, 0.0]), np.array([6.5, 4.5, 0.9]), claimed=True)
    times = np.linspace(0.0, 40.0, 81)
    path = np.stack([times, 1.0 + times * 0.1, np.full_like(times, 2.0), np.zeros_like(times)], axis=1)
    lines = [decision(1, "frontier", [2.0, 2.0, 0.0]), decision(1, "frontier", [2.0, 2.0, 0.0])]
    lines.append(decision(2, "semantic_map", [5.0, 3.4, 0.7]))
    return RunRecord(
        "find the red chair",
        "apartment",
        3,
        np.array([1.0, 2.0, 0.0]),
        path,
        OccupancyGrid2D(cells, 0.1, (0.0, 0.0)),
        {4: chair, 9: MapEntity("desk", np.full(3, 2.0), np.full(3, 3.0))},
        (chair,),
        lines,
        success=True,
        claimed_success=True,
        claimed_entities=(4,),
        shortest=3.0,
        distance=0.71,
        path_length=4.0,
        duration=40.0,
        wall=31.0,
        real_time_factor=1.3,
        coverage=0.4,
        collisions=0,
        peak_pss_mib=2048.4,
    )


def test_the_summary_has_exactly_the_promised_keys(record):
    summary = summary_of(record)
    assert list(summary) == KEYS
    assert summary["spl"] == pytest.approx(0.75)
    assert summary["decisions"] == {"frontier": 1, "semantic_map": 1}


def test_every_file_is_written_and_readable(record, tmp_path):
    page = write_demo_report(record, tmp_path, [arrival("“red chair” claimed after 40 s: true, 0.71 m away")])
    assert json.loads((tmp_path / "summary.json").read_text()) == summary_of(record)
    assert len((tmp_path / "decisions.jsonl").read_text().splitlines()) == 3
    assert min(Image.open(tmp_path / "map.png").size) > 300
    outline = np.asarray(Image.open(tmp_path / "arrival.png"))
    reddish = (outline[..., 0] > 180) & (outline[..., 1] < 110)
    rows, columns = np.nonzero(reddish)
    factor = outline.shape[1] / 640
    assert rows.min() / factor == pytest.approx(200, abs=4) and rows.max() / factor == pytest.approx(
        300, abs=4
    )
    assert columns.min() / factor == pytest.approx(250, abs=4) and columns.max() / factor == pytest.approx(
        400, abs=4
    )
    text = page.read_text()
    assert "](map.png)" in text and "](arrival.png)" in text and "Found: “find the red chair”" in text
    assert "claimed after 40 s: true, 0.71 m away" in text


def test_every_claim_has_its_own_picture(record, tmp_path):
    page = write_demo_report(
        record, tmp_path, [arrival("the first"), arrival("the second, " + "very " * 60 + "far")]
    )
    assert sorted(file.name for file in tmp_path.glob("arrival*")) == ["arrival_1.png", "arrival_2.png"]
    text = page.read_text()
    assert text.index("![the first](arrival_1.png)") < text.index("](arrival_2.png)")


def test_a_run_that_begins_removes_the_report_of_the_one_before_and_nothing_else(record, tmp_path):
    write_demo_report(record, tmp_path, [arrival("one"), arrival("two")])
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "sim.log").write_text("old")
    (tmp_path / "notes.txt").write_text("mine")
    begin_report(tmp_path, "find the blue mug")
    left = sorted(str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if file.is_file())
    assert left == ["notes.txt", "report.md"]
    text = (tmp_path / "report.md").read_text()
    assert "Not finished: “find the blue mug”" in text and "red chair" not in text


def test_labels_cover_neither_each_other_nor_the_goals():
    """Draws twelve goals and thirty names within a few metres, and measures the overlaps."""
    rng = np.random.default_rng(5)
    middles = rng.uniform(2.0, 5.0, (30, 2))
    things = [MapEntity(f"wooden thing {i}", m - 0.1, m + 0.1, claimed=i == 0) for i, m in enumerate(middles)]
    goals = [MapGoal(np.array([*xy, 0.3]), "frontier") for xy in rng.uniform(2.5, 4.5, (12, 2))]
    goals.append(replace(goals[0], expert="ego_vlm"))  # at the same place, so that both goals share a label
    figure = Figure(figsize=(8.0, 8.0), dpi=100)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    draw_map(
        axes, MapPicture(None, np.empty((0, 2)), np.zeros(3), things, goals), np.zeros(2), np.full(2, 7.0)
    )
    renderer = figure.canvas.get_renderer()
    texts = [text for text in axes.texts if text.get_text() and not text.get_text().endswith(" m")]
    boxes = [text.get_window_extent(renderer) for text in texts]
    numbers = [text.get_text() for text in texts if text.get_text()[0].isdigit()]
    assert "1, 13" in numbers and sorted(int(n) for text in numbers for n in text.split(", ")) == [
        *range(1, 14)
    ]
    assert sum(text.get_text().startswith("wooden") for text in texts) > 15
    for i, box in enumerate(boxes):
        assert not [texts[j].get_text() for j in range(i) if box.overlaps(boxes[j])], texts[i].get_text()


def test_runs_of_numbers_are_short():
    assert runs_of([1, 3, 4, 5, 9]) == "1, 3–5, 9" and runs_of([7]) == "7" and runs_of([]) == ""


def test_a_run_that_never_moved_is_reported_too(tmp_path):
    empty = RunRecord(
        "find the unicorn",
        "office",
        1,
        np.zeros(3),
        error_code=11002,
        error_msg="there is no unicorn",
        wall=3.0,
    )
    page = write_demo_report(empty, tmp_path, [])
    summary = json.loads((tmp_path / "summary.json").read_text(), parse_constant=pytest.fail)
    assert list(summary) == KEYS
    assert summary["success"] is False and summary["distance_m"] is None and summary["spl"] is None
    text = page.read_text()
    assert "there is no unicorn" in text and "| error code | 11002 |" in text
    assert not (tmp_path / "arrival.png").exists()


def test_a_wrong_claim_has_no_spl(record):
    record.success = False
    assert summary_of(record)["spl"] == 0.0
    assert closing_lines(record, Path("out"), "profile")[0].startswith("Not found")


@given(st.lists(st.floats(0.01, 30.0), min_size=1, max_size=300), st.floats(0.0, 1.0))
def test_a_growing_map_keeps_few_grids_up_to_the_end(steps, share):
    stamps, grown = np.cumsum(steps), GrowingMap()
    for stamp in stamps:
        grown.take(OccupancyGrid2D(np.zeros((2, 2), np.int8), 0.1, (0.0, 0.0), stamp=float(stamp)))
    end = float(stamps[0] + share * (stamps[-1] - stamps[0]))
    shown = [grid.stamp for grid in grown.between(float(stamps[0]), end)]
    assert 1 <= len(shown) <= 24 and shown == sorted(set(shown)) and set(shown) <= set(stamps.tolist())
    assert shown[0] == stamps[0] and shown[-1] <= end
    assert grown.between(-2.0, -1.0) == ()


def test_the_film_shows_the_map_as_it_grew(record, tmp_path):
    cells = record.grid.cells.copy()
    early = cells.copy()
    early[:, 40:] = -1
    record.grown = tuple(
        replace(record.grid, cells=part, stamp=stamp) for part, stamp in ((early, 10.0), (cells, 40.0))
    )
    page = write_demo_report(record, tmp_path, [])
    assert "(run.gif)" in page.read_text()
    with Image.open(tmp_path / "run.gif") as film:
        shown = []
        for place in (0, film.n_frames - 1):
            film.seek(place)
            shown.append(np.asarray(film.convert("L"), float))
    # floor is drawn white, so a later map has more white
    assert (shown[1] > 250).mean() > 1.4 * (shown[0] > 250).mean() > 0.0


def test_what_was_asked_for_has_its_name_on_the_map_whether_it_was_found_or_not(record):
    """Amid thirty things; a found thing is named once, and a target that was not found by its true name."""
    rng = np.random.default_rng(3)
    crowd = {
        i: MapEntity(f"shelf {i}", m - 0.3, m + 0.3) for i, m in enumerate(rng.uniform(3.0, 7.0, (30, 2)))
    }
    for found in (True, False):
        chair = replace(record.targets[0], claimed=found)
        figure = Figure(figsize=(4.0, 4.0), dpi=100)
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        things = [*crowd.values(), *([chair] if found else [])]
        picture = MapPicture(None, np.empty((0, 2)), np.zeros(3), things, (), record.targets)
        draw_map(axes, picture, np.zeros(2), np.full(2, 8.0))
        assert [text.get_text() for text in axes.texts].count("red chair") == 1


@pytest.mark.parametrize(
    "ending", ["The run was interrupted.", "The nodes failed: mapping was killed\nTraceback", ""]
)
def test_the_report_of_every_end_holds_the_map_what_was_looked_at_and_the_next_step(record, tmp_path, ending):
    record.ending, record.success, record.claimed_success, record.claimed_entities = ending, False, False, ()
    record.searched, record.told, record.rooms = (
        0.62,
        "No red chair was found.",
        (("kitchen", 9.0), ("", 4.0)),
    )
    text = write_demo_report(record, tmp_path, []).read_text()
    assert text.startswith("# Not finished" if ending else "# Not found")
    for part in (
        "](map.png)",
        "looked well at 62%",
        "> No red chair",
        "- kitchen: 9 m²",
        "## Next",
        "make demo",
    ):
        assert part in text, part
    assert ending.splitlines()[0] in text if ending else True
    said = "\n".join(closing_lines(record, tmp_path, "profile"))
    assert "Traceback" not in said and "map.png" in said and "make demo" in said and "62%" in said
