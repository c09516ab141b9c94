"""What "or" joins: things, places of one thing, and adjectives of one noun."""

from __future__ import annotations

from dataclasses import replace

from lodestar.language.directive_phrases import DirectivePhraseParser
from lodestar.language.noun_phrases import GENERIC, NounPhrase, Relation
from lodestar.language.words import SEPARATOR


class AlternativesParser(DirectivePhraseParser):
    """Reads one or more noun phrases of which any will do."""

    def _noun_phrases(self) -> tuple[NounPhrase, ...]:
        self._share_nouns(each=False)
        first = self._remembered(self.noun_phrase())
        if first is None:
            return ()
        found: tuple[NounPhrase, ...] = (first,)
        while self._take_or():
            more = self._with_further(found)
            if more is None:
                break
            found = more
        return found

    def _take_or(self) -> bool:
        """Past "or", set off by a comma or not, or past a comma of a list that ends with "or"."""
        following = self.position + (self.peek() == SEPARATOR)
        joined = self.tokens[following : following + 1] == ["or"]
        if joined and not self.at_step(following + 1):
            self.position = following + 1
            return True
        if self.peek() != SEPARATOR or not self._list_ends_with_or():
            return False
        self.position += 1
        return True

    def _list_ends_with_or(self) -> bool:
        """Whether what follows the comma here are names set off by commas, the last of them by "or"."""
        start, noun = self.position, self._noun
        ends = False
        while self.take_word({SEPARATOR}) and not ends and not self.at_step(self.position):
            ends = self.take_word({"or"})
            if ends or not self.at_known_noun(self.position) or self.noun_phrase() is None:
                break
            ends = self.peek() == "or" and not self.at_step(self.position + 1)
        self.position, self._noun = start, noun
        return ends

    def _with_further(self, found: tuple[NounPhrase, ...]) -> tuple[NounPhrase, ...] | None:
        """The alternatives with those that what begins here makes of them."""
        start, before = self.position, found[-1]
        self._share_nouns(each=False)
        phrase = self.noun_phrase()
        if phrase is None:
            return None
        alike = tuple(p for p in found if p.relations == before.relations)
        if phrase.category == GENERIC and not self._names_anything(start):
            more = [self._same_but(before, phrase)]  # "that is red or blue"
        else:
            elsewhere = [self._elsewhere(p, phrase) for p in alike]
            more = [p for p in elsewhere if p is not None]
            if len(more) < len(alike):
                self._remembered(phrase)
                return self._with_shared_place((*found, phrase))
        if _says_more(more[-1], before):
            found = tuple(p for p in found if p not in alike)
        return (*found, *more)

    def _names_anything(self, start: int) -> bool:
        return any(self.lexicon.is_generic(token) for token in self.tokens[start : self.position])

    def _same_but(self, before: NounPhrase, phrase: NounPhrase) -> NounPhrase:
        """The phrase before with the attributes of this one instead of its own of their sort."""
        groups = self.lexicon.attribute_group
        if before.attributes and before.attributes[-1][1]:  # "that is not red or blue"
            denied = tuple((attribute, True) for attribute, _ in phrase.attributes)
            return replace(before, attributes=(*before.attributes, *denied))
        sorts = {groups.get(attribute) for attribute, _ in phrase.attributes}
        kept = tuple(a for a in before.attributes if groups.get(a[0]) not in sorts)
        attributes = (*kept, *phrase.attributes)
        said = [attribute for attribute, denied in attributes if not denied]
        return replace(
            before,
            phrase=" ".join([*said, before.category]),
            attributes=attributes,
            relations=(*before.relations, *phrase.relations),
        )

    def _elsewhere(self, before: NounPhrase, phrase: NounPhrase) -> NounPhrase | None:
        """The phrase before with this one in the stead of its last anchor, None where this one is a thing to look for.

        Raises NotUnderstood where both may be meant.
        """
        if not before.relations:
            return None
        *others, last = before.relations
        if last.negated:  # "not in the kitchen or the bedroom": in neither
            others = [*others, last]
        if last.anchors:
            *first, anchor = last.anchors
            deeper = self._elsewhere(anchor, phrase)
            if deeper is None and (phrase.room is not None or not self._is_anchor(before, anchor, phrase)):
                return None
            anchors = (*first, phrase if deeper is None else deeper)
            return replace(before, relations=(*others, replace(last, anchors=anchors)))
        if last.name != "InRegion" or phrase.room is None:
            return None
        region = Relation("InRegion", (), last.negated, value=phrase.room)
        return replace(before, relations=(*others, region, *phrase.relations))

    def _is_anchor(self, head: NounPhrase, anchor: NounPhrase, phrase: NounPhrase) -> bool:
        """Whether a thing after "or" is one more anchor, told by its article. Raises NotUnderstood where it is not."""
        if phrase.relations or phrase.category == head.category:
            return False
        if phrase.category == anchor.category:
            return True
        if not phrase.determiner or phrase.determiner != head.determiner:
            return phrase.determiner in ("", anchor.determiner)
        if phrase.determiner != anchor.determiner:
            return False
        both = f'"or the {phrase.phrase}" may be said of the {head.phrase} or of where it is'
        raise self._not_understood(f"{both}; name the {phrase.phrase} first, or the {head.phrase} twice")

    def _with_shared_place(self, found: tuple[NounPhrase, ...]) -> tuple[NounPhrase, ...]:
        """ "A mug or a glass on the table": both are on it, unless their articles differ."""
        *before, last = found
        place = tuple(r for r in last.relations if r.anchors or r.name == "InRegion")
        alike = all(not p.relations and last.determiner in ("", p.determiner) for p in before)
        if not place or not alike:
            return found
        return (*(replace(p, relations=place, was_in_place=last.was_in_place) for p in before), last)


def _says_more(phrase: NounPhrase, before: NounPhrase) -> bool:
    """Whether a phrase denies something more than another, and says all that this one says."""
    relations, attributes = before.relations, before.attributes
    if phrase.relations[: len(relations)] != relations or phrase.attributes[: len(attributes)] != attributes:
        return False
    more = [r.negated for r in phrase.relations[len(relations) :]]
    more += [denied for _, denied in phrase.attributes[len(attributes) :]]
    return phrase.category == before.category and bool(more) and all(more)
