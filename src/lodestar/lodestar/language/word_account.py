"""Check that every content word of a text became part of the directive.

It compares the text's words with the finished directive. It reports words for objects, places or acts that no
part of the directive contains, and object names with words that no name contains.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from lodestar.language.clause_words import plain_verb
from lodestar.language.directive import Directive
from lodestar.language.lattice import VERBS, is_open
from lodestar.language.noun_words import describes, is_level, is_place, singular
from lodestar.language.prohibitions import graph_words, word_forms
from lodestar.language.query_graph import QueryGraph
from lodestar.language.sentence_tokens import COMMA, QUESTION, STOP, tokens_of
from lodestar.language.spelling import is_known
from lodestar.language.verb_forms import IRREGULAR
from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.lexicon import load_lexicon
from lodestar.models.wordnet import load_wordnet

_ENDS = frozenset({COMMA, STOP, QUESTION})
#: Tables of nouns for objects and places, and of nouns for parts or measures of them.
_THINGS = frozenset(
    {"PLACE_KINDS", "PLACE_NOUNS", "THING_NOUNS", "PAIRED", "PARTS_OF_THINGS", "PASSAGES", "DOORS", "CLOTHES",
     "WAYS", "ABSTRACT", "USES"}
)  # fmt: skip
_PARTS = frozenset({"SPOTS", "SPOT_WORDS", "MEASURES", "NO_TARGET", "LEVELS", "UNITS", "WHOLE"})
#: Tables of descriptive words.
_LOOKS = frozenset({"STATE", "NUMBER", "ORDINAL", "SINGLE", "MEASURED", "SUPERLATIVE"})
_BEFORE_NAMES = frozenset({"DET", "REL", "TO", "OF", "WITH"})
_USED = re.compile(r" to | that | where ")  # words of a purpose: "a chair that I can sit on"
_NAMELESS = frozenset({"spot", "object", "you"})  # categories without a proper name
_MODALS = frozenset({"must", "could", "would", "should", "shall", "as", "so"})


def unread_words(
    tokens: Sequence[str], directive: Directive, passed: Iterable[QueryGraph] = (), spared: Iterable[str] = ()
) -> tuple[str, ...]:
    """Return the words that name or request something and that no part of the directive contains, in order.

    A name must occur in an object, a room or an attribute of some step or constraint; a verb may also occur
    in a question or an `unable` request. passed: objects that the robot only passes or leaves. spared:
    clauses whose words are not checked.
    """
    tokens = list(tokens)
    spared_words = (word for text in spared for word in text.split())
    passed_words = (word for graph in passed for word in graph_words(graph))
    names = _all_forms((*_named(directive), *spared_words, *passed_words))
    acts = names | _all_forms(_said(directive))
    return tuple(
        tokens[i]
        for i in _open_places(tokens)
        if ((_is_name(tokens[i]) or _is_strange(tokens, i)) and names.isdisjoint(word_forms(tokens[i])))
        or (_is_act(tokens[i]) and acts.isdisjoint(word_forms(tokens[i])))
    )


def _all_forms(words: Iterable[str]) -> frozenset[str]:
    return frozenset(form for word in words for form in word_forms(word))


def _open_places(tokens: Sequence[str]) -> Iterator[int]:
    """Yield the positions of content words: words in no phrase of the tables of function words."""
    vocabulary, i = load_vocabulary(), 0
    while i < len(tokens):
        matches = vocabulary.matches(tokens, i)
        framed = max((length for table, (length, _) in matches.items() if table not in _THINGS), default=0)
        whole = vocabulary.is_in("WHOLE", load_lexicon().singular(tokens[i]))
        if not framed and not whole and tokens[i].isalpha() and len(tokens[i]) > 1:
            yield i
        i += max(framed, 1)


def _is_strange(tokens: Sequence[str], i: int) -> bool:
    """Return whether an unknown word is the last word of a name: "the zorkmid"."""
    if is_known(tokens[i]) or not i or (i + 1 < len(tokens) and is_open(tokens, i + 1)):
        return False
    before = load_vocabulary().matches(tokens, i - 1).keys()
    return is_open(tokens, i - 1) or not before.isdisjoint(_BEFORE_NAMES)


@lru_cache(maxsize=4096)
def _is_name(word: str) -> bool:
    """Return whether a word is only the name of an object or a place."""
    lexicon, wordnet, one = load_lexicon(), load_wordnet(), load_lexicon().singular(word)
    if lexicon.canonical(word) or lexicon.room(word) or is_place(one):
        return True
    if lexicon.attribute(word) or describes(word) or word.endswith("ly"):
        return False
    return wordnet.is_noun(one) and not wordnet.is_verb(plain_verb(one))


@lru_cache(maxsize=4096)
def _is_act(word: str) -> bool:
    """Return whether a word is a verb that requests an act."""
    return load_wordnet().is_verb(word) and not load_lexicon().attribute(word) and not describes(word)


def _named(directive: Directive) -> Iterator[str]:
    """Yield the words of the objects, rooms and attributes in a directive."""
    for graph in _graphs(directive):
        yield from graph_words(graph)
    for step in directive.steps:
        for predicate in step.asked:
            yield from tokens_of(predicate.value)
        if step.scope.level is not None:
            yield from ("level", "floor", "story", "storey", "ground")


def _said(directive: Directive) -> Iterator[str]:
    """Yield the speaker's words that a directive stores unchanged."""
    for step in directive.steps:
        for text in (*step.unable, step.question):
            yield from tokens_of(text)


def _graphs(directive: Directive) -> Iterator[QueryGraph]:
    """Yield every query graph in a directive."""
    for step in directive.steps:
        yield from step.scope.rooms
        yield from () if step.scope.around is None else (step.scope.around,)
        for item in (step.item, *step.stops):
            if item is not None:
                yield from item.graphs
                yield from item.excluded
    for constraint in directive.constraints:
        yield from constraint.item.graphs


def odd_names(tokens: Sequence[str], directive: Directive) -> tuple[str, ...]:
    """Return names in the directive that were probably read wrong: those with a word that cannot be part of a name,
    such as "so", and verbs that were taken for objects.
    """
    quoted = {word for token in tokens if " " in token for word in token.split()}
    found: dict[str, None] = {}
    for graph in _graphs(directive):
        for variable in graph.variables:
            names = [] if variable.category in _NAMELESS else variable.phrase.split(" of ")
            for name in filter(None, (_USED.split(part)[0].split() for part in names)):
                if quoted.isdisjoint(name) and (not _may_be_name(name) or _is_filler(tokens, name)):
                    found[" ".join(name)] = None
        for predicate in graph.predicates:
            if predicate.negated and predicate.name == "HasAttribute" and not _may_be_lacked(predicate.value):
                found[predicate.value] = None
    for step in directive.steps:
        for graph in () if step.item is None else step.item.best:
            name = graph.target.phrase.split(" of ")[0].split()
            if graph.target.category not in _NAMELESS and _opens_as_order(
                tokens, name, len(directive.steps) > 1
            ):
                found[" ".join(name)] = None
    return tuple(found)


def _may_be_lacked(text: str) -> bool:
    """Return whether "with no TEXT" can describe an object: "with no detour" describes the route instead."""
    words = text.split()
    if load_lexicon().known_suffix(words) or describes(words[-1]) or not _may_be_name(words):
        return bool(words) and _may_be_name(words)
    tables = load_vocabulary().matches((words[-1],), 0).keys()
    return not tables.isdisjoint(_THINGS | _LOOKS) or not load_wordnet().is_verb(singular(words[-1]))


def _opens_as_order(tokens: Sequence[str], name: Sequence[str], is_one_of_many: bool) -> bool:
    """Return whether a name without an article opens a longer clause and may be its verb or subject: "nip
    into".
    """
    i = next((k for k in range(len(tokens)) if tokens[k] == name[0]), -1)
    end = i + len(name)
    if i < 0 or (i and tokens[i - 1] not in _ENDS) or end >= len(tokens) or tokens[end] in _ENDS:
        return False
    lexicon, wordnet, first = load_lexicon(), load_wordnet(), name[0]
    if (
        lexicon.known_suffix(list(name))
        or lexicon.canonical(first)
        or lexicon.attribute(first)
        or is_place(name[-1])
    ):
        return False
    if _is_somebody(first) or wordnet.is_mostly_verb(first):
        return True
    described = load_vocabulary().matches(tokens, end).keys() & {"REL", "WITH", "THAT", "AND", "OR", "OF"}
    return not described and (is_one_of_many or wordnet.is_verb(first))


def _is_filler(tokens: Sequence[str], name: Sequence[str]) -> bool:
    """Return whether a name is, with its article, a filler phrase: "a bit" of "move a bit to the left"."""
    vocabulary = load_vocabulary()
    for i in range(1, len(tokens)):
        filler = (
            vocabulary.match("FILLER", tokens, i - 1)
            if list(tokens[i : i + len(name)]) == list(name)
            else None
        )
        if filler is not None and filler[0] == 1 + len(name):
            return True
    return False


def _may_be_name(name: Sequence[str]) -> bool:
    """Return whether the words are a noun with its modifiers."""
    lexicon, vocabulary = load_lexicon(), load_vocabulary()
    if len(name) > 1 and vocabulary.is_in("PARTICLE", name[-1]) and _is_noun(name[-2]):
        return lexicon.canonical(" ".join(name)) is not None  # "back" is an adverb in "globe back"
    length = lexicon.known_suffix(list(name)) or 2 * is_level(name)
    if (
        lexicon.room(" ".join(name))
        or load_wordnet().is_noun(" ".join(name))
        or vocabulary.is_in("PLACE_NOUNS", *name)
    ):
        return True
    if not length and not _may_be_head(name):
        return False
    return all(map(_may_describe, name[: len(name) - (length or 1)]))


def _may_be_head(name: Sequence[str]) -> bool:
    """Return whether the last word of a name is a noun, as far as any dictionary knows it."""
    wordnet, word = load_wordnet(), name[-1]
    if _is_somebody(word):
        return len(name) == 1  # "somewhere" is no noun in "badge somewhere"
    if len(name) > 1 and load_lexicon().known_suffix(list(name[:-1])):
        tables = load_vocabulary().matches((word,), 0).keys()
        if wordnet.is_mostly_verb(word) and not tables.isdisjoint(VERBS):
            return False  # "stop" is a verb in "jar stop"
    if is_place(word) or describes(word):
        return True
    if _is_frame(word):
        return False
    return _is_noun(word) or not (wordnet.is_verb(plain_verb(word)) or word in IRREGULAR)


@lru_cache(maxsize=4096)
def _may_describe(word: str) -> bool:
    """Return whether a word can stand before a noun and describe it."""
    lexicon = load_lexicon()
    if lexicon.attribute(word) or describes(word) or lexicon.canonical(word) or lexicon.room(word):
        return True
    if word.endswith("ly"):
        return True  # adverbs, as in "a closely packed shelf"
    if _is_frame(word) or _is_somebody(word):
        return False
    return _is_noun(word) or load_vocabulary().matches((word,), 0).keys().isdisjoint(VERBS)


def _is_noun(word: str) -> bool:
    """Return whether WordNet has the word as a noun."""
    wordnet, one = load_wordnet(), load_lexicon().singular(word)
    return wordnet.is_noun(one) or any(wordnet.verbs.get(form, (0, -1))[1] >= 0 for form in (word, one))


def _is_somebody(word: str) -> bool:
    vocabulary = load_vocabulary()
    return vocabulary.is_in("SOMEONE", word) or vocabulary.is_in("ANYTHING", word)


@lru_cache(maxsize=4096)
def _is_frame(word: str) -> bool:
    """Return whether a word is a function word and neither a noun nor an attribute."""
    if word in _MODALS:
        return True
    tables = load_vocabulary().matches((word,), 0).keys()
    if not tables.isdisjoint(_THINGS | _PARTS | _LOOKS) or word.endswith(("ing", "ed")):
        return False
    wordnet = load_wordnet()
    is_noun = wordnet.is_noun(word) or (_is_noun(word) and not wordnet.is_mostly_verb(word))
    return bool(tables) and not is_noun
