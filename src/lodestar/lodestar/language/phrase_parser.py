"""Reads noun phrases with attributes and relations off a token stream."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from lodestar.language.directive import NotUnderstood
from lodestar.language.noun_phrases import GENERIC, MAX_VARIABLES, TOO_MANY, NounPhrase, Relation
from lodestar.language.words import SEPARATOR, PhraseTable, load_words
from lodestar.models.lexicon import load_lexicon

REGION_RELATIONS = ("Inside", "Near", "On", "NextTo")


class NounPhraseParser:
    """A cursor over tokens that reads noun phrases."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.position = 0
        self.words = load_words()
        self.lexicon = load_lexicon()
        self._and_joins_anchors = True
        self._depth = 0

    @property
    def done(self) -> bool:
        return self.position >= len(self.tokens)

    def peek(self, ahead: int = 0) -> str | None:
        i = self.position + ahead
        return self.tokens[i] if i < len(self.tokens) else None

    def take(self, table: PhraseTable) -> str | None:
        """Consume the longest phrase of the table that begins here."""
        match = table.match(self.tokens, self.position)
        if match is None:
            return None
        self.position += match[0]
        return match[1]

    def take_word(self, words: Collection[str | None]) -> bool:
        """Consume one token where it is among `words`."""
        if self.peek() in words:
            self.position += 1
            return True
        return False

    def take_words(self, *words: str) -> bool:
        """Consume exactly these tokens."""
        if tuple(self.tokens[self.position : self.position + len(words)]) == words:
            self.position += len(words)
            return True
        return False

    def take_number(self) -> float | None:
        """Consume a number in digits or words; a known noun such as "first aid kit" is none."""
        token = self.peek() or ""
        try:
            value = float(token) if token[:1].isdigit() else None
        except ValueError:
            value = None
        if value is not None:
            self.position += 1
            return value
        word = self.take(self.words.numbers)
        return None if word is None else float(word)

    def take_home(self) -> bool:
        """Consume what RETURN goes back to, where nothing else follows in this step."""
        match = self.words.home.match(self.tokens, self.position)
        if match is None:
            return False
        following = self.position + match[0]
        free = following >= len(self.tokens) or self.tokens[following] == SEPARATOR
        if not (free or self.at_step(following) or self.words.fillers.match(self.tokens, following)):
            return False
        self.position = following
        return True

    def skip_to_separator(self) -> None:
        """Past everything up to the next separator or step."""
        while (
            not self.done
            and self.peek() != SEPARATOR
            and self.words.then.match(self.tokens, self.position) is None
        ):
            self.position += 1

    def at_step(self, i: int) -> bool:
        """Whether another step begins at token i."""
        words = self.words
        while i < len(self.tokens) and self.tokens[i] in (
            "please",
            "also",
            "finally",
            *words.constraint_links,
        ):
            i += 1
        tables = (words.verbs, words.then)
        if self._noun_length(i) > 1:
            return False
        if any(table.match(self.tokens, i) is not None for table in tables):
            return True
        match = words.avoid_distance.match(self.tokens, i)
        return (
            match is not None and i + match[0] < len(self.tokens) and self.tokens[i + match[0]][:1].isdigit()
        )

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

    def _noun_length(self, i: int) -> int:
        for length in range(min(self.lexicon.longest_noun, len(self.tokens) - i), 0, -1):
            window = self.tokens[i : i + length]
            if SEPARATOR not in window and self.lexicon.canonical(" ".join(window)) is not None:
                return length
        return 0

    def _ends_phrase(self, i: int) -> bool:
        token, words = self.tokens[i], self.words
        if token in words.conjunctions or token in words.constraint_links or token in words.pronouns:
            return True
        if token in (SEPARATOR, "of", "to", "from", "for", "not", "without", "'s"):
            return True
        tables = (
            words.determiners,
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
        collected = self._collect_words()
        if (
            collected
            and self.lexicon.singular(collected[-1]) in self.words.measures
            and self.take_word({"of"})
        ):
            inner = self.noun_phrase()
            if inner is not None:
                return inner
            self.position = start
        if not collected:
            self.position = start
            return None
        phrase = self._phrase(collected, max(1, round(number)) if number else 1, determiner)
        if self.take_word({"of"}):
            whole = self.noun_phrase()
            if whole is not None:
                text = f"{phrase.phrase} of {whole.phrase}"
                phrase = replace(phrase, phrase=text, relations=whole.relations)
        if superlative is not None:
            phrase = self._with_superlative(phrase, superlative)
        return self.relations_of(phrase)

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
            if self._ends_phrase(self.position):
                break
            collected.append(self.tokens[self.position])
            self.position += 1
        return collected

    def _joins_attributes(self, collected: list[str]) -> bool:
        """Whether a comma or "and" stands between adjectives, as in "a big, red chair"."""
        following = self.peek(1)
        if not collected or following is None or self.at_step(self.position + 1):
            return False
        attribute = self.lexicon.attribute
        return all(attribute(w) is not None for w in collected) and attribute(following) is not None

    def _phrase(self, words: list[str], count: int, determiner: str) -> NounPhrase:
        lexicon = self.lexicon
        length = lexicon.known_suffix(words)
        if length == 0 and (lexicon.attribute(words[-1]) is None or lexicon.is_generic(words[-1])):
            length = 1
        lead, tail = words[: len(words) - length], words[len(words) - length :]
        attributes: list[str] = []
        modifiers: list[str] = []
        for i, word in enumerate(lead):
            attribute = lexicon.attribute(word)
            following = lexicon.attribute(lead[i + 1]) if i + 1 < len(lead) else None
            if attribute in ("dark", "light") and lexicon.attribute_group.get(following or "") == "colors":
                continue  # a shade
            if attribute is not None and not modifiers:
                attributes.append(attribute)
            elif word not in lexicon.ignored_attributes:
                modifiers.append(word)
        category = lexicon.singular_phrase(" ".join([*modifiers, *tail])) or GENERIC
        if lexicon.is_generic(category):
            category = GENERIC
        unique = tuple(dict.fromkeys(attributes))
        return NounPhrase(
            " ".join([*unique, category]), category, tuple((a, False) for a in unique), (), count, determiner
        )

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
        relation = self.take(self.words.relations)
        if relation is None:
            while self.take(self.words.relative) is not None:
                pass
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
        anchors = self._anchors(name)
        if not anchors:
            return None
        if name == "NextTo" and self._take_any(("on", "it"), ("on", "top", "of", "it"), ("on", "top")):
            name, inverse = "On", True
        elif name == "NextTo" and self._take_any(("in", "it"), ("inside", "it")):
            name, inverse = "Inside", True
        added: list[Relation] = []
        place = phrase.was_in_place
        if name == "Between":
            added.append(Relation(name, anchors, negated))
        else:
            for anchor in anchors:
                if name == "On" and anchor.category in self.lexicon.structure:
                    added.append(Relation(name, (anchor,), negated, inverse))
                elif name in REGION_RELATIONS and anchor.is_place(self.words.places):
                    place = True
                elif name in REGION_RELATIONS and anchor.room is not None:
                    added.append(Relation("InRegion", (), negated, value=anchor.room))
                else:
                    added.append(Relation(name, (anchor,), negated, inverse))
        return replace(phrase, relations=(*phrase.relations, *added), was_in_place=place)

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
