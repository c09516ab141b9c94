"""Steps and constraints of the clauses of a text, in the order of doing."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from lodestar.language.clauses import Clause
from lodestar.language.directive import (
    ConstraintKind,
    NotUnderstood,
    Scope,
    Step,
)
from lodestar.language.phrase_meanings import relation_of, things_of
from lodestar.language.phrases import HERE, Phrase, Relation, Things

NEARBY = ("Near", "NextTo", "Closest")  # relations to a thing that it is enough to be around
AROUND = 3.0  # m: what is around a thing, where no distance is said


_PERSONAL = frozenset({"him", "her"})


@dataclass
class Group:
    """Steps of one clause, and the constraints whose end they are."""

    steps: list[Step]
    link: str = ""


@dataclass
class Draft:
    """Steps and constraints of the clauses so far."""

    groups: list[Group] = field(default_factory=list)
    constraints: list[tuple[ConstraintKind, Things, float | None]] = field(default_factory=list)
    until: list[tuple[int, int]] = field(default_factory=list)  # constraint and group
    until_step: dict[int, int] = field(default_factory=dict)  # constraint: the step with which it ends
    named: Phrase | None = None  # the last thing that was named
    barred: Phrase | None = None  # the last thing to keep away from
    named_before: Phrase | None = None  # and the one before it
    scope: Scope | None = None  # that must not be left
    unable: list[str] = field(default_factory=list)  # of no step
    obeyed: list[str] = field(
        default_factory=list
    )  # clauses that are kept as they are: "do not climb the stairs"
    statements: list[str] = field(default_factory=list)
    route: list[str] = field(default_factory=list)  # turns and distances
    passed: list[Things] = field(default_factory=list)  # what is only passed, turned at or left
    heard: list[str] = field(default_factory=list)  # clauses that only guess, or tell of who speaks
    looked: tuple[Relation, int] | None = None  # "look on the table", which a question may follow
    pronoun: bool = False  # what was named last stands for what was named before
    turns: bool = False
    ends: bool = False  # it says where to stop or to wait
    halts: bool = False
    times: int = 1

    @property
    def steps(self) -> list[Step]:
        """Every step so far, in the order of doing."""
        return [step for group in self.groups for step in group.steps]

    @property
    def denials(self) -> int:
        """Return the number of bans and exclusions so far."""
        graphs = [graph for step in self.steps if step.item is not None for graph in step.item.graphs]
        negated = sum(predicate.negated for graph in graphs for predicate in graph.predicates)
        excluded = sum(len(step.item.excluded) for step in self.steps if step.item is not None)
        return len(self.constraints) + negated + excluded + (self.scope is not None)

    def insert(self, steps: list[Step], clause: Clause) -> None:
        """Add the steps of a clause where its link puts them: after or before those of the clause before it."""
        if not steps:
            return
        group = Group(steps, clause.link)
        if self.groups and (clause.link in ("after", "first") or self.groups[-1].link == "before-next"):
            self.groups.insert(len(self.groups) - 1, group)
            if self.groups[-1].link == "before-next":
                self.groups[-1].link = ""
        elif clause.link == "before" and not self.groups:
            group.link = "before-next"
            self.groups.append(group)
        else:
            self.groups.append(group)
        if clause.link == "until" and self.constraints and self.groups:
            self.until.append((len(self.constraints) - 1, len(self.groups) - 1))

    def things(self, meaning: Any, where: Any = None) -> Things:
        """The things of a meaning, pronouns put right, with where they are said to be."""
        things = things_of(meaning)
        relations = [] if where is None else [relation_of(one) for one in where.get("all", [where])]
        self.pronoun = any(phrase.pronoun for phrase in things.phrases)
        phrases = tuple(self.resolved(phrase).with_relations(relations) for phrase in things.phrases)
        self.named_before, self.named = self.named, phrases[-1]
        return replace(things, phrases=phrases)

    def resolved(self, phrase: Phrase) -> Phrase:
        """The phrase with what its pronouns stand for. Raises NotUnderstood where nothing was named."""
        relations = tuple(
            replace(r, anchors=tuple(self.resolved(a) if a.pronoun else a for a in r.anchors))
            for r in phrase.relations
        )
        phrase = replace(phrase, relations=relations)
        if not phrase.pronoun and not (
            phrase.adjectives_only and self.named is not None and phrase.noun.head
        ):
            return phrase
        if phrase.pronoun in (HERE, "me", "us", "you"):
            return phrase
        if self.named is None:
            raise NotUnderstood(
                f'it is not clear what "{phrase.pronoun or "one"}" stands for; name the thing'
            )
        if phrase.pronoun in _PERSONAL and self.named.is_place:
            raise NotUnderstood(f'it is not clear who "{phrase.pronoun}" is; say who is meant')
        if phrase.pronoun:
            meant = self.named.with_relations(phrase.relations)
            return (
                meant
                if phrase.noun.count is None
                else replace(meant, noun=replace(meant.noun, count=phrase.noun.count))
            )
        return phrase.with_noun(self.named.noun)

    def remember(self, meaning: dict[str, Any]) -> None:
        """Keep the thing of a statement, with where it is said to be: "my phone is in the kitchen"."""
        if meaning.get("thing") is None:
            return
        try:
            where = (meaning.get("asked") or {}).get("said")
            self.things(meaning["thing"], where)
        except NotUnderstood:
            return
