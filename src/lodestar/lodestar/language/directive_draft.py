"""Steps and constraints of the clauses of a text, in the order of doing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lodestar.language.clauses import Clause, plain_verb
from lodestar.language.directive import (
    EVERY,
    ConstraintKind,
    Item,
    NotUnderstood,
    Pose,
    Scope,
    Step,
    StepKind,
)
from lodestar.language.noun_words import GENERIC, NounWords, noun_words
from lodestar.language.phrase_graphs import SPOT, generic, graphs_of
from lodestar.language.phrases import (
    HERE,
    Phrase,
    Relation,
    Things,
    options_of,
    phrase_of,
    relation_of,
    things_of,
    with_state,
)
from lodestar.language.query_graph import Predicate, QueryGraph
from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.lexicon import load_lexicon

_TOUCHING = frozenset({"touch", "hit", "bump", "run", "knock", "push", "move", "disturb", "damage"})
_ALL = frozenset({"all", "every", "each"})
AROUND = 3.0  # m: what is around a thing, where no distance is said
_NEARBY = ("Near", "NextTo", "Closest")
_GOES_ON = (StepKind.FIND, StepKind.GO, StepKind.COUNT, StepKind.LIST)


@dataclass
class _Group:
    """Steps of one clause, and the constraints whose end they are."""

    steps: list[Step]
    link: str = ""


@dataclass
class Draft:
    """What the clauses so far have said."""

    groups: list[_Group] = field(default_factory=list)
    constraints: list[tuple[ConstraintKind, Things, float | None]] = field(default_factory=list)
    until: list[tuple[int, int]] = field(default_factory=list)  # constraint and group
    until_step: dict[int, int] = field(default_factory=dict)  # constraint: the step with which it ends
    named: Phrase | None = None  # the last thing that was named
    barred: Phrase | None = None  # the last thing to keep away from
    named_before: Phrase | None = None  # and the one before it
    scope: Scope | None = None  # that must not be left
    unable: list[str] = field(default_factory=list)  # of no step
    statements: list[str] = field(default_factory=list)
    route: list[str] = field(default_factory=list)  # turns and distances
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

    def add(self, clause: Clause, meaning: dict[str, Any]) -> None:
        """Take in one clause. Raises NotUnderstood where it cannot be acted on."""
        kind = meaning["kind"]
        self.ends = self.ends or bool(meaning.get("ends")) or kind == "wait"
        if kind == "avoid":
            self._forbid(clause, meaning)
            if meaning.get("then") is not None:
                self._insert(self._places(self._things(meaning["then"])), clause)
        elif kind == "unable":
            self._unable_of_last((meaning["unable"],))
        elif kind == "halt":
            self.halts = True
        elif kind == "repeat":
            self.times = int(meaning.get("times", 2))
        elif kind in ("again", "never") or clause.link == "why":
            return
        elif kind == "override":
            raise NotUnderstood(
                f'"{clause.words[0]}": what is to be kept away from cannot be lifted, only left out'
            )
        elif kind in ("statement", "leave"):
            self._remember(meaning)
            self.statements.append(clause.text)
        elif kind == "route":
            self.route.append(clause.text)
            self.turns = True
            self._insert(self._went(meaning, clause) if meaning.get("legs") else [], clause)
        elif kind in ("refuse", "follow"):
            self.unable.append(meaning["unable"])
        else:
            steps = self._steps_of(kind, clause, meaning)
            times = int(meaning.get("times", 1))
            self._insert([replace(step, times=times) if times != 1 else step for step in steps], clause)

    def _insert(self, steps: list[Step], clause: Clause) -> None:
        if not steps:
            return
        group = _Group(steps, clause.link)
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

    def _steps_of(self, kind: str, clause: Clause, meaning: dict[str, Any]) -> list[Step]:
        match kind:
            case "go" | "return":
                return self._went(meaning, clause)
            case "where":
                return self._where(meaning, clause)
            case "what":
                return self._what(meaning, clause)
            case "find" | "handle" | "carry":
                return self._found(kind, meaning, clause)
            case "look":
                return self._looked(meaning)
            case "thing" | "place":
                return self._fragment(kind, meaning, clause)
            case "explore" | "patrol":
                return self._explored(kind, meaning)
            case "count" | "list" | "describe":
                return self._told(kind, meaning, clause)
            case "check":
                return [self._checked(meaning, clause)]
            case "ask":
                return [self._asked(meaning, clause)]
            case "wait":
                at = self._spots(meaning["where"]["all"]) if meaning.get("where") else []
                return [*at, Step(StepKind.WAIT, seconds=meaning.get("seconds"))]
        raise ValueError(f"rules.yaml has a kind that nothing does: {kind!r}")

    # --- what is named ---

    def _things(self, meaning: Any, where: Any = None) -> Things:
        """The things of a meaning, pronouns put right, with where they are said to be."""
        things = things_of(meaning)
        relations = [] if where is None else [relation_of(one) for one in where.get("all", [where])]
        self.pronoun = any(phrase.pronoun for phrase in things.phrases)
        phrases = tuple(self._resolved(phrase).with_relations(relations) for phrase in things.phrases)
        self.named_before, self.named = self.named, phrases[-1]
        return replace(things, phrases=phrases)

    def _resolved(self, phrase: Phrase) -> Phrase:
        """The phrase with what its pronouns stand for. Raises NotUnderstood where nothing was named."""
        relations = tuple(
            replace(r, anchors=tuple(self._resolved(a) if a.pronoun else a for a in r.anchors)) for r in phrase.relations
        )
        phrase = replace(phrase, relations=relations)
        if not phrase.pronoun and not (
            phrase.adjectives_only and self.named is not None and phrase.noun.head
        ):
            return phrase
        if phrase.pronoun in (HERE, "me", "us", "you"):
            return phrase
        if self.named is None:
            raise NotUnderstood(f'"{phrase.pronoun or "one"}" of what? name the thing')
        if phrase.pronoun:
            meant = self.named.with_relations(phrase.relations)
            return meant if phrase.noun.count is None else replace(meant, noun=replace(meant.noun, count=phrase.noun.count))
        return phrase.with_noun(self.named.noun)

    def _remember(self, meaning: dict[str, Any]) -> None:
        """What a statement is about, and where it says that it is: "my phone is in the kitchen"."""
        if meaning.get("thing") is None:
            return
        try:
            where = (meaning.get("asked") or {}).get("said")
            self._things(meaning["thing"], where)
        except NotUnderstood:
            return

    # --- steps ---

    def _went(self, meaning: dict[str, Any], clause: Clause) -> list[Step]:
        legs = (meaning.get("legs") or {}).get("all", [])
        found: list[Step] = []
        ends: list[Step] = []
        if meaning.get("legs") and meaning["legs"].get("before"):
            ends += self._places(self._things(meaning["legs"]["before"]))
        for at in ((meaning.get("legs") or {}).get("at_all") or {}).get("all", []):
            ends += self._spots([at])
        home = meaning["kind"] == "return" and not any(
            key in leg for leg in legs for key in ("to", "at", "via")
        )
        for leg in legs:
            if leg.get("to") is not None:
                back = meaning["kind"] == "return"
                ends += self._places(self._things(leg["to"]), back)
            elif leg.get("via") is not None:
                found += [s for s in self._places(self._things(leg["via"])) if s.kind is StepKind.GO]
            elif leg.get("at") is not None:
                ends += self._spots([leg["at"]], bool(ends))
            elif leg.get("home"):
                home = True
            elif leg.get("pose"):
                x, y, *heading = leg["pose"]
                ends.append(Step(StepKind.GO, pose=Pose(x, y, math.radians(heading[0]) if heading else None)))
            elif leg.get("turn"):
                self.turns = True
                self.route.append(clause.text)
            elif leg.get("past") is not None:
                self.route.append(clause.text)
        if home:
            ends.append(Step(StepKind.RETURN))
        if not found and not ends:
            self.route.append(clause.text)
        steps = [*found, *ends]
        if steps and meaning.get("unable"):
            steps[-1] = replace(steps[-1], unable=(meaning["unable"],))
        return steps

    def _places(self, things: Things, back: bool = False) -> list[Step]:
        """Steps to places, or to things that are gone to."""
        if things.any_of and all(p.is_place or p.adjectives_only for p in things.phrases):
            return [Step(StepKind.GO, item_of(things), scope=scope_of(things.phrases[0], False))]
        if things.any_of:
            return [self._find(things)]
        return [self._place(phrase, things, back) for phrase in things.phrases]

    def _place(self, phrase: Phrase, things: Things, back: bool) -> Step:
        words = (phrase.noun.determiner, *phrase.noun.words) if phrase.noun.determiner else phrase.noun.words
        if load_vocabulary().is_in("HOME", *words):
            return Step(StepKind.RETURN)
        if phrase.is_spot and (phrase.of is not None or not phrase.noun.adjectives):
            of_room = phrase.of if phrase.of is not None and phrase.of.is_place else None
            whole = replace(phrase, of=None) if of_room is not None else phrase
            scope = (
                Scope((graphs_of(of_room)[0],))
                if of_room is not None and not of_room.is_whole
                else scope_of(phrase)
            )
            return Step(StepKind.GO, Item((graphs_of(whole),)), scope=scope)
        if phrase.is_place and is_all(phrase):
            return Step(StepKind.PATROL)
        if phrase.is_place or (phrase.adjectives_only and not phrase.noun.head):
            if back:
                return Step(StepKind.RETURN, Item((graphs_of(replace(phrase, rooms=())),)))
            return Step(StepKind.GO, Item((graphs_of(replace(phrase, rooms=())),)), scope=scope_of(phrase))
        return self._find(Things((phrase,), excluded=things.excluded))

    def _spots(self, relations: Sequence[Any], later: bool = False) -> list[Step]:
        """Steps to where a relation holds: a room, beside a thing, or a spot."""
        steps: list[Step] = []
        for meaning in relations:
            relation = relation_of(meaning)
            anchors = tuple(self._resolved(a) for a in relation.anchors)
            relation = replace(relation, anchors=anchors)
            if not anchors:
                self.route.append(str(relation.name))
            elif any(a.pronoun for a in anchors):
                steps.append(Step(StepKind.RETURN))
            elif relation.name in ("Inside", "On", "Near", "NextTo") and all(a.is_place for a in anchors):
                steps += self._places(Things(anchors))
            elif (
                steps
                and relation.name in ("Near", "NextTo", "Inside", "Behind")
                and steps[-1].kind is StepKind.GO
            ):
                steps[-1] = self._nearer(steps[-1], relation)
            elif relation.name in _NEARBY and not relation.negated:
                steps += self._places(Things(anchors))
            else:
                spot = replace(generic(SPOT), relations=(relation,))
                steps.append(Step(StepKind.GO, Item((graphs_of(spot),))))
        return steps

    @staticmethod
    def _nearer(step: Step, relation: Relation) -> Step:
        """The step to a room that a second relation tells from others."""
        graph = graphs_of(replace(generic(), relations=(relation,)))[0]
        assert step.item is not None
        first = step.item.alternatives[0][0]
        shift = len(first.variables) - 1
        moved = tuple(
            replace(p, arguments=tuple(a and a + shift for a in p.arguments))
            for p in graph.predicates
            if p.name != "IsCategory" or p.arguments[0]
        )
        whole = QueryGraph((*first.variables, *graph.variables[1:]), (*first.predicates, *moved))
        return replace(step, item=Item(((whole,),)))

    def _find(self, things: Things, unable: tuple[str, ...] = ()) -> Step:
        for phrase in things.phrases:
            check_is_thing(phrase)
            pointed = phrase.noun.determiner in ("the", "this", "that", "these", "those")
            if phrase.noun.is_anything and not pointed and not _says_what(phrase):
                raise NotUnderstood("any thing at all would do; say what kind of thing")
        kind = StepKind.LIST if is_all(things.phrases[0]) and not unable else StepKind.FIND
        item = item_of(things, every=kind is StepKind.LIST)
        return Step(kind, item, scope=scope_of(things.phrases[0]), unable=unable)

    def _where(self, meaning: dict[str, Any], clause: Clause) -> list[Step]:
        """To find a thing that is asked for; of a place the answer is enough."""
        things = self._things(meaning["thing"])
        if all(p.is_place for p in things.phrases):
            phrase = replace(things.phrases[0], rooms=())
            return [
                Step(
                    StepKind.ASK,
                    item_of(Things((phrase,))),
                    scope=scope_of(things.phrases[0]),
                    question=clause.text,
                )
            ]
        return self._each(things, ())

    def _what(self, meaning: dict[str, Any], clause: Clause) -> list[Step]:
        """What a thing is that is only described; several things are listed."""
        things = self._things(meaning["thing"])
        if any(p.noun.is_plural for p in things.phrases) or clause.words[0] in ("tell", "show", "find"):
            return self._told("list", meaning, clause)
        return [self._asked(meaning, clause)]

    def _found(self, kind: str, meaning: dict[str, Any], clause: Clause) -> list[Step]:
        things = self._things(meaning["thing"], meaning.get("where"))
        if meaning.get("inside") is not None:
            container = self._things(meaning["inside"]).phrases[0]
            named = Relation("Inside" if container.is_place else "On", (container,))
            if not container.is_whole:
                things = replace(things, phrases=tuple(p.with_relations([named]) for p in things.phrases))
            self.named = things.phrases[0]
        if kind != "find" and load_vocabulary().is_in("WAYS", things.phrases[0].head):
            return self._by_way(things.phrases[0], meaning, clause)
        unable = (meaning["unable"],) if kind in ("handle", "carry") else ()
        steps = self._each(things, unable)
        if kind == "carry":
            named = self.named
            place = (
                self._places(self._things(meaning["place"]))
                if "place" in meaning
                else self._put(meaning["at"])
            )
            self.named = named
            steps = [*steps, *place] if not steps or place else steps
        return steps

    def _by_way(self, way: Phrase, meaning: dict[str, Any], clause: Clause) -> list[Step]:
        """ "Take the path between the sofa and the table to the door": a spot, then where it leads."""
        steps = []
        if way.relations:
            steps.append(
                Step(StepKind.GO, Item((graphs_of(replace(generic(SPOT), relations=way.relations)),)))
            )
        if meaning.get("place") is not None:
            steps += self._places(self._things(meaning["place"]))
        if not steps:
            self.route.append(clause.text)
        return steps

    def _looked(self, meaning: dict[str, Any]) -> list[Step]:
        """To what is looked at; a question that follows and names no place is about that."""
        relation = relation_of(meaning["at"])
        relation = replace(relation, anchors=tuple(self._resolved(a) for a in relation.anchors))
        steps = self._places(Things(relation.anchors)) if relation.anchors else []
        if steps:
            self.named = relation.anchors[-1]
            self.looked = (relation, len(self.groups))
        return steps

    def _there(self, things: Things, clause: Clause) -> Things:
        """The things, at what was looked at where they have no place of their own."""
        bare = all(not p.relations and not p.rooms for p in things.phrases)
        if self.looked is not None and bare and self.looked[1] == len(self.groups) - 1:
            relation, index = self.looked
            if relation.name in ("On", "Inside", "Below", "Behind"):
                self.groups.pop(index)
            else:
                relation = replace(relation, name="On")
        elif (
            bare
            and "there" in clause.words
            and self.steps
            and self.steps[-1].kind is StepKind.FIND
            and self.named_before
        ):
            relation = Relation("On", (self.named_before,))
        else:
            return things
        return replace(things, phrases=tuple(p.with_relations([relation]) for p in things.phrases))

    def _put(self, at: Any) -> list[Step]:
        """Where something is put: the anchors of a relation."""
        anchors = tuple(self._resolved(a) for a in relation_of(at).anchors)
        return self._places(Things(anchors)) if anchors and not any(a.pronoun for a in anchors) else []

    def _each(self, things: Things, unable: tuple[str, ...]) -> list[Step]:
        if things.any_of:
            return [self._find(things, unable)]
        first, *others = things.phrases
        if others and first.noun.count == len(others) and all(p.noun.count == 1 for p in others):
            things = replace(
                things, phrases=tuple(p.with_noun(first.noun) if p.adjectives_only else p for p in others)
            )  # "two, one red and one blue"
        steps = []
        for phrase in things.phrases:
            if phrase.is_place and not unable and load_lexicon().canonical(phrase.head) is None:
                steps.append(self._place(phrase, things, False))
            elif self._done(phrase) and (unable or self.pronoun):
                self._unable_of_last(unable)
            else:
                steps.append(self._find(replace(options_of((phrase,)), excluded=things.excluded), unable))
        return steps

    def _done(self, phrase: Phrase) -> bool:
        """Whether the last step already goes to the thing."""
        last = self.steps[-1:]
        return bool(last) and last[0].item is not None and last[0].item.alternatives == (graphs_of(phrase),)

    def _unable_of_last(self, unable: tuple[str, ...]) -> None:
        group = next((group for group in reversed(self.groups) if group.steps), None)
        if group is None:
            return
        group.steps[-1] = replace(group.steps[-1], unable=(*group.steps[-1].unable, *unable))

    def _fragment(self, kind: str, meaning: dict[str, Any], clause: Clause) -> list[Step]:
        last = self.steps[-1] if self.steps else None
        if kind == "place":
            return self._spots([meaning["at"]])
        things = self._things(meaning["thing"], meaning.get("where"))
        if last is not None and last.kind in (StepKind.COUNT, StepKind.LIST):
            return [replace(last, item=item_of(things, every=True), scope=scope_of(things.phrases[0]))]
        return (
            self._places(things) if last is not None or things.phrases[0].is_place else self._each(things, ())
        )

    def _explored(self, kind: str, meaning: dict[str, Any]) -> list[Step]:
        step = StepKind.PATROL if kind == "patrol" else StepKind.EXPLORE
        if meaning.get("stops"):
            stops = tuple(phrase_of(one) for one in meaning["stops"].get("all", ()))
            return [Step(step, stops=tuple(item_of(Things((stop,))) for stop in stops))]
        if meaning.get("where"):
            rooms = generic().with_relations([relation_of(meaning["where"])])
            return [Step(step, scope=scope_of(rooms))]
        if not meaning.get("thing"):
            return [Step(step)]
        things = self._things(meaning["thing"])
        for phrase in things.excluded:
            self.constraints.append((ConstraintKind.STAY_OUT, Things((phrase,)), None))
        if step is StepKind.PATROL:
            if all(p.is_whole or is_all(p) for p in things.phrases):
                return [Step(step)]
            return [Step(step, stops=tuple(item_of(Things((p,))) for p in things.phrases))]
        first = things.phrases[0]
        near = next((r for r in first.relations if r.name in _NEARBY and r.anchors), None)
        if near is not None and (first.is_place or first.noun.is_anything):
            return [Step(step, scope=Scope(around=graphs_of(near.anchors[0])[0], radius=AROUND))]
        if all(p.is_whole or p.noun.is_anything for p in things.phrases):
            return [Step(step, scope=scope_of(first))]
        if all(p.is_place for p in things.phrases):
            rooms = tuple(graphs_of(replace(p, rooms=()))[0] for p in things.phrases)
            return [Step(step, scope=Scope(rooms, level_of(things.phrases[0].level)))]
        return self._each(things, ())

    def _told(self, kind: str, meaning: dict[str, Any], clause: Clause) -> list[Step]:
        step = StepKind.COUNT if kind == "count" else StepKind.LIST
        if not meaning.get("thing"):
            if not meaning.get("where") or not meaning["where"].get("all"):
                return [Step(step)]
            things = self._things({"value": NounWords((), GENERIC, ())}, meaning["where"])
            self.named = None
        else:
            things = self._there(self._things(meaning["thing"], meaning.get("where")), clause)
        steps = []
        groups = [things] if things.any_of else [replace(things, phrases=(p,)) for p in things.phrases]
        for group in groups:
            phrase = group.phrases[0]
            if phrase.is_place and step is StepKind.LIST and not is_all(phrase) and not phrase.noun.is_plural:
                steps.append(Step(step, scope=Scope() if phrase.is_whole else Scope((graphs_of(phrase)[0],))))
            elif (
                phrase.noun.is_anything
                and not phrase.relations
                and not phrase.states
                and not phrase.noun.adjectives
            ):
                steps.append(Step(step, scope=scope_of(phrase)))
            else:
                steps.append(Step(step, item_of(group, every=True), scope=scope_of(phrase)))
        return steps

    def _checked(self, meaning: dict[str, Any], clause: Clause) -> Step:
        things = self._things(meaning["thing"], meaning.get("where"))
        if meaning.get("inside") is not None:
            container = self._things(meaning["inside"]).phrases[0]
            things = replace(
                things,
                phrases=tuple(p.with_relations([Relation("On", (container,))]) for p in things.phrases),
            )
        phrase = things.phrases[0]
        item, asked = item_of(things), ()
        if meaning.get("asked"):
            item, asked = self._predicates(phrase, meaning["asked"])
        return Step(StepKind.CHECK, item, scope=scope_of(phrase), asked=asked, question=clause.text)

    def _predicates(self, phrase: Phrase, asked: dict[str, Any]) -> tuple[Item, tuple[Predicate, ...]]:
        """The item with what is asked about its first variable."""
        denied = bool(asked.get("negated"))
        if asked.get("said") is not None:
            relation = relation_of(asked["said"])
            grown = phrase.with_relations([replace(relation, negated=relation.negated or denied)])
        else:
            grown = with_state(phrase, asked["state"], denied)
        before, after = graphs_of(phrase)[0], graphs_of(grown)[0]
        known = set(before.predicates)
        own = {
            v
            for p in after.predicates
            if p not in known and p.name != "IsCategory" and p.arguments[0] == 0
            for v in (0,)
        }
        new = tuple(
            p for p in after.predicates if p not in known and 0 in p.arguments and p.name != "IsCategory"
        )
        if not own or len(grown.rooms) > len(phrase.rooms):
            scope = grown.rooms[len(phrase.rooms) :]
            new = (*new, *(Predicate("InRegion", (0,), graphs_of(room)[0].target.category) for room in scope))
        kept = tuple(p for p in after.predicates if p not in new)
        variables = (before.variables[0], *after.variables[1:])
        return Item(((QueryGraph(variables, kept),),)), new

    def _asked(self, meaning: dict[str, Any], clause: Clause) -> Step:
        if not meaning.get("thing"):
            return Step(StepKind.ASK, question=clause.text)
        things = self._things(meaning["thing"], meaning.get("where"))
        phrase = things.phrases[0]
        if meaning.get("asked"):
            item, asked = self._predicates(phrase, meaning["asked"])
            return Step(StepKind.ASK, item, scope=scope_of(phrase), asked=asked, question=clause.text)
        if phrase.is_place and not phrase.is_whole:
            return Step(StepKind.ASK, scope=Scope((graphs_of(phrase)[0],)), question=clause.text)
        return Step(StepKind.ASK, item_of(things), scope=scope_of(phrase), question=clause.text)

    # --- constraints ---

    def _forbid(self, clause: Clause, meaning: dict[str, Any]) -> None:
        metres = meaning.get("metres")
        verb = str(meaning.get("verb", "")).split(" ")[0]
        if meaning.get("between"):
            stops = [phrase_of(one) for one in meaning["between"].get("all", ())]
            meaning = {**meaning, "thing": {"value": stops[-1].noun}}
        if meaning.get("home"):
            self.constraints.append((ConstraintKind.KEEP_AWAY, Things((generic("home"),)), metres))
            return
        if meaning.get("thing") is None:
            if metres is not None and self.constraints:
                kind, things, _ = self.constraints[-1]
                self.constraints[-1] = (kind, things, metres)
                return
            raise NotUnderstood(f'"{clause.text}" from what? say what to keep away from')
        named, self.named = self.named, self.barred or self.named
        things = self._things(meaning["thing"])
        self.barred, self.named = self.named, named or self.named
        if verb in ("leave", "leaving", "exit", "exiting"):
            self.scope = scope_of(generic().with_relations([Relation("Inside", things.phrases)]))
            return
        for phrase in (one for said in things.phrases for one in _colors_apart(said)):
            anything = phrase.noun.is_anything and not phrase.noun.adjectives and not phrase.relations
            if anything and not phrase.rooms and plain_verb(verb) in _TOUCHING:
                continue  # it touches nothing anyway
            for barred in _barred(phrase, clause.text):
                self._bar(barred, metres, meaning, clause)

    def _bar(self, phrase: Phrase, metres: float | None, meaning: dict[str, Any], clause: Clause) -> None:
        """Keep away from one thing; of a thing that was named before, only the distance is new."""
        kind = ConstraintKind.STAY_OUT if phrase.is_place or phrase.adjectives_only else ConstraintKind.KEEP_AWAY
        if phrase.relations and any(r.name == "Between" for r in phrase.relations):
            kind = ConstraintKind.KEEP_AWAY
        same = next((i for i, (_, things, _) in enumerate(self.constraints) if things.phrases == (phrase,)), None)
        if same is not None:
            self.constraints[same] = (kind, Things((phrase,)), metres or self.constraints[same][2])
            return
        self.constraints.append((kind, Things((phrase,)), metres))
        if meaning.get("step"):
            self.until_step[len(self.constraints) - 1] = max(int(meaning["step"]) - 1, 0)
        if clause.link == "until":
            self.until.append((len(self.constraints) - 1, len(self.groups) - 1))


def _colors_apart(phrase: Phrase) -> tuple[Phrase, ...]:
    """ "Red and blue chairs" as red chairs and blue chairs."""
    groups = load_lexicon().attribute_group
    found = {a: groups.get(load_lexicon().attribute(a) or "") for a in phrase.noun.adjectives}
    colors = [a for a, group in found.items() if group in ("colors", "materials")]
    if len(colors) < 2 or not phrase.noun.is_plural:
        return (phrase,)
    rest = [w for w in phrase.noun.words if w not in colors]
    return tuple(
        replace(phrase, noun=noun_words((color, *rest), phrase.noun.determiner, phrase.noun.count)) for color in colors
    )


def _barred(phrase: Phrase, said: str) -> tuple[Phrase, ...]:
    """What is to be kept away from: of the end of a table, the table. Raises NotUnderstood where that is nothing."""
    vocabulary = load_vocabulary()
    if phrase.noun.words and all(vocabulary.is_in("GO_NEAR", w) for w in phrase.noun.words) and not phrase.noun.determiner:
        raise NotUnderstood(f'"{said}" what? say what to keep away from')
    part = phrase.is_spot or vocabulary.is_in("SPOT_WORDS", phrase.head) or phrase.head in ("zone", "region", "space")
    if part and not any(r.name == "Between" for r in phrase.relations):
        whole = (*((phrase.of,) if phrase.of is not None else ()), *(a for r in phrase.relations for a in r.anchors))
        whole = whole or phrase.rooms
        if whole and not any(one.is_whole for one in whole):
            return tuple(whole)
        if whole:
            raise NotUnderstood("it asks to keep away from everything, which leaves nowhere to go")
        if not phrase.noun.adjectives:
            raise NotUnderstood(f'"the {phrase.head}" is no thing; say what is there')
    if phrase.is_whole and not phrase.noun.adjectives:
        raise NotUnderstood("it asks to keep away from everything, which leaves nowhere to go")
    return (phrase,)


def is_all(phrase: Phrase) -> bool:
    """Whether all there are of it are meant."""
    return phrase.noun.determiner.split(" ")[0] in _ALL


def item_of(things: Things, every: bool = False, with_rooms: bool = False) -> Item:
    """The item of one or several phrases; each is an alternative. with_rooms: as `graphs_of`."""
    counts = [p.noun.count for p in things.phrases if p.noun.count is not None]
    count = EVERY if every else max(counts, default=1)
    if not every and counts and min(counts) < 1:
        raise NotUnderstood("it asks for none of a thing, or fewer; ask for one at least")
    excluded = tuple(graphs_of(phrase, True)[0] for phrase in things.excluded)
    return Item(tuple(graphs_of(phrase, with_rooms) for phrase in things.phrases), excluded, count=count)


def scope_of(phrase: Phrase, own: bool = True) -> Scope:
    """The rooms and the level that a phrase is said to be in."""
    rooms: list[Phrase] = []

    def collect(current: Phrase) -> None:
        rooms.extend(room for room in current.rooms if not room.is_whole)
        for relation in current.relations:
            for anchor in relation.anchors:
                if not relation.negated:
                    collect(anchor)

    if own:
        collect(phrase)
    anchors = [anchor for relation in phrase.relations for anchor in relation.anchors]
    level = level_of(phrase.level or next((p.level for p in (*rooms, *anchors) if p.level), ""))
    return Scope(tuple(graphs_of(room)[0] for room in rooms), level)


def level_of(text: str) -> int | None:
    """The number of a level that is said, ground = 0 = "first floor"; None where none is."""
    vocabulary = load_vocabulary()
    words = text.split()
    for i, word in enumerate(words):
        ordinal = vocabulary.match("ORDINAL", words, i) or vocabulary.match("NUMBER", words, i)
        if word == "ground":
            return 0
        if word.isdigit():
            return max(int(word) - 1, 0)
        if ordinal is not None and float(ordinal[1]) > 0:
            return int(float(ordinal[1])) - 1
    return None


def _says_what(phrase: Phrase) -> bool:
    """Whether anything but "something" is said of a thing."""
    return bool(phrase.relations or phrase.states or phrase.noun.adjectives or phrase.kind or phrase.rooms)


def check_is_thing(phrase: Phrase) -> None:
    """Raises NotUnderstood for a time, a length or a number, which nobody can stand by."""
    vocabulary = load_vocabulary()
    words = phrase.noun.words
    for relation in phrase.relations:
        for anchor in relation.anchors:
            check_is_thing(anchor)
    if words and all(vocabulary.is_in("UNITS", w.removesuffix("s")) for w in words) and phrase.noun.head:
        said = " ".join((*((phrase.noun.determiner,) if phrase.noun.determiner else ()), *words))
        raise NotUnderstood(f'"{said}" is no thing to look for or to stand by')
