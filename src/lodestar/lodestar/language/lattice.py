"""Lattice of a clause: candidate phrases of the tables, noun phrases, participles, measures and verbs at each
word.
"""

from __future__ import annotations

from collections.abc import Sequence

from lodestar.language.chart import Lattice, Lexeme
from lodestar.language.clause_words import plain_verb
from lodestar.language.noun_words import describes, is_level, noun_words
from lodestar.language.vocabulary import load_vocabulary
from lodestar.models.lexicon import load_lexicon
from lodestar.models.wordnet import load_wordnet

#: Tables whose words are never part of an object's name.
CLOSING = (
    "REL", "BETWEEN", "CLOSE", "FAR", "SIDE", "TO", "THROUGH", "PAST", "OF", "FROM", "FOR", "WITH", "WITHOUT",
    "THAT", "IS", "NOT", "AND", "OR", "EXCEPT", "IT", "THERE", "HERE", "ME", "POSSESSIVE", "DET", "COMMA",
    "UNTIL", "EITHER", "LEVEL", "TIMES", "SUBJECT", "SEE_NOW", "CAN_SEE", "DID_SEE", "AWAY", "TO_DO", "ODD",
    "PURPOSE", "CANNOT", "UNTIL_STEP", "PICK", "FACE", "JOINING", "HAS", "OFF_LIMITS",
)  # fmt: skip
#: Tables of verbs that begin a request.
VERBS = (
    "MOVE", "ENTER", "TAKE_ME", "LEAVE", "FIND", "SEARCH", "INSPECT",
    "EXPLORE", "PATROL", "FETCH", "PUT", "HANDLE", "FOLLOW",
    "COUNT", "HOW_MUCH", "LIST", "WHAT_IS", "WHICH_LIST", "CHECK", "CHECK_THING", "SEE_NOW", "ASK", "WHERE_IS",
    "WHERE_LEFT", "WHERE_CAN", "RETURN", "WAIT", "STAND", "HALT", "WHERE_THING",
    "ASK_OF", "TALK", "SPEAK", "LOOK", "TURN", "REPEAT", "KEEP",
)  # fmt: skip
_DIGITS = 6  # decimals of a length or a time: "3 ft" is 0.9144 m
_WORDS_OF_LIST = 2  # a LIST phrase longer than this many words has no other meaning
_ARTICLES = frozenset({"the", "a", "an"})
_MARKS = frozenset({",", ".", "?", "="})
_HEADINGS = ("heading", "yaw", "theta", "facing", "angle", "orientation")
_PARTICLES = frozenset({"up", "off", "out", "down", "away", "back", "on", "over", "in"})
_IRREGULAR = frozenset(
    {
        "hung",
        "lit",
        "left",
        "made",
        "found",
        "kept",
        "held",
        "built",
        "laid",
        "stuck",
        "shown",
        "set",
        "seen",
        "put",
    }
)
_SOFT_SIDES = frozenset({"left", "right", "top", "bottom", "front", "back", "middle", "center"})


def lattice_of(words: Sequence[str]) -> Lattice:
    """Return the lattice of a clause's words."""
    words = list(words)
    vocabulary = load_vocabulary()
    options: list[dict[str, Lexeme]] = []
    for i in range(len(words)):
        found = {t: Lexeme(length, value) for t, (length, value) in vocabulary.matches(words, i).items()}
        _add_measures(words, i, found)
        pose = _pose_at(words, i)
        if pose is not None:
            found["POSE"] = pose
        if i == 0 and found.get("LIST", Lexeme(0, "")).length > _WORDS_OF_LIST:
            found = {"LIST": found["LIST"]}  # "give me a list of" fetches nothing
        if i == 0 and found.get("AVOID", Lexeme(0, "")).length > 1:
            found = {t: lexeme for t, lexeme in found.items() if t not in ("WAIT", "STAND")}
        noun = _noun_at(words, i)
        measured = max((found[name].length for name in ("LENGTH", "TIME") if name in found), default=0)
        if noun is not None and (noun.length <= measured or _is_forbidden_act(words, i, noun)):
            noun = None
        if noun is not None and not (i == 0 and _only_verb(words, found)):
            side = len(noun.value.words) == 1 and noun.value.words[0] in _SOFT_SIDES
            found["SIDE_NOUN" if side else "NP"] = noun
            for word in noun.value.adjectives:
                superlative = vocabulary.match("SUPERLATIVE", (word,), 0)
                if superlative is not None:
                    found["NEAREST" if superlative[1] == "Closest" else "FARTHEST"] = noun
            if vocabulary.is_in("DOORS", noun.value.head):
                found["PASSAGE"] = noun
        superlative = vocabulary.match("SUPERLATIVE", words[i : i + 1], 0)
        if superlative is not None and vocabulary.match("DET", words, i + 1) is not None:
            found["CLOSE"] = Lexeme(1, superlative[1])  # a relation in "the towel nearest the sink"
        ordinal = vocabulary.match("ORDINAL", words, i)
        if ordinal is not None:
            found["ORDINAL"] = Lexeme(ordinal[0], int(ordinal[1]))
        part = _participle_at(words, i)
        if part:
            found["PART"] = Lexeme(part, " ".join(words[i : i + part]))
        if (i == 0 or "AVOID" in options[0]) and (length := unknown_verb(words, i)):
            found["VERB"] = Lexeme(length, " ".join(words[i : i + length]))
        options.append(found)
    return Lattice(words, options)


def _is_forbidden_act(words: Sequence[str], i: int, noun: Lexeme) -> bool:
    """Return whether the noun at word i is really a forbidden act: "going" of "without going upstairs"."""
    named = noun.value.words
    if i == 0 or words[i - 1] not in ("without", "no") or len(named) != 1 or not named[0].endswith("ing"):
        return False
    return not known_at(words, i) and load_wordnet().is_verb(plain_verb(named[0]))


def known_at(words: Sequence[str], i: int) -> int:
    """Return the number of words of the longest lexicon noun that begins at word i, 0 if none."""
    end = next((k for k in range(i, min(len(words), i + 5)) if words[k] in _MARKS), min(len(words), i + 5))
    return load_lexicon().known_prefix(list(words[i:end])) if end > i else 0


def is_open(words: Sequence[str], i: int) -> bool:
    """Return whether word i may be part of a name, so that it belongs to no closed word class."""
    if i >= len(words) or words[i] in _MARKS:
        return False
    if known_at(words, i) > 1:
        return True
    matches = load_vocabulary().matches(words, i)
    named = i > 0 and words[i - 1] in _ARTICLES  # a noun after an article: "the list of ingredients"
    if any(table in matches for table in CLOSING if not (named and table == "PICK")):
        return False
    return not ("STATE" in matches and not _adjective(words, i))


def _adjective(words: Sequence[str], i: int) -> bool:
    """Return whether word i is a state, such as "open", used as an adjective before a noun."""
    return load_vocabulary().is_in("STATE", words[i]) and is_open(words, i + 1)


def _soft(words: Sequence[str], i: int) -> bool:
    """Return whether "left", "top" or "back" at word i describes the noun after it."""
    return words[i] in _SOFT_SIDES and i + 1 < len(words) and is_open(words, i + 1)


def number_at(words: Sequence[str], i: int) -> tuple[int, float] | None:
    """Return the number of words and the value of the number at word i, or None."""
    if i >= len(words):
        return None
    try:
        return 1, float(words[i])
    except ValueError:
        pass
    found = load_vocabulary().match("NUMBER", words, i)
    return None if found is None else (found[0], float(found[1]))


def _add_measures(words: Sequence[str], i: int, found: dict[str, Lexeme]) -> None:
    vocabulary = load_vocabulary()
    start, about = i, vocabulary.match("ABOUT", words, i)
    i += 0 if about is None else about[0]
    half = i < len(words) and words[i] == "half"
    i += half
    number = number_at(words, i) or ((1, 1.0) if i < len(words) and words[i] in ("a", "an") else None)
    if number is None and not half:
        return
    length, value = number or (0, 1.0)
    if start == i and number_at(words, i) is not None:
        found["NUM"] = Lexeme(length, value)
    for table, name in (("METRES", "LENGTH"), ("SECONDS", "TIME")):
        unit = vocabulary.match(table, words, i + length)
        if unit is not None:
            amount = round(value * float(unit[1]) * (0.5 if half else 1.0), _DIGITS)
            found[name] = Lexeme(i + length + unit[0] - start, amount)


def _pose_at(words: Sequence[str], start: int) -> Lexeme | None:
    """Return the position "x = 1 , y = 2" or "coordinates 1 , 2": x, y and, if given, the heading in degrees."""
    i, values = start, []
    for names in (
        ("x", "coordinates", "coordinate", "position", "point", "pose", ","),
        ("y", ","),
        _HEADINGS,
    ):
        begun = i
        while i < len(words) and (words[i] in names or words[i] in (",", "=", "and", "the")):
            i += 1
        number = number_at(words, i) if i > begun else None
        if number is None or not words[i].lstrip("-")[:1].isdigit():
            i = begun
            break
        values.append(number[1])
        i += 1
    while i < len(words) and words[i] in (",", "degrees", "degree"):
        i += 1
    return Lexeme(i - start, tuple(values)) if len(values) >= 2 else None


def _noun_at(words: Sequence[str], start: int) -> Lexeme | None:
    """Return the noun phrase that begins at a word: article, number and name words; None if there is none."""
    vocabulary = load_vocabulary()
    i, determiner = start, ""
    if words[start] == "no":
        return None
    prefix = known_at(words, start) > 1
    while not prefix and (article := vocabulary.match("DET", words, i)) is not None:
        counted = vocabulary.match("NUMBER", words, i)
        if counted is not None and counted[0] > article[0]:
            break  # "a few" is a number
        determiner, i = determiner or str(article[1]), i + article[0]
    count: int | None = None
    number = None if prefix else number_at(words, i)
    if number is not None:
        if number[1] % 1.0 or number[1] != number[1]:
            return None
        count, i = int(min(max(number[1], -1.0), 2e9)), i + number[0]
    end = _run_end(words, i)
    if (
        number is not None
        and i < end
        and vocabulary.is_in("SUPERLATIVE", words[i])
        and not is_open(words, i + 1)
    ):
        end = i  # "one" is the noun of "the one nearest the window"
    if number is not None and i < end and vocabulary.is_in("UNITS", words[i].removesuffix("s")):
        return None  # a measure such as "2 m", no noun
    if end == i and determiner and i < len(words) and words[i] in _SOFT_SIDES:
        end = i + 1
    if end == i and number is None:
        return None
    if end == i and determiner in ("a", "an", "") and number is not None and not _is_elliptic(words, start):
        return None
    found = noun_words(words[i:end], determiner, count)
    if (
        count == 2
        and words[i - 2 : i] == ["pair", "of"]
        and vocabulary.is_in("PAIRED", *words[end - 1 : end])
    ):
        found = noun_words(words[i:end], "a")  # "a pair of scissors" is one object
    return Lexeme(end - start, found)


def _is_elliptic(words: Sequence[str], start: int) -> bool:
    return words[start] in ("one", "two", "three", "four")


def _run_end(words: Sequence[str], start: int) -> int:
    i = start
    while i < len(words):
        known = known_at(words, i)
        if known > 1:
            i += known
            continue
        if words[i] in ("one", "ones") and i > start:
            return i + 1
        if words[i] in ("and", ",") and _joins_adjectives(words, start, i):
            i += 1
            continue
        if is_level((words[i - 1], words[i])) and i > start:
            i += 1
            continue
        if (not is_open(words, i) and not _soft(words, i)) or (i > start and number_at(words, i) is not None):
            break
        if i > start and _participle_at(words, i):
            break
        if i > start and load_vocabulary().is_in("SUPERLATIVE", words[i]) and not is_open(words, i + 1):
            break
        if i > start and (_counted_from(words, i) or load_vocabulary().is_in("ANYTHING", words[i])):
            break  # the place begins a new phrase in "my badge somewhere in the hall"
        i += 1
    return i


def _counted_from(words: Sequence[str], i: int) -> bool:
    """Return whether an ordinal and its reference stand at word i: "second from the left"."""
    vocabulary = load_vocabulary()
    if not vocabulary.is_in("ORDINAL", words[i]):
        return False
    return bool({"SIDE", "CLOSE"} & vocabulary.matches(words, i + 1).keys())


def _joins_adjectives(words: Sequence[str], start: int, i: int) -> bool:
    """Return whether "and" or a comma at word i joins adjectives of one noun: "a big, red chair"."""
    attribute = load_lexicon().attribute
    if i == start or i + 2 >= len(words) or attribute(words[i + 1]) is None:
        return False
    if not is_open(words, i + 2) and words[i + 2] not in ("and", ","):
        return False
    return all(describes(word) or word in ("and", ",") for word in words[start:i])


def _participle_at(words: Sequence[str], i: int) -> int:
    """Return the number of words of a participle that describes the noun before it ("hanging", "neatly
    tucked"); 0 = none.
    """
    length = 0
    while i + length < len(words) and words[i + length].endswith("ly"):
        length += 1
    if i + length >= len(words):
        return 0
    word = words[i + length]
    lexicon = load_lexicon()
    if lexicon.canonical(word) is not None and word not in _IRREGULAR:
        return 0
    if lexicon.attribute_group.get(lexicon.attribute(word) or "") == "colors":
        return 0  # "brown" is a colour
    if not (word.endswith(("ed", "ing", "wn", "ken")) and len(word) > 4) and word not in _IRREGULAR:
        return 0
    if load_vocabulary().is_in("WHOLE", word) or load_vocabulary().is_in("PLACE_NOUNS", word):
        return 0
    if load_wordnet().is_noun(word) and word not in _IRREGULAR and not (i and _is_thing(words[i - 1])):
        return 0  # "painting" is a noun in "the large painting"
    after = i + length + 1
    return length + 1 if after >= len(words) or not is_open(words, after) else 0


def _is_thing(word: str) -> bool:
    return load_lexicon().attribute(word) is None and load_wordnet().is_noun(noun_words((word,)).head)


def unknown_verb(words: Sequence[str], i: int) -> int:
    """Return the number of words of a verb outside the tables, such as "wipe off"; 0 if the word is no verb."""
    if i + 1 >= len(words) or not words[i].isalpha() or not is_open(words, i):
        return 0
    wordnet, vocabulary = load_wordnet(), load_vocabulary()
    if not vocabulary.matches(words, i).keys().isdisjoint(VERBS):
        return 0
    after = i + 1 + (words[i + 1] in _PARTICLES)
    takes = any(vocabulary.match(table, words, after) for table in ("DET", "IT", "ME"))
    if vocabulary.is_in("ANYTHING", words[i]) or vocabulary.is_in("SOMEONE", words[i]):
        return 0
    named = load_lexicon().canonical(words[i]) is not None and not wordnet.is_mostly_verb(words[i])
    if takes and not named and (wordnet.is_verb(words[i]) or not wordnet.is_noun(words[i])):
        return after - i
    if wordnet.is_mostly_verb(words[i]) and is_open(words, after):
        return after - i
    return 0


def _only_verb(words: Sequence[str], found: dict[str, Lexeme]) -> bool:
    """Return whether the clause's first word is only a verb and no part of a name: "wipe table", "turn
    right".
    """
    word, lexicon = words[0], load_lexicon()
    longest = max((found[table].length for table in VERBS if table in found), default=0)
    if longest > 1 or len(words) < 2:
        return longest > 0
    if lexicon.canonical(word) is not None or lexicon.attribute(word) is not None:
        return False
    return load_wordnet().is_mostly_verb(word) and (longest > 0 or unknown_verb(words, 0) > 0)
