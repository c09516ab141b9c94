"""Tests of the packaged part of WordNet."""

from __future__ import annotations

import gzip
from importlib import resources

import pytest

from lodestar.models.wordnet import load_wordnet


@pytest.mark.parametrize(
    ("noun", "wider"),
    [("kitchen", "room"), ("atrium", "court"), ("armchair", "furniture"), ("garage", "building")],
)
def test_a_thing_is_a_kind_of_what_is_wider(noun, wider):
    assert load_wordnet().is_a(noun, wider)


def test_what_it_is_not():
    assert not load_wordnet().is_a("mug", "room", "building")
    assert not load_wordnet().is_a("wibble", "room")


def test_synonyms_are_of_the_usual_sense():
    assert "restroom" in load_wordnet().synonyms("public toilet")
    assert load_wordnet().synonyms("wibble") == ()


@pytest.mark.parametrize(
    ("word", "mostly"),
    [("wipe", True), ("straighten", True), ("table", False), ("dust", False), ("mug", False)],
)
def test_which_words_are_verbs(word, mostly):
    assert load_wordnet().is_mostly_verb(word) is mostly


def test_the_file_begins_with_its_licence():
    data = resources.files("lodestar.models").joinpath("wordnet.txt.gz").read_bytes()
    assert gzip.decompress(data).decode().startswith("# WordNet Release 3.0")
