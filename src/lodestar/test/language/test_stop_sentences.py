"""Tests of literal sentences with stops in words, from `stop_sentences.yaml`."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lodestar.language.halts import Stop, heard_stop
from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.lexicon import load_lexicon

SENTENCES = yaml.safe_load(Path(__file__).with_name("stop_sentences.yaml").read_text(encoding="utf-8"))
NOUNS = sorted(
    {
        *load_lexicon().canonical_noun,
        *load_lexicon().rooms,
        *load_vocabulary().phrases("PLACE_NOUNS"),
        *load_vocabulary().phrases("PASSAGES"),
        *load_vocabulary().phrases("SOMEONE"),
    }
)
PLAIN = ["stop", "halt", "abort", "freeze", "cancel", "whoa", "please stop", "robot stop", "stop stop"]


@pytest.mark.parametrize("text", SENTENCES["halts"])
def test_a_stop_and_nothing_to_read(text):
    assert heard_stop(text) == Stop()


@pytest.mark.parametrize("text", SENTENCES["goes_on"])
def test_no_stop(text):
    assert heard_stop(text) is None


@pytest.mark.parametrize(("text", "rest"), SENTENCES["rests"].items())
def test_an_order_after_a_stop(text, rest):
    assert heard_stop(text) == Stop(rest)


@given(st.sampled_from(PLAIN), st.sampled_from(NOUNS))
def test_a_noun_after_a_stop_is_no_order(stop, noun):
    assert (heard_stop(f"{stop} {noun}") or Stop()).rest == ""
