"""Tests of the report of `memory-scale`: both kinds of Milvus, or a note about one that is not installed."""

from __future__ import annotations

from argparse import Namespace
from contextlib import contextmanager

import pytest

from lodestar_eval import milvus_server
from lodestar_eval.memory_records import cues_of
from lodestar_eval.studies import memory_scale


@pytest.fixture
def report(monkeypatch, tmp_path):
    def measured(kind, uri, scratch, options):
        yield {"acknowledged": 9, "lost": len(uri), "doubled": 0, "milvus_wrong": 0, "_kills": 3}

    monkeypatch.setattr(memory_scale, "_measured", measured)
    options = {
        "only": None,
        "out": tmp_path,
        **dict.fromkeys(("queries", "kills", "erasures", "forgotten"), 1),
    }
    cases = memory_scale._cases(Namespace(**options, seed=1, records=9, without_month=True))
    return lambda: memory_scale.BENCHMARK.result(
        [row for case in cases for row in memory_scale._measure(*case)]
    )


def test_every_back_end_is_in_the_report(report, monkeypatch, tmp_path):
    @contextmanager
    def server(python, folder):
        yield "http://127.0.0.1:19530", None

    monkeypatch.setattr(milvus_server, "server_python", lambda root: tmp_path)
    monkeypatch.setattr(milvus_server, "milvus_server", server)
    found = report()
    lost = {name: value for name, value in found.metrics.items() if name.startswith("lost")}
    assert lost == {"lost.sqlite": 0, "lost.milvus_lite": 0, "lost.milvus": 22}
    names = [bar.name for bar in found.bars if bar.name.startswith("lost")]
    assert names == [f"lost in 3 kills, {kind}" for kind in ("sqlite", "milvus_lite", "milvus")]


def test_a_server_that_is_not_installed_is_told(report, monkeypatch):
    def missing(root):
        raise milvus_server.NoServer("no Milvus server is installed: pip install it")

    monkeypatch.setattr(milvus_server, "server_python", missing)
    found = report()
    assert "lost.milvus_lite" in found.metrics and "lost.milvus" not in found.metrics
    assert "no Milvus server is installed" in found.notes[0]


def test_the_cues_of_a_question_are_what_it_names():
    found = cues_of("where did you see the mug desk lamp?")
    assert found[1:] == ["mug desk lamp", "mug", "desk", "lamp"]
