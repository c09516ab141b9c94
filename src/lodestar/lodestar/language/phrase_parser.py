"""Reads noun phrases with attributes and relations off a token stream."""

from __future__ import annotations

from dataclasses import replace

from lodestar.language.cursor import TokenCursor
from lodestar.language.directive import MAX_COUNT, NotUnderstood
from lodestar.language.noun_phrases import (
    GENERIC,
    MAX_VARIABLES,
    TOO_MANY,
    NounPhrase,
    Relation,
)
from lodestar.language.words import SEPARATOR

PARTS = ("part", "side", "end", "portion", "area", "section", "half")
REGION_RELATIONS = ("Inside", "Near", "On", "NextTo")


class NounPhraseParser(TokenCursor):
    """A cursor over tokens that reads noun phrases.

    robust: words after a known noun that no table knows are passed over ("the chair pulled away").
    """

    robust = False

    def __init__(self, tokens: list[str]) -> None:
        super().__init__(tokens)
        self._and_joins_anchors = True
        self._depth = 0

    def at_known_noun(self, i: int) -> bool:
        """Whether a noun phrase with a determiner or a known noun begins at token i."""
        if self.words.determiners.match(self.tokens, i) is not None:
            return True
        while (
            i < len(self.tokens)
            and self.lexicon.attribute(self.tokens[i]) is not None
            and not self._noun_length(i)
        ):
            i += 1
        return self._noun_length(i) > 0

    def _ends_phrase(self, i: int) -> bool:
        token, words = self.tokens[i], self.words
        if token in words.conjunctions or token in words.constraint_links or token in words.pronouns:
            return True
        if token in words.modifiers:  # "right" in "the picture right above the seat" is none
            relation = words.relations.match(self.tokens, i)
            if relation is None or relation[0] < 2:
                return False
            return "".join(self.tokens[i + relation[0] : i + relation[0] + 1]) not in words.pronouns
        if token in (SEPARATOR, "of", "to", "from", "for", "not", "without", "'s"):
            return True
        tables = (
            words.determiners,
            words.single_out,
            words.relations,
            words.relative,
            words.then,
            words.fillers,
            words.purposes,
        )
        if any(table.match(self.tokens, i) is not None for table in tables):
            return True
        verb = words.verbs.match(self.tokens, i)
        return verb is not None and verb[1] == "avoid"

    def noun_phrase(self) -> NounPhrase | None:
        """The noun phrase that begins here, or None (and nothing consumed).

        Raises NotUnderstood where phrases nest deeper than a query graph has variables.
        """
        if self._depth >= MAX_VARIABLES:
            raise NotUnderstood(TOO_MANY)
        self._depth += 1
        try:
            return self._noun_phrase()
        finally:
            self._depth -= 1

    def _noun_phrase(self) -> NounPhrase | None:
        start = self.position
        determiner = ""
        while (taken := self._take_determiner()) is not None:
            determiner = taken
        number = self.take_number()
        while self._take_determiner() is not None:
            pass
        superlative = self.words.superlatives.get(self.peek() or "")
        if superlative is not None:
            self.position += 1
        ordinal = self._take_ordinal()
        collected = self._collect_words()
        if (
            collected
            and self.lexicon.singular(collected[-1]) in self.words.measures
            and self.take_word({"of"})
        ):
            before = self.position
            inner = self.noun_phrase()
            if inner is not None:
                return inner
            self.position = before
        if not collected and ordinal and self.words.single_out.match(self.tokens, self.position) is not None:
            collected = [GENERIC]  # "the second from the left"
        if not collected:
            self.position = start
            return None
        if collected and not ordinal and self._counted_after():
            ordinal = self._take_ordinal()
        count = (
            1 if number is None else round(min(max(number, 0.0), MAX_COUNT + 1.0))
        )  # further out says no more
        phrase = self._phrase(collected, count, determiner, ordinal)
        if self.take_word({"of"}):
            whole = self.noun_phrase()
            if whole is not None and phrase.category == GENERIC:  # "the smaller of the two cabinets"
                single = tuple(r for r in phrase.relations if r not in whole.relations)
                phrase = replace(
                    whole,
                    attributes=(*phrase.attributes, *whole.attributes),
                    relations=(*single, *whole.relations),
                )
            elif whole is not None:
                text = f"{phrase.phrase} of {whole.phrase}"
                phrase = replace(phrase, phrase=text, relations=whole.relations)
        if superlative is not None:
            phrase = self._with_superlative(phrase, superlative)
        return self.relations_of(phrase)

    def _take_ordinal(self) -> int:
        """Consume "second", 0 where none stands here; "first aid kit" has none."""
        ordinal = self.words.ordinals.get(self.peek() or "", 0)
        if not ordinal or self._noun_length(self.position) > 1:
            return 0
        self.position += 1
        return ordinal

    def _counted_after(self) -> bool:
        """Whether an ordinal and where it counts from stand here: "the keyboard second from the left"."""
        if (self.peek() or "") not in self.words.ordinals:
            return False
        return self.words.single_out.match(self.tokens, self.position + 1) is not None

    def _take_determiner(self) -> str | None:
        if self._noun_length(self.position) > 1:
            return None
        return self.take(self.words.determiners)

    def _with_superlative(self, phrase: NounPhrase, name: str) -> NounPhrase:
        anchor = self.noun_phrase() if self.take_word({"to", "from"}) else None
        return replace(
            phrase, relations=(Relation(name, () if anchor is None else (anchor,)), *phrase.relations)
        )

    def _collect_words(self) -> list[str]:
        collected: list[str] = []
        while not self.done:
            length = self._noun_length(self.position)
            if length > 1:
                collected.extend(self.tokens[self.position : self.position + length])
                self.position += length
                continue
            if self.peek() in (SEPARATOR, "and") and self._joins_attributes(collected):
                self.position += 1
                continue
            if self._ends_phrase(self.position) or (collected and self._counted_after()):
                break
            collected.append(self.tokens[self.position])
            self.position += 1
        return collected

    def _joins_attributes(self, collected: list[str]) -> bool:
        """Whether a comma or "and" stands between adjectives, as in "a big, red chair"."""
        following = self.peek(1)
        if not collected or following is None or self.at_step(self.position + 1):
            return False
        attribute, single = self.lexicon.attribute, self.words.modifiers
        describes = all(attribute(w) is not None or w in single for w in collected)
        return describes and (attribute(following) is not None or following in single)

    def _phrase(self, words: list[str], count: int, determiner: str, ordinal: int = 0) -> NounPhrase:
        lexicon = self.lexicon
        length = lexicon.known_suffix(words)
        if length == 0 and self.robust:
            words = self._up_to_noun(words)
            length = lexicon.known_suffix(words)
        describes = lexicon.attribute(words[-1]) is not None or words[-1] in self.words.modifiers
        if length == 0 and (not describes or lexicon.is_generic(words[-1])):
            length = 1
        lead, tail = words[: len(words) - length], words[len(words) - length :]
        attributes: list[str] = []
        modifiers: list[str] = []
        single: list[tuple[str, str]] = []
        for i, word in enumerate(lead):
            if word in self.words.modifiers:
                single.append(self.words.modifiers[word])
                continue
            attribute = lexicon.attribute(word)
            following = lexicon.attribute(lead[i + 1]) if i + 1 < len(lead) else None
            if attribute in ("dark", "light") and lexicon.attribute_group.get(following or "") == "colors":
                continue  # a shade
            if word in self.words.cardinals:
                continue
            if attribute is not None and not modifiers:
                attributes.append(attribute)
            elif word not in lexicon.ignored_attributes:
                modifiers.append(word)
        category = lexicon.singular_phrase(" ".join([*modifiers, *tail])) or GENERIC
        if lexicon.is_generic(category):
            category = GENERIC
        unique = tuple(dict.fromkeys(attributes))
        denied = tuple((a, False) for a in unique)
        text = " ".join([*unique, category])
        phrase = NounPhrase(text, category, denied, (), count, determiner, ordinal=ordinal)
        for name, value in single:
            phrase = phrase.singled_out(name, value)
        return phrase

    def _up_to_noun(self, words: list[str]) -> list[str]:
        """The words up to the last known noun; all of them where there is none."""
        for end in range(len(words) - 1, 0, -1):
            if not words[end].endswith(("ed", "ing", "s")) and len(words) - end < 3:
                continue  # "towel bar", "table tennis game": compounds that no table knows
            described = self.lexicon.attribute(words[end - 1]) is not None
            if self.lexicon.known_suffix(words[:end]) and not described:
                return words[:end]
        return words

    def relations_of(self, phrase: NounPhrase) -> NounPhrase:
        """The phrase with the relations and attributes that follow it."""
        while not self.done:
            start = self.position
            grown = self._one_relation(phrase)
            if grown is None:
                self.position = start
                break
            phrase = grown
        return phrase

    def _one_relation(self, phrase: NounPhrase) -> NounPhrase | None:
        """One more relation or post-posed attribute, or None."""
        start = self.position
        following = start + 1
        joined = self.peek() == "and" and not self.at_step(following)
        set_off = self.peek() == SEPARATOR and self.words.relations.match(self.tokens, following) is not None
        if self._depth <= 1 and (joined or set_off):  # of the whole phrase, not of its last anchor
            self.position = following  # "next to the desk and under the window"
        negated = False
        grown = self._singled_out(phrase)
        if grown is not None:
            return grown
        relation = self.take(self.words.relations)
        if relation is None:
            while self.take(self.words.relative) is not None:
                pass
            grown = self._singled_out(phrase)
            if grown is not None:
                return grown
            if self.peek() in ("not", "isn't", "aren't"):
                negated = True
                relation = self.take(self.words.relations)
                if relation is None:
                    self.position += 1
            if relation is None:
                relation = self.take(self.words.relations)
            else:
                negated = False  # its own table entry says so
        if relation is not None:
            return self._anchored(phrase, relation, negated)
        if self.position == start:
            return None
        return self._post_attributes(phrase, negated)

    def _singled_out(self, phrase: NounPhrase) -> NounPhrase | None:
        """The phrase with "on the left", "by itself" and the like, unless a longer relation begins here."""
        match = self.words.single_out.match(self.tokens, self.position)
        if match is None:
            return None
        relation = self.words.relations.match(self.tokens, self.position)
        if relation is not None and relation[0] > match[0]:
            return None
        following = self.position + match[0]
        if match[1].endswith(" 1") and following < len(self.tokens) and self.tokens[following] == "of":
            return None  # "on the top of"
        self.position = following
        name, _, value = match[1].partition(" ")
        return phrase.singled_out(name, value)

    def _post_attributes(self, phrase: NounPhrase, negated: bool) -> NounPhrase | None:
        """Attributes after the noun: "that is red", "made of wood"."""
        found: list[tuple[str, bool]] = []
        while (attribute := self.lexicon.attribute(self.peek() or "")) is not None:
            found.append((attribute, negated))
            self.position += 1
        if not found:
            return None
        said = [word for word, denied in found if not denied]
        text = " ".join([*said, phrase.phrase])
        return replace(phrase, phrase=text, attributes=(*phrase.attributes, *found))

    def _anchored(self, phrase: NounPhrase, relation: str, negated: bool) -> NounPhrase | None:
        name = relation.rstrip("!^")
        negated = negated != relation.endswith("!")
        inverse = relation.endswith("^")
        if self.take_words("each", "other") or self.take_words("one", "another"):
            return phrase  # of several things, not of the one that is meant
        anchors = self._anchors(name)
        if not anchors:
            return None
        if name == "NextTo" and self._take_any(("on", "it"), ("on", "top", "of", "it"), ("on", "top")):
            name, inverse = "On", True
        elif name == "NextTo" and self._take_any(("in", "it"), ("inside", "it")):
            name, inverse = "Inside", True
        added: list[Relation] = []
        place = phrase.was_in_place
        anchors = tuple(self._meant(phrase, a, added) for a in anchors)
        if name == "Between":
            added.append(Relation(name, anchors, negated))
        else:
            for anchor in anchors:
                if name == "On" and anchor.category in self.lexicon.structure:
                    added.append(Relation(name, (anchor,), negated, inverse))
                elif name in REGION_RELATIONS and anchor.is_place(self.words.places):
                    place = True
                elif name in self._region_relations(anchor) and anchor.room is not None:
                    added.append(Relation("InRegion", (), negated, value=anchor.room))
                else:
                    added.append(Relation(name, (anchor,), negated, inverse))
        return replace(phrase, relations=(*phrase.relations, *added), was_in_place=place)

    def _meant(self, phrase: NounPhrase, anchor: NounPhrase, lifted: list[Relation]) -> NounPhrase:
        """The anchor as it is meant: "the other two" are of the phrase's kind, and what is said of a corner or a
        part ("in the corner behind the desk") is said of what is there.
        """
        if anchor.category in self.words.others:
            return replace(anchor, phrase=f"other {phrase.category}", category=phrase.category)
        if anchor.category not in self.lexicon.structure and anchor.category.split(" ")[0] not in PARTS:
            return anchor
        lifted.extend(anchor.relations)
        return replace(anchor, relations=())

    def _region_relations(self, anchor: NounPhrase) -> tuple[str, ...]:
        """Relations that put a thing into a room: only "in" for what may also be a piece of furniture."""
        return ("Inside",) if self.lexicon.canonical(anchor.category) is not None else REGION_RELATIONS

    def _take_any(self, *phrases: tuple[str, ...]) -> bool:
        return any(self.take_words(*phrase) for phrase in phrases)

    def _anchors(self, name: str) -> tuple[NounPhrase, ...]:
        joined, self._and_joins_anchors = (
            self._and_joins_anchors,
            self._and_joins_anchors and name != "Between",
        )
        first = self.noun_phrase()
        self._and_joins_anchors = joined
        if first is None:
            return ()
        anchors = [first]
        if name == "Between":
            if first.count < 2 and self.take_word({"and"}):
                second = self.noun_phrase()
                anchors.append(first if second is None else second)
            else:
                anchors.append(first)
            return tuple(anchors)
        while joined and self.peek() == "and" and not self.at_step(self.position + 1):
            following = self.position + 1
            if self.words.relations.match(self.tokens, following) or not self.at_known_noun(following):
                break
            self.position = following
            further = self.noun_phrase()
            if further is None:
                break
            anchors.append(further)
        return tuple(anchors)
