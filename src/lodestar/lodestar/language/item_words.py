"""Items, scopes, poses and graphs in plain English; parsing the words gives the same record."""

from __future__ import annotations

import math

from lodestar.language.directive import EVERY, ROBOT_FRAME, Item, Pose, Scope
from lodestar.language.items import DOWNSTAIRS, EVERY_LEVEL, UPSTAIRS
from lodestar.language.query_graph import Predicate, QueryGraph
from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.english import with_article
from lodestar.models.lexicon import load_lexicon

RELATIONS = {
    "Near": "near",
    "On": "on",
    "Above": "above",
    "Below": "below",
    "NextTo": "next to",
    "Inside": "inside",
    "LeftOf": "to the left of",
    "RightOf": "to the right of",
    "InFrontOf": "in front of",
    "Behind": "behind",
    "Opposite": "opposite",
    "Closest": "closest to",
    "Farthest": "farthest from",
}
_SIDES = {"LeftOf": "on the left", "RightOf": "on the right", "Above": "at the top", "Below": "at the bottom"}
_RANKED = {
    "LeftOf": "from the left",
    "RightOf": "from the right",
    "Above": "from the top",
    "Below": "from the bottom",
}
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def several_words(item: Item | None) -> str:
    """Return all objects of an item in words: "all the red chairs", "everything"."""
    if item is None or not item.alternatives:
        return "everything"
    return _alternatives(item, "all the ")


def item_words(item: Item) -> str:
    """Return an item in words with its article or count: "the mug", "2 chairs"."""
    if not item.alternatives:
        return "this thing"
    article = "all the " if item.count == EVERY else f"{item.count} " if item.count > 1 else "the "
    return _alternatives(item, article)


def _alternatives(item: Item, article: str) -> str:
    said = " or ".join(graph_words(graph, article) for graph in item.best)
    said = f"either {said}" if len(item.best) > 1 else said
    if item.excluded:
        said += " except " + " or ".join(graph_words(graph, "the ") for graph in item.excluded)
    return said


_LEVELS = {UPSTAIRS: " upstairs", DOWNSTAIRS: " downstairs", EVERY_LEVEL: " on every floor"}


def scope_words(scope: Scope, link: str = " in ", joins: str = " or ") -> str:
    """Return a scope in words, "" for an empty one. link: words before the rooms. joins: words between two
    rooms.
    """
    said = ""
    if scope.rooms:
        said = link + joins.join(graph_words(room, "the ") for room in scope.rooms)
    if scope.level is not None:
        said += _LEVELS.get(scope.level) or f" on level {scope.level + 1}"
    if scope.around is not None:
        said += " around " + graph_words(scope.around, "the ")
    return said


def pose_words(pose: Pose) -> str:
    """Return a pose in words: "x = 1, y = 2", or "the point 2 m in front of you" if it is in ROBOT_FRAME."""
    if pose.frame == ROBOT_FRAME:
        return f"the point {_ahead_words(pose)}"
    heading = "" if pose.heading is None else f", heading {number_words(math.degrees(pose.heading))} degrees"
    return f"x = {number_words(pose.x)}, y = {number_words(pose.y)}{heading}"


def _ahead_words(pose: Pose) -> str:
    ahead = f"{number_words(abs(pose.x))} m {'in front of' if pose.x >= 0.0 else 'behind'} you"
    aside = f"{number_words(abs(pose.y))} m to your {'left' if pose.y >= 0.0 else 'right'}"
    return ahead if not pose.y else aside if not pose.x else f"{ahead} and {aside}"


def graph_words(graph: QueryGraph, article: str) -> str:
    """Return a noun phrase: the article, the target with its attributes, then its relations."""
    return _variable(graph, 0, article, {0})


def _variable(graph: QueryGraph, index: int, article: str, named: set[int]) -> str:
    variable = graph.variables[index]
    own = [p for p in graph.predicates if p.arguments[0] == index and p.name != "IsCategory"]
    words = variable.phrase
    after: list[str] = []
    for predicate in own:
        if predicate.name == "HasAttribute":
            if predicate.value not in words.split() and predicate.negated:
                part = not _is_state(predicate.value) and load_lexicon().attribute(predicate.value) is None
                after.append(
                    f"without {with_article(predicate.value)}" if part else f"that is not {predicate.value}"
                )
            elif predicate.value not in words.split():
                after.append(_attribute(predicate.value))
        elif predicate.name == "InRegion":
            after.append(f"{'not ' if predicate.negated else ''}in the {predicate.value}")
        elif len(predicate.arguments) == 1:
            words, said = _singled(predicate, words)
            after += [said] if said else []
        elif variable.phrase.endswith(f" of {graph.variables[predicate.arguments[1]].phrase}"):
            named.update(predicate.arguments)
        elif not set(predicate.arguments[1:]) <= named:
            after.append(relation_words(graph, predicate, named))
    for predicate in graph.predicates:
        if (
            len(predicate.arguments) == 2
            and predicate.arguments[1] == index
            and predicate.arguments[0] not in named
        ):
            named.add(predicate.arguments[0])
            other = _variable(graph, predicate.arguments[0], "a ", named)
            after.append(
                f"{'without' if predicate.negated else 'with'} {other} {RELATIONS[predicate.name]} it"
            )
    if article == "the " and words.startswith("something "):
        article = ""
    several = bool(article) and article not in ("the ", "a ")
    if several and (words in ("object", "thing") or not load_lexicon().is_generic(words)):
        words = plural(words)
    if variable.category == "you":
        return "you"
    return f"{article}{words}".strip() + "".join(
        f" {'and ' if i else ''}{one}" for i, one in enumerate(after)
    )


def _attribute(value: str) -> str:
    """Return an attribute in words: "that is open" for a state, "with a blue cap" for a part."""
    return f"that is {value}" if _is_state(value) else f"with {with_article(value)}"


def _is_state(value: str) -> bool:
    """Return whether a value is a state ("open", "parked") and not a part or garment ("armrest", "red
    shirt").
    """
    first = value.split()[0]
    participle = first.endswith(("ed", "ing")) and load_lexicon().attribute(first) is None
    return load_vocabulary().is_in("STATE", *value.split()) or participle


def _singled(predicate: Predicate, words: str) -> tuple[str, str]:
    if predicate.name in ("Closest", "Farthest"):
        return f"{predicate.name.lower()} {words}", ""
    rank = predicate.side.rank
    if rank > 1:
        ordinal = _ORDINALS[min(rank, 10) - 1]
        said = words if words.startswith(f"{ordinal} ") else f"{ordinal} {words}"
        return said, _RANKED.get(predicate.name, "")
    vocabulary = load_vocabulary()
    told = (vocabulary.match("SINGLE", (word,), 0) for word in words.split())
    if any(found is not None and found[1] == predicate.name for found in told):
        return words, ""  # "the top drawer" already says the side
    return words, _SIDES.get(predicate.name, "")


def relation_words(graph: QueryGraph, predicate: Predicate, named: set[int]) -> str:
    """Return a relation in words, to follow the noun: "next to the desk". named: variables mentioned so far,
    updated.
    """
    others = list(predicate.arguments[1:])
    named.update(others)
    alike = len(others) == 2 and graph.variables[others[0]] == graph.variables[others[1]]
    if alike:
        said = _variable(graph, others[0], "the 2 ", named)
    else:
        said = " and ".join(_variable(graph, other, "the ", named) for other in others)
    link = "between" if predicate.name == "Between" else RELATIONS[predicate.name]
    return f"that is not {link} {said}" if predicate.negated else f"{link} {said}"


def number_words(value: float) -> str:
    """Return the shortest text that parses to the same number."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def plural(words: str) -> str:
    """Return the plural of a noun phrase, formed on its last word before "of"."""
    head, of, rest = words.partition(" of ")
    lexicon = load_lexicon()
    *before, last = head.split(" ")
    irregular = {one: many for many, one in lexicon.irregular_plurals.items()}
    if last in irregular:
        last = irregular[last]
    elif last not in lexicon.unchanging:
        if last.endswith("y") and last[-2:-1] not in "aeiou":
            last = last[:-1] + "ies"
        else:
            last += "es" if last.endswith(("s", "x", "z", "ch", "sh")) else "s"
    return " ".join((*before, last)) + of + rest
