"""Tests of the report of `memory-scale`: both kinds of Milvus, or a note about one that is not installed."""

from __future__ import annotations

from argparse import Namespace
from contextlib import contextmanager

import pytest

from lodestar_eval import milvus_server
from lodestar_eval.benchmarks import memory_scale
from lodestar_eval.memory_records import cues_of
from lodestar_eval.registry import Bar


@pytest.fixture
def report(monkeypatch, tmp_path):
    def measured(kind, uri, scratch, options, progress):
        return {f"lost.{kind}": len(uri)}, [Bar(f"lost, {kind}", 0.0, 0.0, at_least=False)], []

    monkeypatch.setattr(memory_scale, "_measured", measured)
    return lambda: memory_scale._run(Namespace(only=None), tmp_path, lambda told: None)


def test_every_back_end_is_in_the_report(report, monkeypatch, tmp_path):
    @contextmanager
    def server(python, folder):
        yield "http://127.0.0.1:19530", None

    monkeypatch.setattr(milvus_server, "server_python", lambda root: tmp_path)
    monkeypatch.setattr(milvus_server, "milvus_server", server)
    found = report()
    assert found.metrics == {"lost.sqlite": 0, "lost.milvus_lite": 0, "lost.milvus": 22}
    assert [bar.name for bar in found.bars] == ["lost, sqlite", "lost, milvus_lite", "lost, milvus"]


def test_a_server_that_is_not_installed_is_told(report, monkeypatch):
    def missing(root):
        raise milvus_server.NoServer("no Milvus server is installed: pip install it")

    monkeypatch.setattr(milvus_server, "server_python", missing)
    found = report()
    assert found.metrics == {"lost.sqlite": 0, "lost.milvus_lite": 0}
    assert "no Milvus server is installed" in found.notes[0]


def test_the_cues_of_a_question_are_what_it_names():
    found = cues_of("where did you see the mug desk lamp?")
    assert found[1:] == ["mug desk lamp", "mug", "desk", "lamp"]
