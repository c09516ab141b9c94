"""The word tables of `grammar.yaml` and a token stream that matches phrases of them."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

import yaml

from lodestar.models.lexicon import words_of

SEPARATOR = ","
_SPOKEN = {"/": " or ", "&": " and "}
_MEASURE = re.compile(r"(-?\d+(?:\.\d+)?)([a-z]+)")


class PhraseTable:
    """Phrases of words with a value each; the longest match wins."""

    def __init__(self, phrases: dict[str, str]) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for phrase, value in phrases.items():
            words = tuple(words_of(phrase))
            self._by_first.setdefault(words[0], []).append((words, value))
        for entries in self._by_first.values():
            entries.sort(key=lambda entry: -len(entry[0]))

    def match(self, tokens: list[str], start: int) -> tuple[int, str] | None:
        """Length and value of the longest phrase at `start`, or None."""
        if start >= len(tokens):
            return None
        for words, value in self._by_first.get(tokens[start], ()):
            if tuple(tokens[start : start + len(words)]) == words:
                return len(words), value
        return None


@dataclass(frozen=True)
class GrammarWords:
    """Every table of the grammar."""

    polite: PhraseTable
    fillers: PhraseTable
    asides: PhraseTable
    purposes: PhraseTable
    uses: dict[str, tuple[str, ...]]  # of `purposes`: kinds of things that serve them
    verbs: PhraseTable
    relations: PhraseTable  # value: "name", "name!" negated, "name^" inverse
    relative: PhraseTable
    determiners: PhraseTable
    then: PhraseTable
    stops: PhraseTable
    standing: PhraseTable  # value: "forbid", "state" or "during"
    standing_tails: PhraseTable
    standing_ends: PhraseTable
    described_by: frozenset[str]
    manners: PhraseTable  # value: "speed" or "noise"
    home: PhraseTable
    numbers: PhraseTable
    cardinals: frozenset[str]  # single words of `numbers`
    avoid_distance: PhraseTable
    avoid_distance_after: PhraseTable
    avoid_distance_alone: PhraseTable
    superlatives: dict[str, str]
    modifiers: dict[str, tuple[str, str]]  # word: predicate and value
    single_out: PhraseTable  # value: "predicate value"
    ordinals: dict[str, int]
    frames: PhraseTable  # value: "towards", "at" or "enter"
    openers: PhraseTable
    imperatives: frozenset[str]
    partitives: PhraseTable
    exclusions: PhraseTable
    others: frozenset[str]
    places: frozenset[str]
    explored: frozenset[str]
    extents: frozenset[str]
    further: frozenset[str]
    closed: frozenset[str]
    indefinite: frozenset[str]
    conjunctions: frozenset[str]
    constraint_links: frozenset[str]
    pronouns: frozenset[str]
    measures: frozenset[str]
    distance_units: dict[str, float]
    bounds: frozenset[str]
    areas: frozenset[str]
    no_things: frozenset[str]


def _spec(text: str) -> tuple[str, str]:
    """Predicate and value of "LeftOf 1"."""
    name, _, value = text.partition(" ")
    return name, value


def _table(phrases: list[str]) -> PhraseTable:
    return PhraseTable({phrase: phrase for phrase in phrases})


@lru_cache(maxsize=1)
def load_words() -> GrammarWords:
    """The packaged tables, read once per process."""
    text = resources.files("lodestar.language").joinpath("grammar.yaml").read_text(encoding="utf-8")
    data = yaml.safe_load(text)
    relations = {p: name for name, phrases in data["relations"].items() for p in phrases}
    for phrase, name in list(relations.items()):
        for adverb in data["adverbs"]:
            relations.setdefault(f"{adverb} {phrase}", name)
    for suffix, key in (("^", "inverse_relations"), ("!", "negative_relations")):
        relations.update({p: name + suffix for name, phrases in data[key].items() for p in phrases})
    for phrase, name in list(relations.items()):
        if not name.endswith(("!", "^")):
            relations.setdefault(f"not {phrase}", name + "!")
    verbs = {p: kind for kind, phrases in data["verbs"].items() for p in phrases}
    for said in data["avoid_acts"]:
        verbs.update({f"{negator} {act}": "avoid" for negator in said["negators"] for act in said["acts"]})
    standing = {
        f"{first} {second}".strip(): said["kind"]
        for said in data["standing"]
        for first in said["first"]
        for second in said["second"]
    }
    manners = {p: kind for kind, phrases in data["manners"].items() for p in phrases}
    uses = {f"to {p}": tuple(entry["things"]) for entry in data["uses"] for p in entry["to"]}
    frames = {p: kind for kind, phrases in data["frames"].items() for p in phrases}
    singled = {p: spec for spec, phrases in data["single_out"].items() for p in phrases}
    return GrammarWords(
        polite=_table(data["polite"]),
        fillers=_table(data["fillers"]),
        asides=_table(data["asides"]),
        purposes=_table([*data["purposes"], *uses]),
        uses=uses,
        verbs=PhraseTable(verbs),
        relations=PhraseTable(relations),
        relative=_table(data["relative"]),
        determiners=_table(data["determiners"]),
        then=_table(data["then"]),
        stops=_table(data["stops"]),
        standing=PhraseTable(standing),
        standing_tails=_table(data["standing_tails"]),
        standing_ends=_table(data["standing_ends"]),
        described_by=frozenset(data["described_by"]),
        manners=PhraseTable(manners),
        home=_table(data["home"]),
        numbers=PhraseTable({p: str(n) for p, n in data["numbers"].items()}),
        cardinals=frozenset(p for p in data["numbers"] if " " not in p and p != "one"),
        avoid_distance=_table(data["avoid_distance"]),
        avoid_distance_after=_table(data["avoid_distance_after"]),
        avoid_distance_alone=_table(data["avoid_distance_alone"]),
        superlatives=data["superlatives"],
        modifiers={w: _spec(spec) for spec, words in data["modifiers"].items() for w in words},
        single_out=PhraseTable(singled),
        ordinals=data["ordinals"],
        frames=PhraseTable(frames),
        openers=_table(data["openers"]),
        imperatives=frozenset(data["imperatives"]),
        partitives=_table(data["partitives"]),
        exclusions=_table(data["exclusions"]),
        others=frozenset(data["others"]),
        places=frozenset(data["places"]),
        explored=frozenset(data["explored"]),
        extents=frozenset(data["extents"]),
        further=frozenset(data["further"]),
        closed=frozenset(data["closed"]),
        indefinite=frozenset(data["indefinite"]),
        conjunctions=frozenset(data["conjunctions"]),
        constraint_links=frozenset(data["constraint_links"]),
        pronouns=frozenset(data["pronouns"]),
        measures=frozenset(data["measures"]),
        distance_units=data["distance_units"],
        bounds=frozenset(data["bounds"]),
        areas=frozenset(data["areas"]),
        no_things=frozenset(data["no_things"]),
    )


def is_number(token: str) -> bool:
    """Whether a token begins as a number in digits does, with a sign or without."""
    return token.removeprefix("-")[:1].isdigit()


def _measured(word: str) -> tuple[str, ...]:
    """The number and the unit of "1.5m"; any other word as it is, without what stands around a number."""
    word = word.strip("()[]{}\"'") if "." in word else word
    found = _MEASURE.fullmatch(word)
    units = load_words().distance_units
    return (found[1], found[2]) if found is not None and found[2] in units else (word,)


def tokenise(text: str) -> list[str]:
    """Words and separators of a directive; quotes and brackets vanish, "/" reads as "or" and "&" as "and".

    A dot between digits stays in its number, and a minus before them; "2m" are two words.
    """
    text = unicodedata.normalize("NFKC", text).casefold()
    pieces: list[str] = []
    for i, character in enumerate(text):
        in_number = (
            character == "." and 0 < i < len(text) - 1 and text[i - 1].isdigit() and text[i + 1].isdigit()
        )
        if in_number:
            pieces.append("\x00")
        elif character in ",;.:!?\n\u2013\u2014\u3001\u3002":
            pieces.append("\x01")
        elif character in _SPOKEN:
            pieces.append(_SPOKEN[character])
        else:
            pieces.append(character)
    tokens: list[str] = []
    for part in "".join(pieces).split("\x01"):
        if tokens and tokens[-1] != SEPARATOR:
            tokens.append(SEPARATOR)
        for chunk in part.split():
            chunk = chunk.replace("\u2212", "-")
            if "\x00" in chunk:
                tokens.extend(_measured(chunk.replace("\x00", ".")))
            elif chunk.startswith("-") and is_number(chunk):
                first, *others = words_of(chunk)
                tokens.extend([*_measured("-" + first), *others])
            else:
                tokens.extend(token for word in words_of(chunk) for token in _measured(word))
    while tokens and tokens[-1] == SEPARATOR:
        tokens.pop()
    return tokens
