"""Detection of complete readings that are probably wrong: "which object with a been inside it is there"."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from lodestar.language.items import is_open
from lodestar.language.named_nouns import frame_words
from lodestar.language.noun_words import describes, is_place, singular
from lodestar.language.query_graph import QueryGraph
from lodestar.language.question import Occurrence, Question, QuestionKind
from lodestar.language.question_words import attributes, load_question_words
from lodestar.language.spelling import is_known
from lodestar.language.time_windows import TimeWindow
from lodestar.language.verb_forms import IRREGULAR
from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.lexicon import load_lexicon
from lodestar.models.wordnet import load_wordnet

_OCCURRENCES = frozenset({"last", "first"})
_AFTER_VERBS = frozenset({"in", "at", "on", "to", "out", "up", "off", "away"})


def is_doubtful(question: Question) -> bool:
    """Return whether the question names an implausible object or an event that the robot cannot observe."""
    act = question.act
    if act is not None and act.verb not in (_deeds() if act.own else _happenings()):
        return True
    kind, attribute = question.kind, question.attribute
    if kind is QuestionKind.HOW_LONG and question.act is not None and question.act.verb == "pass":
        return True  # "pass" is no act in "how much time did you pass in the kitchen"
    if kind is QuestionKind.ATTRIBUTE and not question.image and attribute not in attributes() - {"kind"}:
        # Doubtful: "what does the office lack", "what is the meeting room"; plain: "what is the brown object".
        return not (attribute == "kind" and _is_described(question))
    if kind is QuestionKind.WHICH and question.item is not None and is_open(question.item):
        return True  # "which object" names no kind
    if kind is QuestionKind.WHICH and question.item is not None and _holds(question):
        return True  # "what piece of furniture carries the lamp" is about On, not Inside
    if any(p.name == "HasAttribute" and not _is_state(p.value) for p in question.asked):
        return True
    items = [item for item in (question.item, question.other) if item is not None]
    return any(_is_odd(graph) for item in items for graph in item.best)


def drops_state(found: Question | None, plain: Question) -> bool:
    """Return whether `found` asks for a state of one word, such as "crowded" in "was the sidewalk crowded", and
    `plain`, another reading of the same text, asks for none.
    """
    if found is None or found.is_partial or not found.asked:
        return False
    states = all(p.name == "HasAttribute" and len(p.value.split()) == 1 for p in found.asked)
    return states and not (plain.asked or plain.act or plain.occurrence is not Occurrence.ANY)


def _holds(question: Question) -> bool:
    """Return whether the question asks for furniture or a surface with something "inside".

    In such a question "inside" usually means "on".
    """
    graphs = question.item.best if question.item is not None else ()
    return any(
        graph.variables[0].category in ("furniture", "surface")
        and any(p.name == "Inside" for p in graph.predicates)
        for graph in graphs
    )


def _is_described(question: Question) -> bool:
    """Return whether the question describes an object only by appearance or place and leaves its kind open:
    "the brown object".
    """
    if question.item is None:
        return False
    graphs = question.item.best
    generic = any(load_lexicon().is_generic(graph.variables[0].category) for graph in graphs)
    return generic and any(p.name != "IsCategory" for graph in graphs for p in graph.predicates)


def is_of_future(words: Sequence[str]) -> bool:
    """Return whether the words ask about the future, which no memory can answer.

    "Will you?" and "will you tell me" are courtesies, and "where will I find" asks for a place.
    """
    return "tomorrow" in words or any(_is_of_future(words, i) for i in range(len(words)))


def _is_of_future(words: Sequence[str], at: int) -> bool:
    after, then = (*words[at + 1 : at + 3], "", "")[:2]
    match words[at]:
        case "will" if after == "you":
            return 0 < at < len(words) - 2 and words[0] in _ASKING_FIRST
        case "will":
            return not (after in _WHO_LOOKS and then in _FINDING)
        case "next":
            return after in _SPANS
        case "going":
            return after == "to" and then in _BEING
    return False


_ASKING_FIRST = frozenset({"when", "where", "what", "how", "which", "who", "why"})
_WHO_LOOKS = frozenset({"i", "we", "one"})
_FINDING = frozenset({"find", "see", "get", "meet"})
_SPANS = frozenset({"hour", "day", "week", "month", "year", "night"})
_BEING = frozenset({"be", "happen", "move", "come", "go", "stand", "see", "do"})


def is_of_capacity(words: Sequence[str]) -> bool:
    """Return whether the words ask for free capacity: "how many more boxes fit", "how many empty slots are
    left".

    The memory counts seen objects, not free space.
    """
    said = set(words)
    if not (("how" in said and said & {"many", "much"}) or said & {"number", "count", "amount"}):
        return False
    more, free = bool(said & _MORE), bool(said & _FREE)
    holds, spots = bool(said & _HOLDING), bool({singular(word) for word in words} & _SPOTS)
    could = bool(said & _COULD) and holds
    return (more and holds) or (spots and (free or "left" in said or more)) or could


_MORE = frozenset({"more", "additional", "extra", "further", "another"})
_FREE = frozenset(
    {"empty", "free", "vacant", "open", "unoccupied", "unused", "spare", "remaining", "remain", "available"}
)
_COULD = frozenset({"can", "could", "may", "might", "would", "should"})
_HOLDING = frozenset({
    "fit", "fits", "hold", "holds", "accommodate", "contain", "carry", "support", "bear", "store", "stored", "stack",
    "stacked", "put", "place", "placed", "take", "add", "added", "load", "loaded",
})  # fmt: skip
_SPOTS = frozenset({"slot", "space", "spot", "place", "position", "room", "bay", "capacity"})


def is_plain_time(window: TimeWindow) -> bool:
    """Return whether every event that limits the time window is an act that the robot does or notices."""
    acts = [event.act for event in window.events]
    return all(act is not None and act.verb in _deeds() for act in acts)


@lru_cache(maxsize=1)
def _deeds() -> frozenset[str]:
    return _happenings() | _values("ACT")


@lru_cache(maxsize=1)
def _happenings() -> frozenset[str]:
    return _values("HAPPEN") | _values("CHANGED_BY")


def _values(table: str) -> frozenset[str]:
    words = load_question_words()
    found = (words.match(table, phrase.split(), 0) for phrase in words.phrases(table))
    return frozenset(str(match[1]) for match in found if match is not None)


def _is_odd(graph: QueryGraph) -> bool:
    if any(_is_no_thing(variable.category) for variable in graph.variables):
        return True
    if any(load_lexicon().is_generic(variable.category) for variable in graph.variables[1:]):
        return True  # a generic anchor, as in "a room with a suitcase inside the object"
    looks = (p.value.split() for p in graph.predicates if p.name == "HasAttribute")
    return any(_is_no_look(words) for words in looks if words)


def _is_state(said: str) -> bool:
    words = said.split()
    return bool(words) and (describes(words[0]) or load_vocabulary().is_in("STATE", *words))


def _is_no_thing(name: str) -> bool:
    words, lexicon = name.split(), load_lexicon()
    if len(words) > 1 and (words[-1] in _OCCURRENCES or _is_done(words[0])):
        return True  # a verb or occurrence read as part of a name: "trash can last", "saw chairs"
    if not words or lexicon.is_generic(name) or lexicon.known_suffix(words) or is_place(name):
        return False
    last = words[-1]
    if any(singular(word) != word and lexicon.canonical(word) for word in words[:-1]):
        return True  # a verb read as a noun: "chairs stands"
    return last in frame_words() or (is_known(last) and not load_wordnet().is_noun(singular(last)))


def _is_done(word: str) -> bool:
    """Return whether the word is a past form of an event verb: "seen", "taken", "put"."""
    found = load_question_words().matches((word,), 0)
    return word in IRREGULAR and not found.keys().isdisjoint(("SEE", "CHANGED_BY", "HAPPEN", "LEFT", "PUT_Q"))


def _is_no_look(words: Sequence[str]) -> bool:
    """Return whether the words state an event or only form the question: "happened", "last seen".

    Such words describe no appearance of an object.
    """
    own = load_question_words()
    if own.match("GONE", words, 0) is not None or (len(words) == 1 and _is_done(words[0])):
        return True
    if describes(words[0]):
        return False
    return words[0] in frame_words() or (
        len(words) > 1 and words[0].endswith("ed") and words[-1] in _AFTER_VERBS
    )
