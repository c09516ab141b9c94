"""The demo's report on a run that was made up: every file, every key."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar_eval.demo.record import RunRecord
from lodestar_eval.demo.report import summary_lines, summary_of, write_demo_report
from lodestar_eval.maps import MapEntity

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
    "real_time_factor",
    "decisions",
    "coverage",
    "collisions",
    "peak_pss_mib",
    "error_code",
    "error_msg",
]


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
        {4: chair, 9: MapEntity("desk", *np.eye(3)[:2] + 2.0)},
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
    view = np.full((480, 640, 3), 90, np.uint8)
    mask = np.zeros((480, 640), bool)
    mask[200:300, 250:400] = True
    page = write_demo_report(record, tmp_path, view, mask)
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
    page = write_demo_report(empty, tmp_path, None, None)
    summary = json.loads((tmp_path / "summary.json").read_text(), parse_constant=pytest.fail)
    assert list(summary) == KEYS
    assert summary["success"] is False and summary["distance_m"] is None and summary["spl"] is None
    assert "11002 there is no unicorn" in page.read_text()
    assert not (tmp_path / "arrival.png").exists()


def test_a_wrong_claim_has_no_spl(record):
    record.success = False
    assert summary_of(record)["spl"] == 0.0
    assert any("success (true)" in line and line.endswith("no") for line in summary_lines(summary_of(record)))
