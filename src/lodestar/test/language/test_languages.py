"""Tests that texts of other languages are recognised by their function words."""

from __future__ import annotations

import pytest

from lodestar.language.chart import read_data
from lodestar.language.directive import NotUnderstood
from lodestar.language.grammar import parse_directive
from lodestar.language.languages import other_language
from lodestar.language.question_reader import read_question


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("bring mir bitte die rote tasse", "German"),
        ("find den roten ball", "German"),
        ("der hund ist in die halle", "German"),
        ("la table est dans le salon", "French"),
        ("la silla es roja y la mesa no", "Spanish"),
        ("porta il piano in camera", "Italian"),
        ("zoek de rode stoel in de gang", "Dutch"),
        ("mutfağa git ve bekle", "Turkish"),
    ],
)
def test_a_text_with_words_that_english_has_too_is_of_its_language(text, language):
    assert other_language(text.split()) == language
    with pytest.raises(NotUnderstood, match="only English is read"):
        parse_directive(text)


@pytest.mark.parametrize(
    "text",
    [
        "find the die on the table",
        "go to the den",
        "find a van near the door",
        "met him at the man in the war room",
        "go to the cafe de la paix",
        "find the asdf",
        "come back , come back",
        "list all plants",
        "red mug",
        "",
    ],
)
def test_an_english_text_is_of_no_other_language(text):
    assert other_language(text.split()) == ""


def test_no_example_is_taken_for_another_language():
    examples, questions = read_data("examples.yaml"), read_data("questions.yaml")
    texts = [*examples["means"], *examples["describes"], *questions["means"], *questions["partial"]]
    assert [text for text in texts if other_language(text.casefold().split())] == []


def test_a_question_in_another_language_is_refused():
    with pytest.raises(NotUnderstood, match="more like German than English"):
        read_question("hat der Hund die Hand von mir?")
