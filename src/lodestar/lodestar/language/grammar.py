"""Directives and referring expressions in plain English to typed tasks, without a model.

A recursive descent over phrase tables: a directive is steps, a step a verb and its noun phrase, a noun
phrase has attributes and relations to further noun phrases. Words that no table knows are open vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from lodestar.language.alternatives import AlternativesParser
from lodestar.language.constraint_parser import ConstraintParser
from lodestar.language.contradictions import contradiction, why_contradictory
from lodestar.language.directive import (
    Constraint,
    ConstraintKind,
    Directive,
    DirectiveError,
    EmptyDirective,
    Item,
    NotUnderstood,
    OutOfBounds,
    Step,
    StepKind,
    StopRequested,
)
from lodestar.language.directive_phrases import EXAMPLE, shown
from lodestar.language.expressions import is_sentence, parse_expression
from lodestar.language.motion_limits import check_motion_limits, tokens_without_limits
from lodestar.language.noun_phrases import GENERIC, NounPhrase, to_graphs
from lodestar.language.query_graph import QueryGraph, QueryVariable
from lodestar.language.words import SEPARATOR, is_number, tokenise
from lodestar.models.lexicon import load_lexicon

MAX_CHARACTERS = 1000
#: Verbs that ask for another rule instead of a thing; what a directive keeps away from stands.
_OVERRIDES = frozenset({"ignore", "disregard", "forget", "override", "overrule", "bypass", "disable"})
#: Determiners of a thing that the speaker points at, or shows a picture of.
_POINTING = frozenset({"the", "this", "that", "these", "those"})


@dataclass(frozen=True)
class _Step:
    kind: StepKind
    target: tuple[NounPhrase, ...] = ()  # alternatives


def parse_directive(text: str) -> Directive:
    """The task that a text asks for.

    Raises EmptyDirective where there is no text, StopRequested where it only asks for a halt, CannotObey where it sets
    a limit that its task breaks, NotUnderstood (with an example) where there is no task.
    """
    tokens = _tokens(text)
    try:
        directive = _read(tokens, text)
    except NotUnderstood:
        check_motion_limits(tokens)  # the better reason
        raise
    check_motion_limits(tokens)
    return directive


def _read(tokens: list[str], text: str) -> Directive:
    """The task in tokens, without the check of motion limits. Raises as parse_directive."""
    return _DirectiveParser(tokens_without_limits(tokens), text).parse()


def parse_query(text: str) -> tuple[QueryGraph, ...]:
    """Readings of a referring expression, with or without a verb, best first. Raises as parse_directive."""
    tokens = _tokens(text)
    if is_sentence(tokens):
        graphs = parse_expression(tokens)
        if graphs:
            return graphs
    try:
        graphs = _task_of(tokens, text).steps[0].graphs
    except NotUnderstood:
        graphs = parse_expression(tokens)
        if not graphs or not _says_something(graphs[0]):
            raise
    if not graphs:
        raise NotUnderstood(f'"{shown(text)}" names nothing to look up; {EXAMPLE}')
    return graphs


def phrase_graphs(text: str) -> tuple[QueryGraph, ...]:
    """Readings of a noun phrase; where the grammar knows none, its last word is the category."""
    try:
        return parse_query(text)
    except DirectiveError:
        words = text.split()
        return (QueryGraph((QueryVariable(text, words[-1]),)),) if words else ()


def _task_of(tokens: list[str], text: str) -> Directive:
    """The task of a text that must name something. A question moves nothing, so it may forbid motion."""
    try:
        return _read(tokens, text)
    except StopRequested:
        raise NotUnderstood(f'"{shown(text)}" names nothing to look up; {EXAMPLE}') from None


def _says_something(graph: QueryGraph) -> bool:
    """Whether a graph has a noun that is known, or relates its target to one."""
    lexicon = load_lexicon()
    return any(lexicon.known_suffix(variable.category.split()) for variable in graph.variables)


def _tokens(text: str) -> list[str]:
    if not "".join(c for c in text if c.isprintable()).strip():
        raise EmptyDirective(f"the directive is empty; {EXAMPLE}")
    if len(text) > MAX_CHARACTERS:
        raise NotUnderstood(
            f"the directive has {len(text)} characters, at most {MAX_CHARACTERS} are read; {EXAMPLE}"
        )
    tokens = tokenise(text)
    if not tokens:
        raise NotUnderstood(f'there are no words in "{shown(text)}"; {EXAMPLE}')
    return tokens


class _DirectiveParser(AlternativesParser, ConstraintParser):
    """One pass over the tokens of a directive."""

    def __init__(self, tokens: list[str], text: str) -> None:
        super().__init__(tokens, text)
        self._steps: list[_Step] = []
        self._stops = False

    def parse(self) -> Directive:
        while True:
            linked = self._skip_links()
            if self.done:
                break
            if self._take_stop():
                continue
            before = self.position
            self._step(linked)
            if self.position == before:
                raise self._not_understood()
        try:
            return self._assemble()
        except OutOfBounds as error:
            raise self._not_understood(str(error)) from None

    def _not_understood_from(self, start: int) -> NotUnderstood:
        """That the words from token `start` to the next separator say nothing that is understood."""
        if not self._steps and not self._constraints:
            return self._not_understood()
        end = start + 1
        while end < len(self.tokens) and self.tokens[end] != SEPARATOR:
            end += 1
        said = shown(" ".join(self.tokens[start:end]))
        strange = {*self.words.closed, *self.words.pronouns}
        named = end - start <= 2 and self.tokens[start] not in strange and not self._ends_phrase(start)
        hint = f'; if it is a thing, say "the {said}"' if named else ""
        return self._not_understood(f'what to make of "{said}" is not known{hint}')

    def _skip_links(self) -> bool:
        """Past separators, "then", politeness and fillers; whether a step without a verb may stand here."""
        words = self.words
        linked, moved = self.position == 0, True
        while moved and not self.done:
            joined = self.take_word({SEPARATOR, *words.conjunctions}) or self.take(words.then) is not None
            linked = linked or joined
            moved = (
                joined
                or self.take_word(words.constraint_links)
                or self.take_unless_verb(words.polite)
                or self.take_unless_verb(words.fillers)
                or self.take(words.asides) is not None
            )
            if self.take(words.purposes) is not None:
                self.skip_to_separator()
                moved = True
        return linked

    def _step(self, linked: bool) -> None:
        if self._take_distance_constraint():
            return
        match = self.words.verbs.match(self.tokens, self.position)
        if match is None:
            if self.peek() in _OVERRIDES:
                why = f'"{self.peek()}": what is to be kept away from cannot be lifted, only left out'
                raise self._not_understood(why)
            if not (linked and self._steps and self._goes_back()):
                self._bare_phrase(linked)
            return
        length, kind = match
        verb = " ".join(self.tokens[self.position : self.position + length])
        self.position += length
        self._polite_middle()
        getattr(self, f"_{kind}")(verb)

    def _goes_back(self) -> bool:
        """Take in "then home" and "and back", which need no verb."""
        start = self.position
        if self.take_word({"back"}):
            self.take_word({"to"})
        if self.take_home() or (
            self.position == start + 1 and (self.done or self._ends_phrase(self.position))
        ):
            self._steps.append(_Step(StepKind.RETURN))
            return True
        self.position = start
        return False

    def _take_stop(self) -> bool:
        """Past "stop there", which begins no task and is no thing; a "stop sign" is one."""
        match = self.words.stops.match(self.tokens, self.position)
        if match is None:
            return False
        end = self.position + match[0]
        after = self.tokens[end] if end < len(self.tokens) else SEPARATOR
        if after not in {SEPARATOR, "please", "now", *self.words.conjunctions}:
            return False
        self.position, self._stops = end, True
        return True

    def _polite_middle(self) -> None:
        while self.take_word({"please", "back", "now", "quickly", "carefully", "either"}):
            pass

    def _bare_phrase(self, linked: bool) -> None:
        """A step without a verb begins the directive or follows a link. Its noun is known, or after another step has
        an article or a number. Anything else was not understood, and is not looked for.
        """
        start = self.position
        alternatives = self._of_use(self._noun_phrases()) if linked else ()
        known = any(phrase.is_known or phrase.room is not None for phrase in alternatives)
        if not alternatives or not (known or (self._steps and self._begins_as_thing(start))):
            raise self._not_understood_from(start)
        self._no_thing_of_a_list(start)
        kind = self._steps[-1].kind if self._steps and not self._ends_search(start) else StepKind.FIND
        if kind is StepKind.EXPLORE:
            self._of_everything(start, alternatives[0])
        elif kind is StepKind.LIST:
            described = any(
                phrase.category == GENERIC for phrase in self._steps[-1].target
            )  # as the kitchen is
            kinds = tuple(phrase.in_its_region() for phrase in alternatives) if described else alternatives
            self._steps.append(_Step(kind, kinds))
        else:
            self._steps.append(self._search(alternatives))

    def _no_thing_of_a_list(self, start: int) -> None:
        """Raises NotUnderstood where what stands at token `start` follows things to avoid, and nothing says that it is
        none of them.
        """
        last = max((i for i in range(start) if self.words.verbs.match(self.tokens, i)), default=0)
        if not self._barred_to or last >= self._barred_to:
            return
        if any(self.words.then.match(self.tokens, i) is not None for i in range(self._barred_to, start)):
            return
        said = shown(" ".join(self.tokens[start : start + 4]))
        raise self._not_understood(f'"{said}" follows what is to be avoided; say "find" or "avoid" before it')

    def _begins_as_thing(self, start: int) -> bool:
        """Whether an article, a number or "until you find" says that a thing is named at token `start`."""
        words, tokens = self.words, self.tokens
        numbered = is_number(tokens[start]) or words.numbers.match(tokens, start) is not None
        return numbered or words.determiners.match(tokens, start) is not None or self._ends_search(start)

    def _ends_search(self, start: int) -> bool:
        """Whether a link such as "to find" or "until you see" stands before token `start`."""
        return start > 0 and self.tokens[start - 1] in ("find", "for", "see")

    def _find(self, verb: str) -> None:
        if verb.endswith("to") and self.take_home():
            self._steps.append(_Step(StepKind.RETURN))
            return
        alternatives = self._noun_phrases()
        if not alternatives:
            raise self._not_understood(f'"{verb}" what?')
        self._steps.append(self._search(alternatives))

    def _search(self, alternatives: tuple[NounPhrase, ...]) -> _Step:
        """The step to find one of the alternatives. Raises NotUnderstood where one is no thing, or any thing."""
        alternatives = self._of_use(alternatives)
        if len(alternatives) == 1 and alternatives[0].is_place(self.words.places):
            raise self._not_understood(f'"{alternatives[0].phrase}" is not an object')
        for phrase in alternatives:
            if phrase.is_anything and not phrase.relations and phrase.determiner not in _POINTING:
                raise self._not_understood("any thing at all would do; say what kind of thing")
        return _Step(StepKind.FIND, tuple(a.in_its_region() for a in alternatives))

    def _of_use(self, alternatives: tuple[NounPhrase, ...]) -> tuple[NounPhrase, ...]:
        """The alternatives, or for "something to sit on in the kitchen" the kinds of things there that serve for it."""
        match = self.words.purposes.match(self.tokens, self.position)
        kinds = () if match is None else self.words.uses.get(match[1], ())
        if match is None or not kinds or not all(a.category == GENERIC for a in alternatives):
            return alternatives
        self.position += match[0]
        where = self.relations_of(NounPhrase.anything())
        return tuple(
            replace(
                a,
                phrase=a.phrase.removesuffix(GENERIC) + kind,
                category=kind,
                relations=(*a.relations, *where.relations),
            )
            for a in alternatives
            for kind in kinds
        )

    def _find_in(self, verb: str) -> None:
        """After "search": "the kitchen for a mug", "the area", "the red chair"."""
        start = self.position
        place = self.noun_phrase()
        if place is not None and self.take_word({"for"}):
            alternatives = self._noun_phrases()
            if not alternatives:
                raise self._not_understood(f'"{verb}" for what?')
            within = place.as_region()
            if within:
                alternatives = tuple(phrase.related("InRegion", within) for phrase in alternatives)
            self._steps.append(self._search(alternatives))
        elif place is None or self._is_everything(place) or place.room is not None:
            self._of_everything(start, place)
        else:
            self._steps.append(self._search((place,)))

    def _explore(self, verb: str) -> None:
        self._of_everything(self.position, self.noun_phrase())

    def _of_everything(self, start: int, place: NounPhrase | None) -> None:
        """Add the step to explore everything; a single room or thing, read from token `start`, is refused."""
        if place is not None and not self._is_everything(place):
            said = shown(" ".join(self.tokens[start : self.position]))
            raise self._not_understood(f'"{said}" cannot be explored, only everything together')
        self._steps.append(_Step(StepKind.EXPLORE))

    def _is_everything(self, place: NounPhrase) -> bool:
        """Whether it means the whole place that the robot is in, as "the whole building" and "the office" do."""
        words = self.words
        *before, last = place.category.split()
        while before and last in words.further:
            *before, last = before
        whole = words.places | words.explored
        named = last in whole or " ".join((*before, last)) in whole or (not before and last in words.further)
        described = words.extents.issuperset(before) or " ".join((*before, last)) in whole
        return not place.relations and (place.is_anything or (named and described))

    def _inventory(self, verb: str) -> None:
        alternatives = self._noun_phrases()
        while self.take_unless_verb(self.words.fillers):  # "how many chairs are there in the kitchen"
            pass
        *others, last = alternatives or (NounPhrase.anything(),)
        self._of_inventory(self._with_shared_place((*others, self.relations_of(last))))

    def _describe(self, verb: str) -> None:
        self._of_inventory(tuple(phrase.in_its_region() for phrase in self._noun_phrases()))

    def _inventory_of_place(self, verb: str) -> None:
        related = self.relations_of(NounPhrase.anything())
        filler = self.take_unless_verb(self.words.fillers)
        if related.is_anything and not related.relations and not filler and not related.was_in_place:
            raise self._not_understood()
        self._of_inventory((related,))

    def _of_inventory(self, alternatives: tuple[NounPhrase, ...]) -> None:
        kept = tuple(
            phrase
            for phrase in alternatives
            if not phrase.is_place(self.words.places) and not (phrase.is_anything and not phrase.relations)
        )
        self._steps.append(_Step(StepKind.LIST, kept))

    def _return(self, verb: str) -> None:
        took_to = self.take_word({"to", "from"})
        if self.take_home() or not took_to:
            self._steps.append(_Step(StepKind.RETURN))
            return
        self._find(verb)

    def _assemble(self) -> Directive:
        if not self._steps:
            if self._stops:
                raise StopRequested("a halt and nothing else was asked for")
            if self._constraints:
                raise self._not_understood("it says what to keep away from, but not what to do")
            raise self._not_understood()
        kinds = {step.kind for step in self._steps}
        if StepKind.FIND in kinds or StepKind.LIST in kinds:
            kinds.discard(StepKind.EXPLORE)  # both explore as far as they must
        steps = [step for step in self._steps if step.kind in kinds]
        once = (StepKind.EXPLORE, StepKind.RETURN)  # said twice they mean no more
        steps = [s for i, s in enumerate(steps) if s.kind not in once or not i or steps[i - 1].kind != s.kind]
        tasks = tuple(self._task(step) for step in steps)
        constraints = tuple(self._constraint(text) for text in self._constraints)
        both = contradiction(tasks, constraints)
        if both:
            raise self._not_understood(why_contradictory(both))
        return Directive(self._text, tasks, constraints)

    def _task(self, step: _Step) -> Step:
        if not step.target:
            return Step(step.kind)
        if min(phrase.count for phrase in step.target) < 1:
            raise OutOfBounds("it asks for none of a thing; ask for one at least")
        readings = tuple(to_graphs(phrase) for phrase in step.target)
        return Step(step.kind, Item(readings, count=max(phrase.count for phrase in step.target)))

    def _constraint(self, text: str) -> Constraint:
        graphs = phrase_graphs(text)
        room = self.lexicon.room_in(graphs[0].target.category or text)
        if room is None:
            return Constraint(ConstraintKind.KEEP_AWAY, Item((graphs,)), self._distance_of(text))
        graph = QueryGraph((QueryVariable(graphs[0].target.phrase, room),))
        return Constraint(ConstraintKind.STAY_OUT, Item(((graph,),)))
