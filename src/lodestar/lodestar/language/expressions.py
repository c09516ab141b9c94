"""Referring expressions as people write them: several clauses, a viewpoint, pronouns, words no table knows.

"If you are facing the bed, it's the lamp on the left. It is next to the door." Every clause adds to the one phrase
that is meant; what stands before it and what it is out of only help to tell what that is. Words that say nothing here
are passed over, so any sentence with a noun has a reading.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from lodestar.language.noun_phrases import NounPhrase, Viewpoint, to_graphs
from lodestar.language.phrase_parser import PARTS, NounPhraseParser
from lodestar.language.query_graph import QueryGraph
from lodestar.language.words import SEPARATOR, load_words
from lodestar.models.lexicon import load_lexicon

INTRODUCTIONS = ("there is", "there are", "there's")
DOOR = NounPhrase("door", "door")


@dataclass
class _Reading:
    """What the clauses so far have said."""

    target: NounPhrase | None = None
    pending: list[NounPhrase] = field(default_factory=list)  # said of the target before it was named
    group: NounPhrase | None = None  # what it is out of
    towards: NounPhrase | None = None
    at: NounPhrase | None = None
    is_introduced: bool = False  # "there is a shelf": perhaps only to say where the one meant is


def is_sentence(tokens: list[str]) -> bool:
    """Whether the tokens need reading clause by clause: no verb of a directive begins them, or they have a
    viewpoint, a pronoun or more than one clause.
    """
    words = load_words()
    if words.verbs.match(tokens, 0) is None and words.polite.match(tokens, 0) is None:
        return "or" not in tokens
    if any(words.frames.match(tokens, i) and tokens[i] not in ("from", "face") for i in range(len(tokens))):
        return True
    if any(words.partitives.match(tokens, i) for i in range(len(tokens))):
        return True
    return any(token in ("it's", "its", "it", "is", "has") for token in tokens)


def parse_expression(tokens: list[str]) -> tuple[QueryGraph, ...]:
    """Readings of the tokens of a referring expression, best first; none where no thing is named.

    Raises NotUnderstood past the most variables that a graph may have.
    """
    parser = _ExpressionParser(tokens)
    target, viewpoint = parser.parse()
    if target is None:
        return ()
    return to_graphs(target, viewpoint)


class _ExpressionParser(NounPhraseParser):
    """One pass over the clauses of a sentence."""

    robust = True

    def __init__(self, tokens: list[str]) -> None:
        super().__init__(tokens)
        self._said = _Reading()
        self._clause_start = True
        self._in_frame = False  # reading what is faced or stood at

    def parse(self) -> tuple[NounPhrase | None, Viewpoint | None]:
        """The phrase that is meant and the viewpoint."""
        while not self.done:
            before = self.position
            if self.take_word({SEPARATOR}):
                self._clause_start = True
                continue
            if not self._clause() or self.position <= before:
                self.position = before + 1  # a word that says nothing here
        return self._assembled()

    def _clause(self) -> bool:
        """Take in what begins here; False where nothing known does."""
        may_frame = self._clause_start or self._said.target is not None or self._at_strong_frame()
        if may_frame and self._frame():
            return True
        if self._exclusion() or self._partitive():
            return True
        noun = self._noun_length(self.position) > 1
        if not noun and self._said_of_target():
            return True
        if not noun and (opener := self.take(self.words.openers)) is not None:
            if self._said.target is None:
                self._said.is_introduced = opener in INTRODUCTIONS
            return True
        return self._named()

    def _at_strong_frame(self) -> bool:
        match = self.words.frames.match(self.tokens, self.position)
        return match is not None and match[0] > 1

    def _frame(self) -> bool:
        start = self.position
        match = self.words.frames.match(self.tokens, start)
        relation = self.words.relations.match(self.tokens, start)
        single = self.words.single_out.match(self.tokens, start)
        if match is None or any(other is not None and other[0] > match[0] for other in (relation, single)):
            return False
        said = self._said
        if relation is not None and not self._clause_start and not self._has_side(said.target):
            return False  # "the desk facing the window"
        self.position += match[0]
        thing = self._viewed_thing()
        if match[1] == "enter":
            said.at = said.at or DOOR
        elif thing is None:
            self.position = start
            return False
        elif match[1] == "towards":
            said.towards = thing
        else:
            said.at = thing
        self._clause_start = True  # a second one may follow: "from the door facing the window"
        return True

    def _one_relation(self, phrase: NounPhrase) -> NounPhrase | None:
        """As the base's, but a viewpoint that is set off, or that follows a side, is none."""
        set_off = self.peek() in (SEPARATOR, "and", "while", "when")
        match = self.words.frames.match(self.tokens, self.position + set_off)
        if match is not None and self._in_frame:
            return None
        if match is not None and match[1] != "at" and (set_off or match[0] > 1 or self._has_side(phrase)):
            return None
        return super()._one_relation(phrase)

    def _ends_phrase(self, i: int) -> bool:
        match = self.words.frames.match(self.tokens, i)
        if (match is not None and match[0] > 1) or self.tokens[i] in self.words.imperatives:
            return True
        return super()._ends_phrase(i)

    def _viewed_thing(self) -> NounPhrase | None:
        """What is faced: its own relations only where they are not sides."""
        self._in_frame = True
        thing = self.noun_phrase()
        self._in_frame = False
        if thing is None or thing.is_place(self.words.places) or thing.category == "middle":
            return None if thing is None else NounPhrase("center", "center")
        sides = tuple(r for r in thing.relations if not r.anchors)
        if sides:  # "facing the desk on the left": it is the target that is on the left
            self._said.pending.append(replace(NounPhrase.anything(), relations=sides))
            kept = tuple(r for r in thing.relations if r.anchors)
            thing = replace(thing, relations=kept)
        return thing

    @staticmethod
    def _has_side(phrase: NounPhrase | None) -> bool:
        return phrase is not None and any(not r.anchors for r in phrase.relations)

    def _exclusion(self) -> bool:
        """Past "not the white one", which denies what it says where it says an attribute."""
        start = self.position
        if self.take(self.words.exclusions) is None:
            return False
        said = self._said
        if self.words.relations.match(self.tokens, self.position) is not None or self._is_single(
            self.position
        ):
            self.position = start
            grown = self._one_relation(said.target or NounPhrase.anything())
            if grown is None:
                self.position = start + 1
                return True
            self._put(grown)
            return True
        other = self.noun_phrase()
        if other is None:
            self.position = max(self.position, start + 1)
            return True
        denied = tuple((a, not d) for a, d in other.attributes)
        relations = tuple(replace(r, negated=not r.negated) for r in other.relations)
        phrase = said.target or NounPhrase.anything()
        if len(denied) + len(relations) == 1 and self._same_kind(other):
            phrase = replace(
                phrase,
                attributes=(*phrase.attributes, *denied),
                relations=(*phrase.relations, *relations),
            )
            self._put(phrase)
        return True

    def _is_single(self, position: int) -> bool:
        return self.words.single_out.match(self.tokens, position) is not None

    def _partitive(self) -> bool:
        """ "of the two lamps": what the one meant is out of."""
        start = self.position
        if self.take(self.words.partitives) is None:
            return False
        self.position -= 1 if self.tokens[self.position - 1] in ("the", "these") else 0
        group = self.noun_phrase()
        if group is None:
            self.position = start
            return False
        self._said.group = group
        if group.relations and self._said.target is None:
            self._said.pending.append(replace(NounPhrase.anything(), relations=group.relations))
        self._clause_start = False
        return True

    def _said_of_target(self) -> bool:
        """A relation or a place of the target, without a noun of its own."""
        start = self.position
        relation = self.words.relations.match(self.tokens, start)
        bare = relation is None or relation[0] == 1
        if self._said.target is None and bare and self.tokens[start] in self.words.superlatives:
            return False  # "closest towel to the left"
        if relation is None and not self._is_single(start):
            return False
        phrase = self._said.target or NounPhrase.anything()
        grown = self._one_relation(phrase)
        if grown is None:
            self.position = start
            return False
        self._put(grown)
        return True

    def _put(self, phrase: NounPhrase) -> None:
        if self._said.target is not None:
            self._said.target = phrase
        else:
            self._said.pending.append(phrase)
        self._clause_start = False

    def _named(self) -> bool:
        phrase = self.noun_phrase()
        if phrase is None:
            return False
        said = self._said
        self._clause_start = False
        if said.target is None:
            if self.lexicon.is_generic(phrase.category) or not self._is_thing(phrase):
                said.pending.append(phrase)
            else:
                said.target = phrase
        elif self._same_kind(phrase):
            said.target = _joined(said.target, phrase)
        elif said.is_introduced and phrase.determiner == "the" and self._is_thing(phrase):
            said.target, said.is_introduced = phrase, False
        return True

    def _is_thing(self, phrase: NounPhrase) -> bool:
        if phrase.is_place(self.words.places) or phrase.category.split(" ")[0] in PARTS:
            return False
        return phrase.category not in self.lexicon.structure

    def _same_kind(self, phrase: NounPhrase) -> bool:
        if self.lexicon.is_generic(phrase.category):
            return True
        target = self._said.target
        if target is None:
            return True
        one, other = self.lexicon.canonical(phrase.category), self.lexicon.canonical(target.category)
        if one is None or other is None:
            return phrase.category == target.category
        return one == other or one in self.lexicon.wider(other) or other in self.lexicon.wider(one)

    def _assembled(self) -> tuple[NounPhrase | None, Viewpoint | None]:
        said = self._said
        target = said.target
        if target is None:
            named = [p for p in said.pending if not self.lexicon.is_generic(p.category) and self._is_thing(p)]
            target = named[0] if named else said.group
            if target is None and said.towards is not None:  # "facing the windows, the left one"
                kind = NounPhrase(said.towards.category, said.towards.category)
                target = kind if said.pending else said.towards
        if target is None:
            anchored = [p for p in said.pending if p.relations or p.attributes]
            if not anchored:
                return None, None
            target = NounPhrase.anything()
        for phrase in said.pending:
            if phrase is not target:
                target = _joined(target, phrase)
        if said.towards is None and said.at is None:
            return target, None
        return target, Viewpoint(said.towards, said.at)


def _joined(target: NounPhrase, more: NounPhrase) -> NounPhrase:
    """The target with what is said of it elsewhere; the same thing is kept once."""
    relations = tuple(r for r in more.relations if r not in target.relations)
    attributes = tuple(a for a in more.attributes if a not in target.attributes)
    wider = load_lexicon()
    category = target.category
    if wider.is_generic(category) and not wider.is_generic(more.category):
        category = more.category
    return replace(
        target,
        category=category,
        relations=(*target.relations, *relations),
        attributes=(*target.attributes, *attributes),
        ordinal=target.ordinal or more.ordinal,
    )
