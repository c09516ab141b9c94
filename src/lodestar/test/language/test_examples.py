"""Tests of every line of examples.yaml: its meaning, and that its printed record parses to the same record."""

from __future__ import annotations

from dataclasses import replace
from importlib import resources

import pytest
import yaml

from lodestar.language import directive
from lodestar.language.chart import load_chart, load_rules
from lodestar.language.grammar import parse_directive, parse_query
from lodestar.language.question_words import load_question_words
from lodestar.language.sentences import sentence
from lodestar.language.vocabulary import load_vocabulary

DATA = yaml.safe_load(
    resources.files("lodestar.language").joinpath("examples.yaml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize(("text", "means"), DATA["means"].items())
def test_an_example_means_what_it_says(text, means):
    assert sentence(parse_directive(text)) == means


@pytest.mark.parametrize("means", dict.fromkeys(DATA["means"].values()))
def test_what_is_printed_reads_as_the_same_record(means):
    read = parse_directive(means)
    again = parse_directive(sentence(read))
    assert replace(again, text="") == replace(read, text="")


@pytest.mark.parametrize(("text", "error"), DATA["refused"].items())
def test_what_is_refused_says_why(text, error):
    with pytest.raises(getattr(directive, error)) as refused:
        parse_directive(text)
    assert 0 < len(str(refused.value)) < 500
    assert all(c.isprintable() for c in str(refused.value))


@pytest.mark.parametrize(("text", "graph"), DATA["describes"].items())
def test_a_description_means_what_it_says(text, graph):
    assert str(parse_query(text)[0]) == graph


def test_every_terminal_of_the_rules_is_a_table_or_made_by_the_lattice():
    made = {
        "NP",
        "PART",
        "VERB",
        "TIME",
        "LENGTH",
        "NUM",
        "POSE",
        "PASSAGE",
        "SIDE_NOUN",
        "NEAREST",
        "FARTHEST",
        "V",
        "SPAN",
        "CLOCK",
        "SKIP",
    }
    blocks = {rule.block for rule in load_rules()}
    terminals = {part for rule in load_rules() for part in rule.parts} - blocks
    assert terminals <= load_vocabulary().tables | load_question_words().tables | made


def test_every_part_that_a_meaning_names_is_in_its_rule():
    def named(meaning):
        if isinstance(meaning, str) and meaning.startswith("$"):
            yield meaning[1:]
        for one in (
            meaning.values() if isinstance(meaning, dict) else meaning if isinstance(meaning, list) else ()
        ):
            yield from named(one)

    lines = {}
    for rule in load_rules():
        lines.setdefault(id(rule.meaning), (rule, set()))[1].update(rule.names)
    for rule, names in lines.values():
        assert set(named(rule.meaning)) <= names | {"text"}, rule


def test_a_rule_is_written_once():
    written = [(rule.block, rule.parts) for rule in load_rules()]
    assert len(load_chart().rules) <= len(written)
    assert len(set(written)) == len(written)
