"""Cuts the words of a text into clauses, each of which asks, forbids or says one thing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lodestar.language.clause_words import JOINS, main_verb, without_asides, without_fillers
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
_PAST = {
    "been": "go", "gone": "go", "went": "go", "found": "find", "seen": "find", "taken": "take", "took": "take",
    "got": "get",
    "brought": "bring", "left": "leave", "come": "come", "reached": "reach", "put": "put", "saw": "find",
    "passed": "visit",
    "were": "go", "passing": "visit", "pass": "visit",
}  # fmt: skip
_SUBJECTS = frozenset({"you", "we", "i", "robot", "it"})
_AUXILIARIES = frozenset({"have", "has", "had", "are", "were", "do", "can", "will", "get", "through", "by"})
_THEY = frozenset({"it", "they", "he", "she"})
_MOST_LOOKS = 4  # words from "the" to "one"
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


_MOST_OF_A_BAN = 5  # words before the verb that it forbids
_LAST = frozenset({"and", "or", "nor"})  # before the last of several names


@dataclass(frozen=True)
class Clause:
    """Words of one clause. link: how it stands to the one before: "", "before", "after", "until", "while", "first".

    question: a question mark ends it. joined: by "and" or a comma alone, so that it may go on with the same verb.
    """

    words: tuple[str, ...]
    link: str = ""
    question: bool = False
    joined: bool = False
    spoken: str = ""  # its first word as said: who does it

    @property
    def text(self) -> str:
        """The words in a line."""
        return " ".join(self.words)


def clauses_of(tokens: Sequence[str]) -> list[Clause]:
    """Clauses in the order of saying."""
    tokens = list(tokens)
    found: list[Clause] = []
    start, link, joined, i = 0, "", False, 0

    def close(end: int, question: bool = False) -> None:
        words = tokens[start:end]
        while words and words[-1] in JOINS:
            words = words[:-1]
        if words:
            found.append(Clause(tuple(words), link, question, joined))

    while i < len(tokens):
        if i == start and i < (verb := _verb_end(tokens, i)):
            i = verb
            continue
        cut = _cut_at(tokens, i, start)
        if cut is None:
            i += 1
            continue
        length, following, was_joined = cut
        close(i, tokens[i] == QUESTION)
        start = i = i + length
        link, joined = following, was_joined
        if i < len(tokens) and tokens[i] not in (STOP, QUESTION):
            i = max(i + 1, _verb_end(tokens, i))
    close(len(tokens))
    return [stripped for clause in found if (stripped := strip(clause)).words]


def _verb_end(tokens: list[str], i: int) -> int:
    """The word after the verb that begins at word i, politeness aside; i where none does."""
    verb = _skip(tokens, i, "POLITE")
    matches = load_vocabulary().matches(tokens, verb)
    longest = max((matches[table][0] for table in (*VERBS, "AVOID") if table in matches), default=0)
    return verb + longest if longest > 1 or verb > i else i


def _cut_at(tokens: list[str], i: int, start: int) -> tuple[int, str, bool] | None:
    """Words that part two clauses at word i, the link, and whether they only join."""
    token, vocabulary = tokens[i], load_vocabulary()
    if token in (STOP, QUESTION):
        return 1, "", False
    if i == start:
        order = _order_at(tokens, i)
        return (order[0], order[1], False) if order is not None and i == 0 else None
    j = i
    while j < len(tokens) and tokens[j] in JOINS:
        if vocabulary.match("NOTHING", tokens, j) is not None:
            return None
        j += 1
    if j > i:
        first = "first" if tokens[j : j + 1] == ["first"] and tokens[i] == "but" else ""
        order = _order_at(tokens, j)
        if order is not None:
            return j - i + order[0], order[1], False
        then = vocabulary.match("THEN", tokens, i)
        if then is not None and then[0] > 0 and i + then[0] > j - 1 and tokens[i + then[0] - 1] != "and":
            k = i + then[0]
            if k < len(tokens) and (begins(tokens, k) or is_named(tokens, k) or _goes_on(tokens, k)):
                return then[0], "", False
        if (
            begins(tokens, j)
            or (first and (is_named(tokens, j + 1) or begins(tokens, j + 1)))
            or _statement_at(tokens, j)
            or (token == COMMA and j == i + 1 and _names_one(tokens, j))
            or (_barred_at(tokens, j, token == "and") and not _only_names(tokens, start, i))
        ):
            return j - i, first, False
        if (
            {"then", "but"} & set(tokens[i:j])
            and (is_named(tokens, j) or _goes_on(tokens, j))
            and tokens[j] != "not"
        ):
            return j - i, "", False
        return None
    then = vocabulary.match("THEN", tokens, i)
    if then is not None and i + then[0] < len(tokens) and tokens[i] not in ("first", "second", "next"):
        k = i + then[0]
        if begins(tokens, k) or _goes_on(tokens, k) or (is_named(tokens, k) and then[0] > 1):
            return then[0], "", False
    order = _order_at(tokens, i)
    if order is not None:
        return order[0], order[1], False
    passes = vocabulary.match("REACHING", tokens, i) is not None
    if (
        token == "to"
        and not passes
        and _purpose_verb(tokens, i + 1)
        and vocabulary.match("TO_DO", tokens, i) is None
    ):
        return 1, "", False
    cannot = vocabulary.match("CANNOT", tokens, i)
    if cannot is not None and i + cannot[0] < len(tokens):
        return cannot[0], "unable", False
    purpose = vocabulary.match("PURPOSE", tokens, i)
    if purpose is not None and i + purpose[0] < len(tokens):
        return purpose[0], "why", False
    if _bans(tokens, i) or _run_on(tokens, i) or _remark_on(tokens, i) or _barred_on(tokens, i):
        return 0, "", False
    return None


def _remark_on(tokens: list[str], i: int) -> bool:
    """Whether a remark begins without a word that joins: "find my keys they are on the hook"."""
    return is_open(tokens, i - 1) and tokens[i] in _THEY and _statement_at(tokens, i)


def _barred_on(tokens: list[str], i: int) -> bool:
    """Whether a ban begins without a word that joins: "go to the hall the kitchen is off limits"."""
    if not is_open(tokens, i - 1) or load_vocabulary().match("DET", tokens, i) is None:
        return False
    return _barred_at(tokens, i, is_joined=True)


def _barred_at(tokens: Sequence[str], i: int, is_joined: bool = False) -> bool:
    """Whether things are named at word i and then forbidden: "the kitchen is off limits", "the hall and the attic are".

    is_joined: "and" stands before them, so that of several "is" or "must not" may only mean the last.
    """
    end = _name_end(tokens, _skip(tokens, i, "POLITE"))
    count, is_last = 1, False
    while end and not is_last and end < len(tokens) and tokens[end] in (COMMA, *_LAST):
        comma = tokens[end] == COMMA
        is_last = tokens[end + comma] in _LAST if end + comma < len(tokens) else True
        end, count = _name_end(tokens, end + comma + is_last), count + 1
    if not end or not _off_limits(tokens, end):
        return False
    return count == 1 or (is_last and (not is_joined or tokens[end] == "are"))


def _name_end(tokens: Sequence[str], i: int) -> int:
    """The word after the name that begins at word i, 0 where none does."""
    article = load_vocabulary().match("DET", tokens, i)
    start = end = i + (0 if article is None else article[0])
    while end < len(tokens) and is_open(tokens, end):
        end += 1
    return end if end > start else 0


def _off_limits(tokens: Sequence[str], i: int) -> int:
    match = load_vocabulary().match("OFF_LIMITS", tokens, i)
    return 0 if match is None else match[0]


def _only_names(tokens: list[str], start: int, end: int) -> bool:
    """Whether the words only name things: "the kitchen" of "the kitchen and the hall are off limits"."""
    while start < end and not begins(tokens, start):
        name = _name_end(tokens, start)
        if not name:
            return False
        start = name
        while start < end and tokens[start] in (COMMA, *_LAST):
            start += 1
    return start >= end


def _names_one(tokens: list[str], i: int) -> bool:
    """Whether "the red one by the door" stands at word i, which tells more of what was named before."""
    if tokens[i : i + 1] != ["the"]:
        return False
    k = i + 1
    while k < len(tokens) and tokens[k] not in ("one", "ones") and is_open(tokens, k):
        k += 1
    return tokens[k : k + 1] in (["one"], ["ones"]) and k - i <= _MOST_LOOKS and "and" not in tokens[k:]


def _order_at(tokens: list[str], i: int) -> tuple[int, str] | None:
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
        tokens[i + 1] in _SUBJECTS or tokens[i + 1].endswith("ing") or begins(tokens, i + 1)
    ):
        return (1, "until") if i else None
    if link == "after" and i and tokens[i - 1] in ("look", "go", "run", "right"):
        return None
    if tokens[i] == "once" and tokens[i + 1] not in _SUBJECTS:
        return None
    return 1, link


def begins(tokens: Sequence[str], i: int) -> bool:
    """Whether a verb, a question or a ban begins at word i, politeness aside."""
    i = _skip(tokens, i, "POLITE")
    if i >= len(tokens):
        return False
    if _bans(tokens, i):
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


def _goes_on(tokens: Sequence[str], i: int) -> bool:
    """Whether a way goes on at word i without a verb: "then to the table"."""
    vocabulary = load_vocabulary()
    tables = ("TO", "THROUGH", "HOME", "BETWEEN", "RETURN")
    if i < len(tokens) and any(vocabulary.match(table, tokens, i) is not None for table in tables):
        return True
    inside = vocabulary.match("TO_BARE", tokens, i)
    return inside is not None and _is_room_at(tokens, i + inside[0])


def _is_room_at(tokens: Sequence[str], i: int) -> bool:
    """Whether a room is named at word i: "the bathroom" of "and then in the bathroom"."""
    article = load_vocabulary().match("DET", tokens, i)
    start = end = i + (0 if article is None else article[0])
    while end < len(tokens) and is_open(tokens, end):
        end += 1
    return any(is_place(" ".join(tokens[k:end])) for k in range(start, end))


def is_named(tokens: Sequence[str], i: int) -> bool:
    """Whether a thing is named at word i."""
    return i < len(tokens) and (load_vocabulary().match("DET", tokens, i) is not None or is_open(tokens, i))


def _longer(matches: dict, than: int) -> bool:
    return any(matches[table][0] > than for table in VERBS if table in matches)


def _is_thing(word: str) -> bool:
    lexicon, wordnet = load_lexicon(), load_wordnet()
    return lexicon.canonical(word) is not None or (wordnet.is_noun(word) and not wordnet.is_mostly_verb(word))


def _has_foot(tokens: Sequence[str], i: int) -> bool:
    """Whether what follows a verb stands at word i: an article, a number, a pronoun, a place."""
    return i < len(tokens) and not load_vocabulary().matches(tokens, i).keys().isdisjoint(_FEET)


def _bans(tokens: Sequence[str], i: int) -> bool:
    """Whether "do not enter", "avoiding", "without going through" or "keep away from" stands at word i."""
    vocabulary = load_vocabulary()
    if i and tokens[i - 1] in ("that", "which", "who", "i", "we", "they", "to"):
        return False
    match = vocabulary.match("AVOID", tokens, i)
    if match is not None and _off_limits(tokens, i) > match[0]:
        return False  # "the vase must not be touched"
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


def _run_on(tokens: Sequence[str], i: int) -> bool:
    """Whether another order begins at word i without a word that joins: "i need you there go to the bathroom"."""
    before, vocabulary = tokens[i - 1], load_vocabulary()
    if not (
        is_open(tokens, i - 1)
        or vocabulary.is_in("THERE", before)
        or vocabulary.is_in("IT", before)
        or before == "please"
    ):
        return False
    if known_at(tokens, i - 1) > 1 or not begins(tokens, i) or before in _SUBJECTS:
        return False
    bans = (vocabulary.match("AVOID", tokens, k) for k in range(max(0, i - _MOST_OF_A_BAN), i))
    if any(ban is not None and k + ban[0] == i for k, ban in enumerate(bans, max(0, i - _MOST_OF_A_BAN))):
        return False  # "nobody may enter"
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


def _purpose_verb(tokens: Sequence[str], i: int) -> bool:
    """Whether "to" goes on with what is done there: "go to the kitchen to get a mug"."""
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


def _statement_at(tokens: Sequence[str], i: int) -> bool:
    """Whether "you" or "it should be" begins at word i."""
    if i + 1 >= len(tokens):
        return False
    matches = load_vocabulary().matches(tokens, i + 1)
    said_of = tokens[i] in _THEY and not matches.keys().isdisjoint(("IS", "LIES", "HAS"))
    return said_of or tokens[i] in ("i", "we", "you")


def _skip(tokens: Sequence[str], i: int, table: str) -> int:
    """Past phrases of a table that nothing longer begins with."""
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


def strip(clause: Clause) -> Clause:
    """The clause without politeness before and fillers behind it, its verb in the form of an order."""
    if clause.link == "unable":
        return clause
    words = list(clause.words)
    while words and words[0] in JOINS:
        words.pop(0)
    clause = replace(clause, spoken=words[0] if words else "")
    words = words[_skip(words, 0, "POLITE") :]
    while words and words[0] in JOINS:
        words = words[1:]
    if words[:1] == ["first"]:
        words = words[1:]
    words = without_asides(words)
    if words and _only(words, ("POLITE", "FILLER", "THEN")):
        return replace(clause, words=())
    link = clause.link
    if link:
        while words and words[0] in (_SUBJECTS | _AUXILIARIES) and len(words) > 1:
            words = words[1:]
        if words and words[0] in _PAST:
            words[0] = _PAST[words[0]]
    words = main_verb(words, bool(link))
    words = without_fillers(words)
    return replace(clause, words=tuple(words))


def _only(words: Sequence[str], tables: Sequence[str]) -> bool:
    """Whether one phrase of the tables is all that is said, and no verb."""
    matches = load_vocabulary().matches(words, 0)
    if any(matches.get(table, (0,))[0] == len(words) for table in VERBS):
        return False
    return any(matches.get(table, (0,))[0] == len(words) for table in tables)
