"""Check that every prohibition of a text became a constraint, an exclusion or a negated attribute of the
directive.

It compares the text's words with the finished directive, so it works for every parser.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from lodestar.language.clause_starts import begins
from lodestar.language.clause_words import plain_verb
from lodestar.language.directive import Directive, StepKind
from lodestar.language.items import Item
from lodestar.language.lattice import is_open
from lodestar.language.motion_limits import motion_limits
from lodestar.language.query_graph import Predicate, QueryGraph
from lodestar.language.sentence_tokens import COMMA, QUESTION, STOP
from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.lexicon import load_lexicon
from lodestar.models.wordnet import load_wordnet

_ENDS = frozenset({STOP, QUESTION})
_POINTING = frozenset({"it", "them", "him", "her", "there", "that", "this", "these", "those", "one", "ones"})
_TELLERS = frozenset({"i", "we", "he", "she", "they"})
_TELLS = frozenset(
    {"do", "does", "did", "can", "could", "have", "has", "had", "am", "is", "are", "was", "were", "will"}
)
_WISHES = frozenset(
    {"want", "like", "wish", "allow", "let", "need", "permit", "care", "you", "robot", "your"}
)
# words that deny, in questions and in requests that cannot be fulfilled
_DENIES = frozenset({"not", "no", "never", "none", "nothing", "without"})
_MOST_OF_A_WISH = 3  # most words of a wish: "not want you"
# words that forbid an act in "-ing"; "not wearing a hat" describes
_FORBID_ACTS = frozenset({"without", "never", "no"})
# tables before "no": "is there no", "with no"
_HAVING = ("IS", "HAS", "WITH", "THERE", "THERE_IS", "SEE_NOW", "FIND")
_JOINED = frozenset({"but", "and", COMMA})
_ALTERNATIVES = frozenset({"or", "nor"})
_LEAVING = frozenset({"leave", "leaving", "let"})
_MOST_LEFT = 8  # most words between "leave" and "alone"
_AFTER_TELLER = 4  # most words from the teller to the denial: "I could not"


@dataclass(frozen=True)
class Prohibition:
    """Words [start, end) of a text that forbid or exclude. after: words that may name the forbidden object;
    before: the same if the object comes first ("the kitchen is off limits").
    """

    start: int
    end: int
    said: str
    after: tuple[str, ...]
    before: tuple[str, ...] = ()


def prohibitions(tokens: Sequence[str]) -> tuple[Prohibition, ...]:
    """Return the prohibitions in the words of a text, in order, without idioms that forbid nothing."""
    tokens = list(tokens)
    spans = list(_spans(tokens))
    found = []
    for i, (start, end, is_behind) in enumerate(spans):
        stop = spans[i + 1][0] if i + 1 < len(spans) else len(tokens)
        after = tuple(tokens[end:stop])
        begin = spans[i - 1][1] if i else 0
        before = tuple(tokens[begin:start]) if is_behind else ()
        found.append(Prohibition(start, end, " ".join(tokens[start : min(end + 3, stop)]), after, before))
    return tuple(found)


def unaccounted(
    tokens: Sequence[str], directive: Directive, obeyed: Iterable[str] = ()
) -> tuple[Prohibition, ...]:
    """Return the prohibitions that the directive does not contain. obeyed: clauses that the robot obeys
    anyway, such as "do not pick up the vase" for a robot without arms.
    """
    tokens = list(tokens)
    found = prohibitions(tokens)
    if not found:
        return ()
    kept, barred = _kept_words(directive), _barred_words(directive)
    limits = motion_limits(tokens)
    texts = tuple(f" {text} " for text in obeyed)
    unkept = [
        one
        for one in found
        if not any(limit.start <= one.start < limit.end for limit in limits)
        and not _is_obeyed(one, tokens, texts)
        and not _is_asked(one, tokens, directive)
        and not _is_kept(one, barred if _forbids_act(one) else kept, directive)
    ]
    return (*unkept, *_lost_alternatives(tokens, found, kept), *_lost_before(tokens, found, kept))


def _spans(tokens: list[str]) -> Iterator[tuple[int, int, bool]]:
    """Yield begin and end of each prohibition, and whether its object may be named before it."""
    vocabulary, i = load_vocabulary(), 0
    while i < len(tokens):
        matches = vocabulary.matches(tokens, i)
        idiom = matches.get("FORBIDS_NOTHING", (0,))[0]
        behind = matches.get("PROHIBITED", (0,))[0] or _left_alone(tokens, i)
        length = max(matches.get("PROHIBITS", (0,))[0], behind)
        if idiom and idiom >= length:
            i += idiom
        elif length and not _forbids_nothing(tokens, i):
            yield i, i + length, bool(behind)
            i += length
        else:
            i += max(length, 1)


def _left_alone(tokens: list[str], i: int) -> int:
    """Return the number of words of "alone" or "in peace" after "leave", 0 if none: "leave the dog alone"."""
    match = load_vocabulary().match("ALONE", tokens, i)
    return 0 if match is None or _LEAVING.isdisjoint(tokens[max(0, i - _MOST_LEFT) : i]) else match[0]


def _forbids_nothing(tokens: list[str], i: int) -> bool:
    """Return whether the words at i forbid nothing: "no, go back", or a "not" that only describes."""
    if tokens[i] == "no":
        after = tokens[i + 1 : i + 2]
        return after == [COMMA] or (bool(after) and not after[0].endswith("ing") and begins(tokens, i + 1))
    return tokens[i] in ("not", "never") and _tells(tokens, i)


def _tells(tokens: list[str], i: int) -> bool:
    """Return whether "not" at word i only describes: "I could not see it", "they have never moved"."""
    start = max(0, i - _AFTER_TELLER)
    while any(token in (COMMA, STOP, QUESTION) for token in tokens[start:i]):
        start += 1
    before = tokens[start:i]
    teller = next((k for k, word in enumerate(before) if word in _TELLERS), None)
    if teller is None or not (tokens[i] == "never" or before[-1] in _TELLS):
        return False
    end = next((k for k in range(i, len(tokens)) if tokens[k] in (COMMA, STOP, QUESTION)), len(tokens))
    return _WISHES.isdisjoint(tokens[i:end])


def _is_obeyed(one: Prohibition, tokens: list[str], texts: tuple[str, ...]) -> bool:
    said = f" {' '.join(tokens[one.start : one.end])} "
    follows = [word for word in one.after if word not in (COMMA, *_ENDS)][:2]
    return any(said in text and all(f" {word} " in text for word in follows) for text in texts)


def _is_asked(one: Prohibition, tokens: list[str], directive: Directive) -> bool:
    """Return whether the prohibition is part of a question or of a request that the robot cannot fulfil
    (`unable`), and forbids no motion.
    """
    vocabulary = load_vocabulary()
    first = one.said.split()[0]
    before = tokens[one.start - 1] if one.start else ""
    if first == "no" and vocabulary.matches((before,), 0).keys().isdisjoint(_HAVING):
        return False  # "is the heater on, please no lamp" forbids the lamp
    joined = before in _JOINED
    joined = joined or not _WISHES.isdisjoint(one.after[:_MOST_OF_A_WISH])
    if first not in _DENIES or joined or vocabulary.match("GO_NEAR", one.after, 0) is not None:
        return False
    texts = [
        step.question
        for step in directive.steps
        if step.kind in (StepKind.ASK, StepKind.CHECK) or step.is_remembered
    ]
    texts += [text for step in directive.steps for text in step.unable]
    if one.before:
        return False
    said = " ".join([*one.said.split()[: one.end - one.start], *one.after[:1]])
    return any(f" {said} " in f" {text} " for text in texts)


def _forbids_act(one: Prohibition) -> bool:
    """Return whether the prohibition forbids an act: "without ever touching the rug".

    A negated attribute cannot express such a prohibition.
    """
    lexicon, wordnet, vocabulary = load_lexicon(), load_wordnet(), load_vocabulary()
    for word in one.after if one.said.split()[0] in _FORBID_ACTS else ():
        if word.endswith("ing") and wordnet.is_verb(plain_verb(word)) and not lexicon.canonical(word):
            return True
        named = wordnet.is_noun(lexicon.singular(word)) and not vocabulary.matches((word,), 0)
        if word in _ENDS or named or lexicon.canonical(word) or vocabulary.is_in("DET", word):
            return False
    return False


def _is_kept(one: Prohibition, kept: frozenset[str], directive: Directive) -> bool:
    if not kept:
        return False
    words = [word for word in (*one.after, *one.before) if word not in (COMMA, *_ENDS)]
    if any(not kept.isdisjoint(word_forms(word)) for word in words):
        return True
    about = [word for word in words if is_open(words, words.index(word))]
    if not _POINTING.isdisjoint(words[:6]) or not about:
        return True
    return any(c.distance is not None for c in directive.constraints) and any(w[0].isdigit() for w in words)


def _lost_alternatives(
    tokens: list[str], found: Sequence[Prohibition], kept: frozenset[str]
) -> Iterator[Prohibition]:
    """Yield the prohibitions whose later alternatives are missing in the directive.

    An example is "the bed" of "avoid the sofa or the bed". kept: word forms that the directive forbids,
    excludes or negates.
    """
    for one in found:
        last = None
        for k in range(one.end, one.end + len(one.after)):
            if tokens[k] in _ENDS or (tokens[k] == COMMA and last is not None):
                break
            if tokens[k] in _ALTERNATIVES and last == k - 1:
                named = _named_after(tokens, k + 1)
                if named and all(kept.isdisjoint(word_forms(word)) for word in named):
                    yield one
                    break
            if not kept.isdisjoint(word_forms(tokens[k])):
                last = k


def _lost_before(
    tokens: list[str], found: Sequence[Prohibition], kept: frozenset[str]
) -> Iterator[Prohibition]:
    """Yield the prohibitions whose earlier names are missing in the directive.

    An example is "the hall" of "the hall and the attic are off limits". kept: word forms that the directive
    forbids, excludes or negates.
    """
    for one in found:
        end = one.start - (one.start > 0 and tokens[one.start - 1] in ("are", "is"))
        if not one.before:
            continue
        link = _name_start(tokens, end) - 1
        if link <= 0 or tokens[link] not in ("and", *_ALTERNATIVES):
            continue
        first = _name_start(tokens, link)
        is_list = "are" in tokens[end : one.end] or (
            "is" not in tokens[end : one.end] and (not first or tokens[first - 1] in ("and", COMMA, *_ENDS))
        )
        named = tokens[first:link] if is_list else []
        if named and all(kept.isdisjoint(word_forms(word)) for word in named):
            yield one


def _name_start(tokens: list[str], end: int) -> int:
    """Return the first word of the name that ends before word `end`, its article included."""
    while end > 0 and is_open(tokens, end - 1):
        end -= 1
    vocabulary = load_vocabulary()
    return end - (end > 0 and vocabulary.match("DET", tokens, end - 1) == (1, tokens[end - 1]))


def _named_after(tokens: list[str], k: int) -> list[str]:
    """Return the words of the object named at word k; none if a clause begins there."""
    if begins(tokens, k):
        return []
    vocabulary = load_vocabulary()
    while k < len(tokens) and not is_open(tokens, k):
        if tokens[k] in (COMMA, *_ENDS) or vocabulary.match("MOVE", tokens, k) is not None:
            return []
        k += 1
    words = []
    while k < len(tokens) and is_open(tokens, k):
        words.append(tokens[k])
        k += 1
    return words


def _barred_words(directive: Directive) -> frozenset[str]:
    """Return the forms of every word of the constraints' items, without verbs."""
    words = {word for constraint in directive.constraints for word in _item_words(constraint.item)}
    return frozenset(form for word in words if not _is_act(word) for form in word_forms(word))


def _kept_words(directive: Directive) -> frozenset[str]:
    """Return the forms of every word that is forbidden, excluded or negated in the directive."""
    words: set[str] = set()
    for step in directive.steps:
        graphs: list[QueryGraph] = list(step.scope.rooms)
        for item in (step.item, *step.stops):
            if item is not None:
                graphs += [*item.graphs, *(g for readings in item.alternatives for g in readings)]
                for graph in item.excluded:
                    words |= graph_words(graph)
        for graph in graphs:
            for predicate in graph.predicates:
                if predicate.negated:
                    words |= _predicate_words(graph, predicate)
        for predicate in step.asked:
            if predicate.negated and step.item is not None:
                words |= _predicate_words(step.item.best[0], predicate)
    # The verb of "Do not you dare" is no object to keep away from.
    return _barred_words(directive) | frozenset(form for word in words for form in word_forms(word))


def _is_act(word: str) -> bool:
    lexicon = load_lexicon()
    return load_wordnet().is_mostly_verb(lexicon.singular(word)) and not lexicon.canonical(word)


def _item_words(item: Item) -> set[str]:
    return {word for graph in item.best for word in graph_words(graph)}


def graph_words(graph: QueryGraph) -> set[str]:
    said = [variable.phrase for variable in graph.variables] + [p.value for p in graph.predicates]
    return {word for text in said for word in text.split()}


def _predicate_words(graph: QueryGraph, predicate: Predicate) -> set[str]:
    others = [a for a in predicate.arguments if a or len(predicate.arguments) == 1]
    said = [predicate.value, *(graph.variables[a].phrase for a in others if a < len(graph.variables) and a)]
    return {word for text in said for word in text.split()}


@lru_cache(maxsize=4096)
def word_forms(word: str) -> frozenset[str]:
    """Return a word's forms for comparison: as it is, singular, canonical, and as the base verb."""
    lexicon = load_lexicon()
    forms = {word, lexicon.singular(word), plain_verb(word), lexicon.attribute(word) or word}
    if lexicon.is_generic(word) or load_vocabulary().is_in("ANYTHING", word):
        forms.add("object")
    if load_vocabulary().is_in("HOME", word):
        forms.add("home")
    forms |= {lexicon.canonical(form) or form for form in tuple(forms)}
    forms |= {lexicon.room(form) or form for form in tuple(forms)}
    return frozenset(form for form in forms if form not in ("the", "a", "an", "of", "and"))
