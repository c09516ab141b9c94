"""What a directive says to keep away from, and at what distance."""

from __future__ import annotations

from lodestar.language.directive_phrases import DirectivePhraseParser, shown
from lodestar.language.noun_phrases import NounPhrase
from lodestar.language.words import SEPARATOR, is_number

#: Words of the verbs whose act the robot never does to a thing: of "anything" they bar nothing more.
_TOUCHING = frozenset(
    {"touch", "touching", "bump", "bumping", "hit", "hitting", "run", "running"}
    | {"move", "moving", "push", "pushing", "knock", "knocking"}
)


class ConstraintParser(DirectivePhraseParser):
    """Reads things to keep away from. What it cannot bar it refuses: a zone never silently fails to be one."""

    def __init__(self, tokens: list[str], text: str) -> None:
        super().__init__(tokens, text)
        self._constraints: list[str] = []
        self._distances: list[float | None] = []  # per list of things, None: it says none
        self._list_of: dict[str, int] = {}  # of which list a constraint is
        self._barred_to = 0  # the token after the last of them

    def _distance_of(self, constraint: str) -> float | None:
        """The distance in metres that is said to keep to it, None where none is."""
        index = self._list_of.get(constraint)
        return None if index is None or index >= len(self._distances) else self._distances[index]

    def _avoid(self, verb: str, metres: float | None = None) -> None:
        """Take in the things that follow a verb of keeping away."""
        said = [] if metres is None else [metres]
        found = has_zone = False
        joins, self._and_joins_anchors = (
            self._and_joins_anchors,
            False,
        )  # "the chair next to the desk and the dog"
        while True:
            self._share_nouns(each=True)
            start = self.position
            phrase = self._remembered(self.noun_phrase())
            if phrase is None:
                break
            found = True
            related = " ".join(t for t in self.tokens[start : self.position] if t != SEPARATOR)
            said.extend(self._following_distances())
            bare = phrase.is_anything and not phrase.relations
            if bare and not _TOUCHING.isdisjoint(verb.split()):  # it touches nothing anyway
                texts: tuple[str, ...] = ()
            else:
                texts = self._barred(phrase, related)
            for text in texts:
                is_room = not phrase.relations and self.lexicon.room_in(text) is not None
                if is_room and said:
                    why = "is a room, which is not entered; a distance is kept to things"
                    raise self._not_understood(f'"{text}" {why}')
                has_zone = has_zone or not is_room
                if text not in self._constraints:
                    self._constraints.append(text)
                    self._list_of[text] = len(self._distances)
            if not self._to_next_thing():
                break
        self._and_joins_anchors = joins
        if not found:
            raise self._not_understood(f'"{verb}" what?')
        if has_zone:
            self._distances.append(max(said, default=None))
        self._barred_to = self.position

    def _barred(self, phrase: NounPhrase, related: str) -> tuple[str, ...]:
        """The constraints that a phrase means: itself, with its relations where it has some; of an area, what is there.

        Raises NotUnderstood where they cannot be told.
        """
        unknown = self._unknown_anchor(phrase)
        if unknown:
            why = f'what "{unknown}" is in "{shown(related)}" is not known'
            raise self._not_understood(
                f'{why}, so nothing would be kept away from; say only "{phrase.phrase}"'
            )
        is_area = phrase.category in self.words.areas
        if phrase.relations and phrase.category in self.words.places and phrase.room is None and not is_area:
            why = f'which one "{shown(related)}" is cannot be told'
            raise self._not_understood(f"{why}; name the room, or the thing in it")
        if not is_area:
            return (related,) if phrase.relations else (phrase.phrase,)
        whole = phrase.phrase.partition(" of ")[2]
        positive = [relation for relation in phrase.relations if not relation.negated]
        things = tuple(anchor.phrase for relation in positive for anchor in relation.anchors)
        rooms = tuple(relation.value for relation in positive if relation.name == "InRegion")
        if not (whole or things or rooms):
            raise self._not_understood(f'"{shown(related)}" is no thing; say what is there')
        return (whole,) if whole else things or rooms

    def _unknown_anchor(self, phrase: NounPhrase) -> str:
        """An anchor of the phrase that the lexicon does not have, "" where it has all of them."""
        stands = {*self.lexicon.structure, *self.words.places}
        for relation in phrase.relations:
            for anchor in relation.anchors:
                known = anchor.is_known or anchor.room is not None or anchor.category in stands
                known = known or self.lexicon.is_generic(anchor.category)
                unknown = self._unknown_anchor(anchor) if known else anchor.phrase
                if unknown:
                    return unknown
        return ""

    def _following_distances(self) -> list[float]:
        """Past asides and distances such as "by 2 m": the distances."""
        said: list[float] = []
        while not self.done and self.words.then.match(self.tokens, self.position) is None:
            start = self.position + (self.peek() == SEPARATOR)
            start += self.tokens[start : start + 1] == ["by"]
            distance = self.distance_at(start)
            if distance is not None:
                self.position = start + distance[0]
                said.append(distance[1])
            elif self.take(self.words.asides) is None and not self.take_unless_verb(self.words.fillers):
                break
        return said

    def _to_next_thing(self) -> bool:
        """Past what links a further thing of the list; False, and nothing consumed, where none follows."""
        start = self.position
        while self.take_words("as", "well", "as") or self.take_word(
            {SEPARATOR, "also", "nor", "plus", *self.words.conjunctions}
        ):
            pass
        if self.position > start and not self.done and not self.at_step(self.position):
            token = self.tokens[self.position]
            numbered = is_number(token) or token in self.words.cardinals
            if numbered or self.at_known_noun(self.position) or self._at_room(self.position):
                return True
        self.position = start
        return False

    def _take_distance_constraint(self) -> bool:
        """Such as "keep 2 m away from the wet floor", or "keep 2 m away" of what was named before."""
        kept = self.words.avoid_distance.match(self.tokens, self.position)
        distance = None if kept is None else self.distance_at(self.position + kept[0])
        if kept is None or distance is None:
            return False
        start = self.position
        self.position += kept[0] + distance[0]
        alone = self.words.avoid_distance_alone.match(self.tokens, self.position)
        named = self.words.avoid_distance_after.match(self.tokens, self.position)
        if named is not None and (alone is None or named[0] >= alone[0]):
            self.position += named[0]
            self._avoid("keep away from", distance[1])
            return True
        said = " ".join(self.tokens[start : self.position])
        if alone is None or not self._distances:
            raise self._not_understood(f'"{said}" from what? say "{said} away from the dog"')
        self.position += alone[0]
        before = self._distances[-1]
        self._distances[-1] = distance[1] if before is None else max(before, distance[1])
        self._barred_to = self.position
        return True
