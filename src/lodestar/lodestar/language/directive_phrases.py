"""Noun phrases as strictly as a directive needs: what it does not understand is no part of a name."""

from __future__ import annotations

import math

from lodestar.language.directive import NotUnderstood
from lodestar.language.noun_phrases import GENERIC, NounPhrase
from lodestar.language.phrase_parser import NounPhraseParser
from lodestar.language.words import SEPARATOR, PhraseTable

EXAMPLE = 'try for example "find the red chair next to the desk", "explore the building" or "list all chairs"'


_AFTER_NO_THING = ("back", "out", "there")  # "the way back"


def shown(text: str) -> str:
    """The text on one line of at most 60 characters, none of them a control character."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= 60 else line[:57] + "..."


class DirectivePhraseParser(NounPhraseParser):
    """Reads the noun phrases of one directive."""

    def __init__(self, tokens: list[str], text: str) -> None:
        super().__init__(tokens)
        self._text = text
        self._noun = ""  # of the last thing that was named: what "a blue one" is one of

    def _not_understood(self, why: str = "") -> NotUnderstood:
        reason = why or "no task was found in it"
        return NotUnderstood(f'"{shown(self._text)}" was not understood: {reason}; {EXAMPLE}')

    def take_unless_verb(self, table: PhraseTable) -> bool:
        """Consume a phrase of the table unless a longer verb, relation or noun begins at the same place."""
        match = table.match(self.tokens, self.position)
        if match is None or self._noun_length(self.position) > match[0]:
            return False
        for other in (self.words.verbs, self.words.relations):
            longer = other.match(self.tokens, self.position)
            if longer is not None and longer[0] > match[0]:
                return False
        self.position += match[0]
        return True

    def take_number(self) -> float | None:
        """As the base's. Raises NotUnderstood for a number that counts no things."""
        number = super().take_number()
        if number is not None and math.isfinite(number) and number % 1.0:
            raise self._not_understood(f"{number:g} is no number of things; say a whole one")
        return number

    def _noun_phrase(self) -> NounPhrase | None:
        """As the base's. Raises NotUnderstood for a time, a distance or an order, which is no thing."""
        start = self.position
        phrase = super()._noun_phrase()
        if phrase is None or self.lexicon.known_suffix(phrase.category.split()):
            return phrase
        first, *others = phrase.category.split()
        none = self.words.no_things
        if self.lexicon.singular(first) in none and none.union(_AFTER_NO_THING).issuperset(others):
            said = shown(" ".join(self.tokens[start : self.position]))
            how = 'a distance is said as "keep 2 m away from the dog"'
            raise self._not_understood(f'"{said}" is no thing to look for or to stand by; {how}')
        return phrase

    def _ends_phrase(self, i: int) -> bool:
        """As the base's; a pronoun such as "something" is a noun by itself, and "no chairs" is none."""
        if self.tokens[i] in self.words.closed or (i > 0 and self.tokens[i - 1] in self.words.indefinite):
            return True
        if (
            self.distance_at(i) is not None
            or self.at_kept_distance(i)
            or self.words.asides.match(self.tokens, i)
        ):
            return True
        return (self.tokens[i] == "no" and self.at_known_noun(i + 1)) or super()._ends_phrase(i)

    def _one_relation(self, phrase: NounPhrase) -> NounPhrase | None:
        """As the base's, but "by 2 m" is a distance and "at all costs" an aside, nothing to stand by, and "something"
        may be followed by what it is like.
        """
        start = self.position + (self.peek() in (SEPARATOR, "and"))
        by = self.tokens[start : start + 1] == ["by"]
        if self.distance_at(start + by) is not None or self.words.asides.match(self.tokens, start):
            return None
        if self._depth > 1 and self._is_whole_room(phrase):
            return None  # "in the kitchen on the table": said of the thing, not of the kitchen
        if self.tokens[self.position - 1] in self.words.indefinite:
            described = self._post_attributes(phrase, False)
            if described is not None:
                return described
        if self._without_at(self.position):
            self.position += 1
            return self._anchored(phrase, "NextTo!", False)
        return super()._one_relation(phrase)

    def _without_at(self, i: int) -> bool:
        """Whether "without armrests" stands at token i, which says nothing of what to do."""
        if self.tokens[i] != "without" or i + 1 >= len(self.tokens) or self.words.verbs.match(self.tokens, i):
            return False
        word = self.tokens[i + 1]
        plural = self.lexicon.singular(word) != word
        return self.words.relations.match(self.tokens, i) is None and (plural or self.at_known_noun(i + 1))

    def relations_of(self, phrase: NounPhrase) -> NounPhrase:
        """As the base's; raises NotUnderstood where it is to be in two rooms at once."""
        grown = super().relations_of(phrase)
        rooms = dict.fromkeys(r.value for r in grown.relations if r.name == "InRegion" and not r.negated)
        if len(rooms) > 1:
            said = " and ".join(rooms)
            raise self._not_understood(f'nothing is in {said} at once; say "or", or name one of them')
        return grown

    def _remembered(self, phrase: NounPhrase | None) -> NounPhrase | None:
        """The phrase, whose noun is the last that was named."""
        if phrase is not None and phrase.category != GENERIC:
            self._noun = phrase.category
        return phrase

    def _collect_words(self) -> list[str]:
        """As the base's, but "a blue one" is of the kind that was named last."""
        words = super()._collect_words()
        if words and words[-1] in ("one", "ones") and self._noun and self._depth <= 1:
            noun = self._noun.split()
            self.tokens[self.position - 1 : self.position] = noun
            self.position += len(noun) - 1
            words[-1:] = noun
        return words

    def _is_whole_room(self, phrase: NounPhrase) -> bool:
        named = phrase.room is not None and self.lexicon.canonical(phrase.category) is None
        return named or (phrase.is_place(self.words.places) and phrase.category not in self.lexicon.structure)

    def _post_attributes(self, phrase: NounPhrase, negated: bool) -> NounPhrase | None:
        """As the base's, but adjectives before a further noun are its own: "red chairs and blue tables"."""
        grown = super()._post_attributes(phrase, negated)
        return grown if self.done or self._ends_phrase(self.position) else None

    def _anchors(self, name: str) -> tuple[NounPhrase, ...]:
        self._share_nouns(each=False)
        return super()._anchors(name)

    def _at_room(self, i: int) -> bool:
        """Whether the name of a room begins at token i."""
        return any(self.lexicon.room(" ".join(self.tokens[i : i + n])) is not None for n in (1, 2, 3))

    def _share_nouns(self, each: bool) -> None:
        """Joined adjectives have the noun they share: "red or blue chairs" becomes "red chairs or blue chairs".

        each: whether "red and blue chairs" are of two kinds too; with an article each, as "the red and the blue chair",
        they always are.
        """
        gaps: list[int] = []
        links: set[str] = set()
        articles = True  # before every adjective but the first
        i = self.position
        while True:
            start, i = i, self._past_articles(i)
            if gaps:
                articles = articles and i > start
                if i > start and self._noun_length(gaps[-1] - 1):
                    return  # "an orange or a red apple"
            first, i = i, self._past_adjectives(i)
            if i == first:
                return
            linked = i
            while linked < len(self.tokens) and self.tokens[linked] in (SEPARATOR, "and", "or"):
                links.add(self.tokens[linked])
                linked += 1
            if linked == i:
                break
            if i > first + 1 and self._noun_length(i - 1):
                return  # "the red glass or ..."
            gaps.append(i)
            i = linked
        if not gaps or not ("or" in links or ("and" in links and (each or articles))):
            return
        noun = self._words_at(i) or (
            [self.tokens[i - 1]] if i > first + 1 and self._noun_length(i - 1) else []
        )
        for gap in reversed(gaps):
            self.tokens[gap:gap] = noun

    def _words_at(self, i: int) -> list[str]:
        """The words of a name at token i."""
        before, self.position = self.position, i
        words = self._collect_words()
        self.position = before
        return words

    def _past_articles(self, i: int) -> int:
        while (match := self.words.determiners.match(self.tokens, i)) is not None:
            i += match[0]
        return i

    def _past_adjectives(self, i: int) -> int:
        while i < len(self.tokens) and self._noun_length(i) < 2 and self._describes(self.tokens[i]):
            i += 1
        return i

    def _describes(self, word: str) -> bool:
        return self.lexicon.attribute(word) is not None or word in self.words.modifiers
