"""A docstring opens with what it returns or does, not with a question word."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src"
QUESTION_WORDS = {"What", "Whatever", "Who", "Whoever", "Where", "Which", "Why", "How", "When", "Everything"}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def openings(source: str) -> dict[int, str]:
    """Return the first word of each docstring, by line."""
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, DOCUMENTED)]
    texts = {getattr(node, "lineno", 1): ast.get_docstring(node) or "" for node in nodes}
    return {line: text.split(maxsplit=1)[0].rstrip(",.:") for line, text in texts.items() if text.strip()}


@pytest.mark.parametrize("package", sorted(path.name for path in SOURCES.glob("lodestar*")))
def test_no_docstring_opens_with_a_question_word(package):
    bad = [
        f"{path.relative_to(SOURCES)}:{line}: {word}"
        for path in sorted((SOURCES / package / package).rglob("*.py"))
        for line, word in openings(path.read_text()).items()
        if word in QUESTION_WORDS
    ]
    assert not bad, "say what it returns or does:\n" + "\n".join(bad)


def test_a_question_word_is_noticed():
    assert openings('"""A page."""\n\ndef f():\n    """What it does."""\n') == {1: "A", 3: "What"}
