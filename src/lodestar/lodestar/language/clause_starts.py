"""Tests whether an order, a ban, a statement or a name begins at a given word of a text."""

from __future__ import annotations

from collections.abc import Sequence

from lodestar.language.lattice import VERBS, is_open, known_at, unknown_verb
from lodestar.language.noun_words import is_place
from lodestar.language.sentence_tokens import COMMA, QUESTION, STOP
from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.lexicon import load_lexicon
from lodestar.models.wordnet import load_wordnet

_ORDERS = {
    "before": "before",
    "after": "after",
    "once": "after",
    "until": "until",
    "till": "until",
    "while": "while",
}
SUBJECTS = frozenset({"you", "we", "i", "robot", "it"})
_THEY = frozenset({"it", "they", "he", "she"})
_MOST_LOOKS = 4  # words from "the" to "one" in "the red one"
_BANNING = frozenset(
    {"avoid", "avoiding", "keep", "stay", "steer", "beware", "bypass", "skip", "anywhere", "everywhere", "hands",
     "bypassing", "skipping", "dare"}
)  # fmt: skip
_FEET = (
    "DET",
    "IT",
    "ME",
    "TO",
    "REL",
    "HOME",
    "NUMBER",
    "THERE",
    "HERE",
    "THROUGH",
    "PAST",
    "LEVEL",
    "ABOUT",
)
_MOST_OF_A_BAN = 5  # words of a ban before the forbidden verb
_LAST = frozenset({"and", "or", "nor"})  # words before the last of several names


def remark_on(tokens: list[str], i: int) -> bool:
    """Return whether a remark, a statement about the last noun, begins at word i without a conjunction.

    An example is "they are on the hook" in "find my keys they are on the hook".
    """
    return is_open(tokens, i - 1) and tokens[i] in _THEY and statement_at(tokens, i)


def barred_on(tokens: list[str], i: int) -> bool:
    """Return whether a ban begins at word i without a conjunction: "go to the hall the kitchen is off
    limits".
    """
    if not is_open(tokens, i - 1) or load_vocabulary().match("DET", tokens, i) is None:
        return False
    return barred_at(tokens, i, is_joined=True)


def barred_at(tokens: Sequence[str], i: int, is_joined: bool = False) -> bool:
    """Return whether a ban that begins with names stands at word i: "the kitchen is off limits".

    is_joined: "and" stands before the names, so a singular verb ("is") may apply to the last name alone.
    """
    end = _name_end(tokens, skip(tokens, i, "POLITE"))
    count, is_last = 1, False
    while end and not is_last and end < len(tokens) and tokens[end] in (COMMA, *_LAST):
        comma = tokens[end] == COMMA
        is_last = tokens[end + comma] in _LAST if end + comma < len(tokens) else True
        end, count = _name_end(tokens, end + comma + is_last), count + 1
    if not end or not _off_limits(tokens, end):
        return False
    return count == 1 or (is_last and (not is_joined or tokens[end] == "are"))


def _name_end(tokens: Sequence[str], i: int) -> int:
    """Return the position after the name that begins at word i, 0 if no name begins there."""
    article = load_vocabulary().match("DET", tokens, i)
    start = end = i + (0 if article is None else article[0])
    while end < len(tokens) and is_open(tokens, end):
        end += 1
    return end if end > start else 0


def _off_limits(tokens: Sequence[str], i: int) -> int:
    match = load_vocabulary().match("OFF_LIMITS", tokens, i)
    return 0 if match is None else match[0]


def only_names(tokens: list[str], start: int, end: int) -> bool:
    """Return whether the words are only names: "the kitchen" of "the kitchen and the hall are off limits"."""
    while start < end and not begins(tokens, start):
        name = _name_end(tokens, start)
        if not name:
            return False
        start = name
        while start < end and tokens[start] in (COMMA, *_LAST):
            start += 1
    return start >= end


def names_one(tokens: list[str], i: int) -> bool:
    """Return whether a phrase such as "the red one by the door" stands at word i, which describes an earlier
    noun.
    """
    if tokens[i : i + 1] != ["the"]:
        return False
    k = i + 1
    while k < len(tokens) and tokens[k] not in ("one", "ones") and is_open(tokens, k):
        k += 1
    return tokens[k : k + 1] in (["one"], ["ones"]) and k - i <= _MOST_LOOKS and "and" not in tokens[k:]


def order_at(tokens: list[str], i: int) -> tuple[int, str] | None:
    """Return the length of the conjunction at word i and its link ("before", "after", "until", "while"), or
    None.
    """
    link = _ORDERS.get(tokens[i]) if i < len(tokens) else None
    if link is None or i + 1 >= len(tokens) or tokens[i + 1] in (COMMA, STOP, QUESTION):
        return None
    if load_vocabulary().match("UNTIL_STEP", tokens, i) is not None:
        return None
    if load_vocabulary().match("THEN", tokens, i) is not None or load_vocabulary().match(
        "FOREVER", tokens, i
    ):
        return None
    if link == "until" and not (
        tokens[i + 1] in SUBJECTS or tokens[i + 1].endswith("ing") or begins(tokens, i + 1)
    ):
        return (1, "until") if i else None
    if link == "after" and i and tokens[i - 1] in ("look", "go", "run", "right"):
        return None
    if tokens[i] == "once" and tokens[i + 1] not in SUBJECTS:
        return None
    return 1, link


def begins(tokens: Sequence[str], i: int) -> bool:
    """Return whether a verb, a question or a ban begins at word i, or after polite words at word i."""
    i = skip(tokens, i, "POLITE")
    if i >= len(tokens):
        return False
    if bans(tokens, i):
        return True
    if i and tokens[i] in ("which", "that", "who") and tokens[i - 1] not in (STOP, QUESTION):
        return False
    vocabulary = load_vocabulary()
    matches = vocabulary.matches(tokens, i)
    if known_at(tokens, i) > 1 and not _longer(matches, 1):
        return False
    verbs = [matches[table][0] for table in VERBS if table in matches]
    if verbs:
        return max(verbs) > 1 or not _is_thing(tokens[i]) or _has_foot(tokens, i + 1) or i + 1 >= len(tokens)
    length = unknown_verb(tokens, i)
    return length > 0 and _has_foot(tokens, i + length)


def goes_on(tokens: Sequence[str], i: int) -> bool:
    """Return whether a route continues at word i without a verb: "then to the table"."""
    vocabulary = load_vocabulary()
    tables = ("TO", "THROUGH", "HOME", "BETWEEN", "RETURN")
    if i < len(tokens) and any(vocabulary.match(table, tokens, i) is not None for table in tables):
        return True
    inside = vocabulary.match("TO_BARE", tokens, i)
    return inside is not None and _is_room_at(tokens, i + inside[0])


def _is_room_at(tokens: Sequence[str], i: int) -> bool:
    """Return whether a room is named at word i: "the bathroom" of "and then in the bathroom"."""
    article = load_vocabulary().match("DET", tokens, i)
    start = end = i + (0 if article is None else article[0])
    while end < len(tokens) and is_open(tokens, end):
        end += 1
    return any(is_place(" ".join(tokens[k:end])) for k in range(start, end))


def is_named(tokens: Sequence[str], i: int) -> bool:
    """Return whether a noun phrase may begin at word i."""
    return i < len(tokens) and (load_vocabulary().match("DET", tokens, i) is not None or is_open(tokens, i))


def _longer(matches: dict, than: int) -> bool:
    return any(matches[table][0] > than for table in VERBS if table in matches)


def _is_thing(word: str) -> bool:
    lexicon, wordnet = load_lexicon(), load_wordnet()
    return lexicon.canonical(word) is not None or (wordnet.is_noun(word) and not wordnet.is_mostly_verb(word))


def _has_foot(tokens: Sequence[str], i: int) -> bool:
    """Return whether word i may follow a verb: an article, a number, a pronoun or a place."""
    return i < len(tokens) and not load_vocabulary().matches(tokens, i).keys().isdisjoint(_FEET)


def bans(tokens: Sequence[str], i: int) -> bool:
    """Return whether a ban such as "do not enter", "avoiding" or "keep away from" stands at word i."""
    vocabulary = load_vocabulary()
    if i and tokens[i - 1] in ("that", "which", "who", "i", "we", "they", "to"):
        return False
    match = vocabulary.match("AVOID", tokens, i)
    if match is not None and _off_limits(tokens, i) > match[0]:
        return False  # "the vase must not be touched": the ban begins at the noun
    if match is not None and match[1] == "no" and not "".join(tokens[i + 1 : i + 2]).endswith("ing"):
        match = None
    if match is not None:
        after = i + match[0]
        if vocabulary.match("GO_NEAR", tokens, after) is not None and match[1] not in (
            "mind",
            "ignore",
            "not",
        ):
            return True
        said = str(match[1]).split()
        if len(said) > 2 or not _BANNING.isdisjoint(said):
            return True
        if match[1] == "not" and "".join(tokens[after : after + 1]).endswith("ing"):
            return vocabulary.match("GO_NEAR", tokens, after) is not None
        if match[1] in ("do not", "never") or vocabulary.match("THROUGH", tokens, after) is not None:
            return True
    keep = vocabulary.match("KEEP", tokens, i)
    return keep is not None and keep[1] != "be" and _length_at(tokens, i + keep[0])


def _length_at(tokens: Sequence[str], i: int) -> bool:
    from lodestar.language.lattice import lattice_of

    return i < len(tokens) and "LENGTH" in lattice_of(tokens[i : i + 6]).options[0]


def run_on(tokens: Sequence[str], i: int) -> bool:
    """Return whether another order begins at word i without a conjunction: "i need you there go to the
    bathroom".
    """
    before, vocabulary = tokens[i - 1], load_vocabulary()
    if not (
        is_open(tokens, i - 1)
        or vocabulary.is_in("THERE", before)
        or vocabulary.is_in("IT", before)
        or before == "please"
    ):
        return False
    if known_at(tokens, i - 1) > 1 or not begins(tokens, i) or before in SUBJECTS:
        return False
    bans = (vocabulary.match("AVOID", tokens, k) for k in range(max(0, i - _MOST_OF_A_BAN), i))
    if any(ban is not None and k + ban[0] == i for k, ban in enumerate(bans, max(0, i - _MOST_OF_A_BAN))):
        return False  # "nobody may enter": the verb belongs to the ban
    matches = vocabulary.matches(tokens, i)
    seen = max(
        (vocabulary.match("CAN_SEE", tokens, k) or (0,))[0] + k - i for k in range(max(0, i - 2), i + 1)
    )
    if seen > 0 or tokens[i] in ("which", "that", "who"):
        return False
    if "COUNT" in matches or "WHAT_IS" in matches or ("POLITE" in matches and matches["POLITE"][0] > 1):
        return True
    if (
        not vocabulary.matches(tokens, i - 1).keys().isdisjoint((*VERBS, "POLITE", "AVOID", "NOT", "GO_NEAR"))
        and before != "please"
    ):
        return False
    return vocabulary.is_in("STRONG", tokens[i]) and (_has_foot(tokens, i + 1) or i + 1 == len(tokens))


def purpose_verb(tokens: Sequence[str], i: int) -> bool:
    """Return whether word i, after "to", begins an action: "get a mug" of "go to the kitchen to get a mug"."""
    if i < 2 or i >= len(tokens):
        return False
    matches = load_vocabulary().matches(tokens, i)
    tables = ("FIND", "FETCH", "HANDLE", "COUNT", "CHECK", "SEARCH", "LIST", "WAIT", "PUT")
    if tokens[i - 2] in (
        "need",
        "want",
        "have",
        "like",
        "try",
        "able",
        "you",
        "go",
        "how",
        "used",
        "sit",
        "something",
        "somewhere",
    ):
        return False
    known = any(table in matches for table in tables) and load_wordnet().is_verb(tokens[i])
    return (known or unknown_verb(tokens, i) > 0) and _has_foot(tokens, i + 1)


def statement_at(tokens: Sequence[str], i: int) -> bool:
    """Return whether a statement begins at word i: "you ..." or "it should be ..."."""
    if i + 1 >= len(tokens):
        return False
    matches = load_vocabulary().matches(tokens, i + 1)
    said_of = tokens[i] in _THEY and not matches.keys().isdisjoint(("IS", "LIES", "HAS"))
    return said_of or tokens[i] in ("i", "we", "you")


def skip(tokens: Sequence[str], i: int, table: str) -> int:
    """Return the position after the phrases of a word table that follow each other from word i on.

    A phrase is not skipped if it ends the text, or if a longer verb, a ban or "home" begins there.
    """
    vocabulary = load_vocabulary()
    while i < len(tokens):
        matches = vocabulary.matches(tokens, i)
        match = matches.get(table)
        if (
            match is None
            or i + match[0] >= len(tokens)
            or _longer(matches, match[0] - 1)
            or "HOME" in matches
        ):
            break
        avoid = matches.get("AVOID")
        plain_no = tokens[i] == "no" and not tokens[i + 1].endswith("ing")
        if avoid is not None and avoid[0] >= match[0] and not plain_no:
            break
        i += match[0]
    return i
