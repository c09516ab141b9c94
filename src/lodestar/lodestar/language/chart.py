"""Chart parser for clauses by the rules of `rules.yaml`: a GLR parser finds all readings, the rules' costs
rank them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import resources
from typing import Any

import yaml
from parglare import GLRParser, Grammar
from parglare.exceptions import SyntaxError as ChartError
from parglare.grammar import NonTerminal, Terminal
from parglare.parser import Token

from lodestar.language.chart_tables import parser_of

MAX_READINGS = 4  # readings kept of any part of a clause
_RESERVED = frozenset({"cost", "why", "is"})


@dataclass(frozen=True)
class Lexeme:
    """A run of `length` tokens that may form one terminal of the grammar rules, with its value."""

    length: int
    value: Any


@dataclass
class Lattice:
    """Words of a clause with the terminals of the grammar that they may form: `options[i]` maps each terminal
    to the lexeme that begins at word i.
    """

    words: list[str]
    options: list[dict[str, Lexeme]]

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, item: Any) -> Any:
        return self.words[item]


@dataclass(frozen=True)
class Rule:
    """One grammar rule of a rules file, such as `rules.yaml`, with "?" and "|" expanded."""

    block: str
    parts: tuple[str, ...]
    names: tuple[str, ...]  # names of the parts in the meaning; the second "thing" is "thing2"
    meaning: Mapping[str, Any]
    cost: float
    why: str


@dataclass(frozen=True)
class Reading:
    """One meaning of a clause, its cost (lower = likelier), and the reasons that the applied rules state."""

    meaning: dict[str, Any]
    cost: float = 0.0
    why: tuple[str, ...] = ()


@dataclass
class Chart:
    """Parser for clauses, built for one start symbol of the grammar, which must cover the whole clause."""

    rules: dict[tuple[str, tuple[str, ...]], Rule]
    _parser: GLRParser
    _symbols: dict[str, Any] = field(default_factory=dict)

    def readings(self, lattice: Lattice, most: int = MAX_READINGS) -> tuple[Reading, ...]:
        """Return at most `most` meanings of the whole clause, best first; empty if no rules match."""
        if not lattice.words:
            return ()
        try:
            forest = self._parser.parse(lattice)
        except ChartError:
            return ()
        found = _Ranking(self.rules, lattice, most).of(forest.result)
        return tuple(Reading(one.meaning(lattice.words), one.cost, one.why()) for one in found)


@dataclass(frozen=True)
class _Derivation:
    """One derivation of the words from `start` to `end`: a rule with its parts, or a terminal with its value."""

    cost: float
    start: int
    end: int
    rule: Rule | None
    parts: tuple[_Derivation, ...] = ()
    value: Any = None

    def meaning(self, words: Sequence[str]) -> dict[str, Any]:
        """Return the meaning built by the rules of this derivation."""
        if self.rule is None:
            return {"value": self.value}
        values = {name: part.meaning(words) for name, part in zip(self.rule.names, self.parts)}
        return meant(self.rule.meaning, values, _spoken(words[self.start : self.end]))

    def why(self) -> tuple[str, ...]:
        """Return the reasons stated by the rules of this derivation."""
        found = tuple(itertools.chain.from_iterable(part.why() for part in self.parts))
        return (*found, self.rule.why) if self.rule is not None and self.rule.why else found


class _Ranking:
    """Finds the cheapest derivations of each node of a parse forest, visiting each node once."""

    def __init__(
        self, rules: Mapping[tuple[str, tuple[str, ...]], Rule], lattice: Lattice, most: int
    ) -> None:
        self._rules = rules
        self._lattice = lattice
        self._most = most
        self._known: dict[int, list[_Derivation]] = {}

    def of(self, node: Any) -> list[_Derivation]:
        known = self._known.get(id(node))
        if known is not None:
            return known
        self._known[id(node)] = []  # stops recursion: a node inside itself adds nothing
        # The parser shares nodes of words between positions, so take begin and end from the node's root and head.
        start, end = node.root.position, node.head.position
        found = [made for way in node.possibilities for made in self._of_way(way, start, end)]
        if len(found) > 1:
            found.sort(key=lambda made: made.cost)
        best = self._known[id(node)] = found[: self._most]
        return best

    def _of_way(self, way: Any, start: int, end: int) -> Iterator[_Derivation]:
        if way.is_term():
            lexeme = self._lattice.options[start].get(way.symbol.name)
            yield _Derivation(0.0, start, end, None, value=None if lexeme is None else lexeme.value)
            return
        rule = self._rules[(way.symbol.name, tuple(symbol.name for symbol in way.production.rhs))]
        choices = itertools.product(*(self.of(child) for child in way.children))
        for parts in itertools.islice(choices, self._most**2):
            yield _Derivation(rule.cost + sum(part.cost for part in parts), start, end, rule, parts)


def _spoken(words: Sequence[str]) -> str:
    """Return the words as one text without commas and with possessives joined: "jane's desk"."""
    return " ".join(word for word in words if word != ",").replace(" 's", "'s")


def meant(template: Mapping[str, Any], parts: Mapping[str, dict[str, Any]], text: str) -> dict[str, Any]:
    """Return the meaning that a rule builds: its template, with the meanings of its parts filled in.

    text: the words that the rule covers; they replace "$text".
    """

    def value_of(said: Any) -> Any:
        if isinstance(said, str) and said.startswith("$"):
            if said == "$text":
                return text
            part = parts.get(said[1:])
            return None if part is None else part["value"] if set(part) == {"value"} else part
        if isinstance(said, list):
            return [value_of(one) for one in said]
        return meant(said, parts, text) if isinstance(said, dict) else said

    base = value_of(template.get("is")) or {}
    meaning = dict(base) if isinstance(base, dict) else {"value": base}
    for key, said in template.items():
        value = None if key in _RESERVED else value_of(said)
        if value is None:
            continue
        if key.endswith("+"):
            name = key[:-1]
            meaning[name] = [*meaning.get(name, ()), value]
        else:
            meaning[key] = value
    return meaning


def read_rules(data: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> list[Rule]:
    """Return the grammar rules in the content of a rules file, with "?" and "|" expanded."""
    rules = []
    for block, lines in data.items():
        for line, meaning in lines.items():
            choices = []
            for part in line.split():
                names = part.removesuffix("?").split("|")
                choices.append([*names, ""] if part.endswith("?") else names)
            for chosen in itertools.product(*choices):
                parts = tuple(part for part in chosen if part)
                rules.append(
                    Rule(
                        block,
                        parts,
                        _named(parts),
                        meaning,
                        float(meaning.get("cost", 0.0)),
                        meaning.get("why", ""),
                    )
                )
    return rules


def _named(parts: Sequence[str]) -> tuple[str, ...]:
    seen: dict[str, int] = {}
    names = []
    for part in parts:
        seen[part] = seen.get(part, 0) + 1
        names.append(part if seen[part] == 1 else f"{part}{seen[part]}")
    return tuple(names)


@lru_cache(maxsize=1)
def load_rules() -> tuple[Rule, ...]:
    """Return the packaged rules for directives and questions; they are read once per process."""
    rules, questions = (read_data(name) for name in ("rules.yaml", "questions.yaml"))
    return (*read_rules(rules), *read_rules(questions["rules"]))


def read_data(name: str, loader: str = "SafeLoader") -> dict[str, Any]:
    """Return the content of a packaged YAML file. loader: BaseLoader keeps every scalar a string."""
    text = resources.files("lodestar.language").joinpath(name).read_text(encoding="utf-8")
    return yaml.load(text, Loader=getattr(yaml, f"C{loader}", getattr(yaml, loader)))


@cache
def load_chart(entry: str = "clause") -> Chart:
    """Return the parser of the packaged rules for one start symbol (`entry`), built once per process."""
    rules: dict[tuple[str, tuple[str, ...]], Rule] = {}
    for rule in load_rules():
        if rule.block in _reached(entry):
            rules.setdefault((rule.block, rule.parts), rule)
    blocks = list(dict.fromkeys([entry, *(block for block, _ in rules)]))
    terminals = sorted({part for _, parts in rules for part in parts if part not in blocks})
    lines = [
        f"{block}: {' | '.join(' '.join(parts) for b, parts in rules if b == block)};" for block in blocks
    ]
    text = "\n".join([*lines, "terminals", *(f"{terminal}: ;" for terminal in terminals)])
    # Build the grammar from objects: parsing `text` takes 2 s. `text` is only the key of the cached tables.
    symbols = {block: NonTerminal(block) for block in blocks} | {
        terminal: Terminal(terminal, _never) for terminal in terminals
    }
    grammar = Grammar.from_struct(
        [
            (symbols[block], [symbols[part] for part in parts])
            for block in blocks
            for b, parts in rules
            if b == block
        ]
    )
    return Chart(rules, parser_of(entry, text, grammar, _tokens))


@cache
def _reached(entry: str) -> frozenset[str]:
    """Return the nonterminals reachable from a start symbol of the grammar, itself included."""
    made: dict[str, set[str]] = {}
    for rule in load_rules():
        made.setdefault(rule.block, set()).update(rule.parts)
    reached, queue = {entry}, [entry]
    while queue:
        for part in made.get(queue.pop(), ()):
            if part in made and part not in reached:
                reached.add(part)
                queue.append(part)
    return frozenset(reached)


def _never(lattice: Lattice, position: int) -> None:
    return None


def _tokens(head: Any, _: Any) -> list[Token]:
    """Return the tokens that begin at the parser's position and that its current state accepts."""
    lattice, position = head.input_str, head.position
    options = lattice.options[position]
    return [
        Token(symbol, lattice.words[position : position + options[symbol.name].length], position)
        for symbol in head.state.actions
        if symbol.name in options
    ]
