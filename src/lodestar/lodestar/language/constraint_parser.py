"""What a directive says to keep away from, and how it says what it did not understand."""

from __future__ import annotations

from lodestar.language.directive import DEFAULT_KEEP_AWAY, NotUnderstood
from lodestar.language.noun_phrases import NounPhrase
from lodestar.language.phrase_parser import NounPhraseParser
from lodestar.language.words import SEPARATOR, is_number

EXAMPLE = 'try for example "find the red chair next to the desk", "explore the building" or "list all chairs"'

_TOUCHING = frozenset({"touch", "touching", "bump", "bumping", "hit", "hitting", "run", "running"})


def shown(text: str) -> str:
    """The text on one line of at most 60 characters, none of them a control character."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= 60 else line[:57] + "..."


class ConstraintParser(NounPhraseParser):
    """Reads things to keep away from, and noun phrases as strictly as a directive needs: what it does not
    understand is no part of a name.
    """

    def __init__(self, tokens: list[str], text: str) -> None:
        super().__init__(tokens)
        self._text = text
        self._constraints: list[str] = []
        self._keep_away = DEFAULT_KEEP_AWAY

    def _not_understood(self, why: str = "") -> NotUnderstood:
        reason = why or "no task was found in it"
        return NotUnderstood(f'"{shown(self._text)}" was not understood: {reason}; {EXAMPLE}')

    def _ends_phrase(self, i: int) -> bool:
        """As the base's; a pronoun such as "something" is a noun by itself, and "no chairs" is none."""
        if self.tokens[i] in self.words.closed or (i > 0 and self.tokens[i - 1] in self.words.indefinite):
            return True
        return (self.tokens[i] == "no" and self.at_known_noun(i + 1)) or super()._ends_phrase(i)

    def _one_relation(self, phrase: NounPhrase) -> NounPhrase | None:
        """As the base's, but "by 2 m" is a distance, not something to stand by, and "something" may be followed by
        what it is like.
        """
        if self._distance_at(self.position):
            return None
        if self.tokens[self.position - 1] in self.words.indefinite:
            described = self._post_attributes(phrase, False)
            if described is not None:
                return described
        return super()._one_relation(phrase)

    def _distance_at(self, start: int) -> bool:
        """Whether "by 2 m" or "by at least 2 m" stands at token `start`."""
        words = [token for token in self.tokens[start : start + 6] if token not in ("at", "least", "half")]
        if len(words) < 3 or words[0] != "by" or words[2] not in self.words.distance_units:
            return False
        return is_number(words[1]) or words[1] in self.words.cardinals or words[1] in ("one", "a", "an")

    def _avoid(self, verb: str, metres: float | None = None) -> None:
        found = False
        while True:
            start = self.position
            phrase = self.noun_phrase()
            if phrase is None:
                break
            found = True
            related = " ".join(t for t in self.tokens[start : self.position] if t != SEPARATOR)
            text = related if phrase.relations else phrase.phrase
            bare = phrase.is_anything and not phrase.relations
            touches = bare and not _TOUCHING.isdisjoint(verb.split())  # it touches nothing anyway
            if text not in self._constraints and not touches:
                self._constraints.append(text)
            if self._distance_at(self.position):
                while self.take_word({"by", "at", "least"}):
                    pass
                metres = self._take_metres()
            if metres is not None and not phrase.relations and self.lexicon.room_in(phrase.category) is not None:
                raise self._not_understood(f'"{text}" is a room, which is not entered; a distance is kept to things')
            self._keep_away = self._keep_away if metres is None else metres
            following = self.position + 1
            link = self.peek() in (*self.words.conjunctions, SEPARATOR)
            named = self.at_known_noun(following) or self._at_room(following)
            if not link or self.at_step(following) or not named:
                break
            self.position = following
        if not found:
            raise self._not_understood(f'"{verb}" what?')

    def _take_distance_constraint(self) -> bool:
        """Such as "keep 2 m away from the wet floor"."""
        start = self.position
        if self.take(self.words.avoid_distance) is not None:
            metres = self._take_metres()
            if metres is not None and self.take(self.words.avoid_distance_after) is not None:
                self._avoid("keep away from", metres)
                return True
        self.position = start
        return False

    def _take_metres(self) -> float | None:
        """Consume "50 cm", in metres."""
        half = self.take_word({"half"})
        number = self.take_number()
        if number is None and (half or self._ahead() in self.words.distance_units):
            number = 1.0 if self.take_word({"a", "an"}) else None
        unit = self.words.distance_units.get(self.peek() or "")
        if number is None or unit is None:
            return None
        self.position += 1
        return number * unit * (0.5 if half else 1.0)

    def _ahead(self) -> str:
        """The token after the next."""
        return "".join(self.tokens[self.position + 1 : self.position + 2])

    def _at_room(self, i: int) -> bool:
        """Whether the name of a room begins at token i."""
        return any(self.lexicon.room(" ".join(self.tokens[i : i + n])) is not None for n in (1, 2, 3))
