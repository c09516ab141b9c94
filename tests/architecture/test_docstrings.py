"""Tests that docstrings and comments are plain: no riddle as opening, no pronoun in place of an input's name."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("src", "tests", "scripts", "launch", "isaac", "docs")
OPENINGS = {
    "What", "Whatever", "Who", "Whoever", "Where", "Wherever", "Which", "Why", "How", "When", "Whether", "Everything",
    "Nobody", "Somebody", "Of", "As", "That", "Those", "These", "It", "Its", "They", "If", "Also", "Such",
}  # fmt: skip
PHRASES = re.compile(
    r"\b([Ww]hoever|[Ww]hatever (it|is|that)|[Ww]hat (it|he|she|that|this) makes|who (is|are) to)\b"
)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def docstrings(source: str) -> dict[int, str]:
    """Return line -> docstring of the modules, classes and functions of a source."""
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, DOCUMENTED)]
    texts = {getattr(node, "lineno", 1): ast.get_docstring(node) or "" for node in nodes}
    return {line: text for line, text in texts.items() if text.strip()}


def riddles(source: str) -> list[str]:
    """Return "LINE: words" of each docstring with a forbidden opening, and of each text with a forbidden phrase."""
    found = []
    texts = docstrings(source)
    for line, text in texts.items():
        first = text.split(maxsplit=1)[0].rstrip(",.:")
        if first in OPENINGS:
            found.append(f"{line}: {first}")
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = [(token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT]
    for line, text in [*texts.items(), *comments]:
        found += [f"{line}: {match[0]}" for match in PHRASES.finditer(text)]
    return found


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_and_comments_are_no_riddles(folder: str) -> None:
    bad = [
        f"{path.relative_to(ROOT)}:{riddle}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        if path != Path(__file__) and not {"node_modules", "build"} & set(path.parts)
        for riddle in riddles(path.read_text())
    ]
    assert not bad, "open with a verb and its object, and name the noun:\n" + "\n".join(bad)


def test_riddles_are_noticed() -> None:
    source = '"""Page."""\n\ndef f():\n    """What it does."""\n    return 1  # whoever asks\n'
    assert riddles(source) == ["3: What", "5: whoever"]
