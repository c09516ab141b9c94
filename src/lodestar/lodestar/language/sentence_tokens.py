"""Tokenizer for plain English: folds case, expands contractions, and splits measures from their units."""

from __future__ import annotations

import re
import unicodedata

COMMA, STOP, QUESTION = ",", ".", "?"
_MARKS = dict.fromkeys("<>,:()–—、", COMMA) | dict.fromkeys(";.!\n。", STOP) | {"?": QUESTION}
_SPOKEN = {"&": " and ", "+": " and "}
_EITHER = re.compile(r"(?<=\w)/(?=\w)")  # "mug/cup" means "mug or cup"
_QUOTED = re.compile(r"[\"\u201c\u201d]([^\"\u201c\u201d]{1,200})[\"\u201c\u201d]")
_WORD = re.compile(
    r"-?\d+(?:[.]\d+)?(?:[a-z]+\d*)?|[^\W_]+(?:['-][^\W_]+)*|'s\b|[=.,;:!?<>()\n\u2013\u2014\u3001\u3002]"
)
_GLUE = "\ua78f"  # rare letter that joins the words of a quoted text into one token
_APOSTROPHE, _DOT = "\ua78c", "\ua7fb"  # rare letters that replace these marks in a quoted text
_MEASURE = re.compile(r"(-?\d+(?:\.\d+)?)(m|cm|mm|ft|s|sec|min|h)")
_CLITICS = (
    (re.compile(r"\b(do|does|did|is|are|was|were|has|have|had|could|would|should|must|may|need) ?n't\b"), r"\1 not"),
    (re.compile(r"\b(dont|don 't)\b"), "do not"),
    (re.compile(r"\b(do|does|did|is|are|was|were|could|would|should|must)n ?t\b"), r"\1 not"),
    (re.compile(r"\b(doesnt)\b"), "does not"),
    (re.compile(r"\b(isnt)\b"), "is not"),
    (re.compile(r"\b(can't|cannot|cant|can not)\b"), "can not"),
    (re.compile(r"\b(won't|wont)\b"), "will not"),
    (re.compile(r"\b(mustnt)\b"), "must not"),
    (re.compile(r"\b(i) ?'m\b|\bim\b"), "i am"),
    (re.compile(r"\b(you|we|they) ?'re\b"), r"\1 are"),
    (re.compile(r"\b(i|you|we|they) ?'ve\b"), r"\1 have"),
    (re.compile(r"\b(i|you|we|they|he|she|it) ?'ll\b"), r"\1 will"),
    (re.compile(r"\b(i|you|we|they|he|she|it) ?'d\b"), r"\1 would"),
    (re.compile(r"\b(it|that|there|here|where|what|who|when|how|he|she) ?'s\b"), r"\1 is"),
    (re.compile(r"\b(whats|wheres|theres|thats)\b"), lambda m: m[1][:-1] + " is"),
    (re.compile(r"\blet ?'s\b|\blets\b"), "let us"),
    (re.compile(r"\bwanna\b"), "want to"),
    (re.compile(r"\bgonna\b"), "going to"),
    (re.compile(r"(\w) 's\b"), r"\1's"),
)  # fmt: skip


def tokens_of(text: str) -> list[str]:
    """Return lower-case words and the marks "," "." "?". "2m" is two words; "1.5" is one, as is a quoted
    text.
    """
    folded = (
        unicodedata.normalize("NFKC", text)
        .replace("\u2019", "'")
        .replace("\u2018", "'")
        .replace("\u2212", "-")
    )
    invisible = {c for c in folded if unicodedata.category(c) == "Cf"}  # such as soft hyphens
    folded = "".join(c if c.isprintable() or c == "\n" else " " for c in folded if c not in invisible)
    folded = _QUOTED.sub(lambda m: " " + _joined(m[1]) + " ", folded).casefold()
    folded = _EITHER.sub(" or ", folded)
    for mark, word in _SPOKEN.items():
        folded = folded.replace(mark, word)
    for pattern, replacement in _CLITICS:
        folded = pattern.sub(replacement, folded)
    folded = re.sub(r"\b(mr|mrs|ms|dr|prof|st)\.", r"\1", folded)
    found: list[str] = []
    for match in _WORD.finditer(folded):
        _add(found, match[0], folded, match.start())
    while found and found[-1] in (COMMA, STOP):
        found.pop()
    while found and found[0] in (COMMA, STOP, QUESTION):
        found.pop(0)
    return found


def _joined(quoted: str) -> str:
    """Return the words of a quoted text as one word."""
    words = re.findall(r"[^\W_]+(?:['.-][^\W_]+)*", quoted)
    return _GLUE.join(words).replace("'", _APOSTROPHE).replace(".", _DOT)


def _unquoted(word: str) -> str:
    """Return the words of a token made by `_joined`."""
    for letter, mark in ((_GLUE, " "), (_APOSTROPHE, "'"), (_DOT, ".")):
        word = word.replace(letter.casefold(), mark)
    return word


def _add(found: list[str], word: str, text: str, start: int) -> None:
    if word in _MARKS:
        mark = _MARKS[word]
        if found and found[-1] in (COMMA, STOP) and mark != COMMA:
            found[-1] = mark
        elif found and found[-1] not in (COMMA, STOP, QUESTION):
            found.append(mark)
        return
    if word.startswith("-") and start and not text[start - 1].isspace() and text[start - 1] not in "([=,":
        word = word[1:]  # "no-1" is no negative number
    measured = _MEASURE.fullmatch(word)
    if measured is not None:
        found.extend(measured.groups())
    elif word.endswith("'s") and len(word) > 2:
        found.extend((word[:-2], "'s"))
    elif word.endswith("'"):
        found.extend((word[:-1], "'s"))
    else:
        found.append(_unquoted(word))


def shown(text: str, length: int = 60) -> str:
    """Return the beginning of a text for a message: printable, on one line, at most `length` characters."""
    clean = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return clean if len(clean) <= length else clean[: length - 3].rstrip() + "..."
