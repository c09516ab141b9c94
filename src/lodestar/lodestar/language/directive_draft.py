"""Draft of a directive: the steps and constraints of the clauses read so far, in execution order."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from lodestar.language.clauses import Clause
from lodestar.language.directive import ConstraintKind, NotUnderstood, Scope, Step
from lodestar.language.phrase_meanings import relation_of, things_of
from lodestar.language.phrases import HERE, Phrase, Relation, Things

NEARBY = ("Near", "NextTo", "Closest")  # relations for which being within AROUND is enough
AROUND = 3.0  # m, radius around an object if no distance is said


_PERSONAL = frozenset({"him", "her"})


@dataclass
class Group:
    """Steps of one clause, and its link ("before", "after" ...) to the clause before it."""

    steps: list[Step]
    link: str = ""


@dataclass
class Draft:
    """Steps and constraints of the clauses read so far, with the phrases that later pronouns may refer to."""

    groups: list[Group] = field(default_factory=list)
    constraints: list[tuple[ConstraintKind, Things, float | None]] = field(default_factory=list)
    until: list[tuple[int, int]] = field(default_factory=list)  # (constraint index, group with which it ends)
    until_step: dict[int, int] = field(default_factory=dict)  # constraint index -> last step index
    named: Phrase | None = None  # the last phrase that was named
    barred: Phrase | None = None  # the last phrase to keep away from
    named_before: Phrase | None = None  # the value of `named` before the last phrase
    scope: Scope | None = None  # area that the robot must not leave
    unable: list[str] = field(default_factory=list)  # requests of no step that cannot be fulfilled
    # clauses that the robot obeys anyway: "do not climb the stairs"
    obeyed: list[str] = field(default_factory=list)
    statements: list[str] = field(default_factory=list)
    route: list[str] = field(default_factory=list)  # clauses that give turns and distances
    passed: list[Things] = field(default_factory=list)  # objects only passed, turned at or left
    heard: list[str] = field(default_factory=list)  # guesses, reasons, clauses about the speaker
    looked: tuple[Relation, int] | None = None  # place of "look on the table", for a question
    pronoun: bool = False  # the last phrase contained a pronoun
    turns: bool = False
    ends: bool = False  # the text says where to stop or to wait
    halts: bool = False
    times: int = 1

    @property
    def steps(self) -> list[Step]:
        """Return all steps so far, in execution order."""
        return [step for group in self.groups for step in group.steps]

    @property
    def denials(self) -> int:
        """Return the number of bans and exclusions so far."""
        graphs = [graph for step in self.steps if step.item is not None for graph in step.item.graphs]
        negated = sum(predicate.negated for graph in graphs for predicate in graph.predicates)
        excluded = sum(len(step.item.excluded) for step in self.steps if step.item is not None)
        return len(self.constraints) + negated + excluded + (self.scope is not None)

    def insert(self, steps: list[Step], clause: Clause) -> None:
        """Insert the steps of a clause according to its link: after or before those of the clause before it."""
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
        """Return the phrases of a meaning with pronouns resolved and the relations of `where` added."""
        things = things_of(meaning)
        relations = [] if where is None else [relation_of(one) for one in where.get("all", [where])]
        self.pronoun = any(phrase.pronoun for phrase in things.phrases)
        phrases = tuple(self.resolved(phrase).with_relations(relations) for phrase in things.phrases)
        self.named_before, self.named = self.named, phrases[-1]
        return replace(things, phrases=phrases)

    def resolved(self, phrase: Phrase) -> Phrase:
        """Return the phrase with its pronouns resolved. Raises NotUnderstood if there is nothing to refer to."""
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
        """Remember the subject of a statement and its place, for later pronouns: "my phone is in the
        kitchen".
        """
        if meaning.get("thing") is None:
            return
        try:
            where = (meaning.get("asked") or {}).get("said")
            self.things(meaning["thing"], where)
        except NotUnderstood:
            return
