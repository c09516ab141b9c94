"""Election of labels, captions and attributes by votes. Text of detectors and captioners is untrusted."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache

from lodestar.mapping.instances.records import CaptionVote
from lodestar.models.kinship import kind_of
from lodestar.models.lexicon import load_lexicon

MAX_CHARACTERS = 200
_NO_WORD = re.compile(r"[^\w\s'-]|_")
_NAME_WORDS = 8  # most words of an object's name
_NAME_LETTERS = 60
_LEAST_TOLD = 0.1  # least share of all votes for an attribute: rarer ones belong to another object; chosen


@lru_cache(maxsize=8192)
def clean_text(text: str) -> str:
    """Return the text on one line without control characters, at most MAX_CHARACTERS long."""
    printable = "".join(c if c.isprintable() else " " for c in text[: 4 * MAX_CHARACTERS])
    return " ".join(printable.split())[:MAX_CHARACTERS].rstrip()


def words_only(text: str, letters: int = _NAME_LETTERS, most: int = _NAME_WORDS) -> str:
    """Return the words of an untrusted text on one line, without punctuation and control characters.

    At most `most` words and `letters` characters are kept.
    """
    words = _NO_WORD.sub(" ", clean_text(text)).split()[:most]
    return " ".join(words)[:letters].strip(" '-")


@lru_cache(maxsize=8192)
def attributes_of(caption: str) -> tuple[str, ...]:
    """Return the canonical attributes that a caption names."""
    return load_lexicon().attributes_in(caption)


def shows(attributes: Sequence[str], value: str) -> bool:
    """Return whether a camera can tell if an object has the attribute `value`.

    Colours, materials and sizes are visible. Other values, such as "off" or "locked", count only if they are
    among the object's known attributes.
    """
    lexicon = load_lexicon()
    canonical = lexicon.attribute(value) or value
    return canonical in attributes or lexicon.attribute_group.get(canonical, "others") != "others"


def tells(attributes: Sequence[str], value: str) -> bool:
    """Return whether an object's attributes decide if it is `value`.

    They do if they contain `value` or another value of its group, such as another colour. An object without a
    known material, for example, may be of any material.
    """
    lexicon = load_lexicon()
    canonical = lexicon.attribute(value) or value
    group = lexicon.attribute_group.get(canonical, "others")
    known = {lexicon.attribute_group.get(one, "others") for one in attributes} - {"others"}
    return canonical in attributes or group in known


def says_more(caption: str, label: str) -> bool:
    """Return whether a caption is not empty and differs from the label."""
    return bool(caption) and caption.casefold() != label.casefold()


def merge_votes(*groups: Iterable[CaptionVote]) -> tuple[CaptionVote, ...]:
    """Return the votes of several sources, summed per label and caption, heaviest first."""
    weights: dict[tuple[str, str], float] = defaultdict(float)
    for group in groups:
        for vote in group:
            if vote.weight > 0.0:
                weights[clean_text(vote.label), clean_text(vote.caption)] += vote.weight
    ranked = sorted(weights.items(), key=lambda item: (-item[1], item[0]))
    return tuple(CaptionVote(label, caption, weight) for (label, caption), weight in ranked)


def elect(votes: Iterable[CaptionVote], attribute_share: float) -> tuple[str, str, tuple[str, ...]]:
    """Return the elected label, caption and attributes; empty without votes.

    Synonyms vote together: elected are the heaviest label of the heaviest kind, its heaviest caption, and the
    attributes that at least `attribute_share` of that kind's votes name, heaviest first. For a colour, a
    material or a size, only votes that name any value of that group are counted, because an unsure view is no
    vote against it; at least a tenth of all votes must name it.
    """
    kinds: dict[str, float] = defaultdict(float)
    labels: dict[str, float] = defaultdict(float)
    captions: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for vote in votes:
        label = clean_text(vote.label)
        labels[label] += vote.weight
        kinds[kind_of(label)] += vote.weight
        captions[label][clean_text(vote.caption)] += vote.weight
    if not labels:
        return "", "", ()
    label = min(labels, key=lambda name: (-kinds[kind_of(name)], -labels[name], name))
    caption = min(captions[label], key=lambda text: (-captions[label][text], not text, text))
    shares: dict[str, float] = defaultdict(float)
    told: dict[str, float] = defaultdict(float)  # group of attributes -> weight of votes that name one
    groups = load_lexicon().attribute_group
    for name in (name for name in captions if kind_of(name) == kind_of(label)):
        for text, weight in captions[name].items():
            named = attributes_of(text)
            for attribute in named:
                shares[attribute] += weight
            for group in {groups.get(attribute, "others") for attribute in named} - {"others"}:
                told[group] += weight
    of_all = kinds[kind_of(label)]
    kept = []
    for one, share in shares.items():
        votes_on_it = told.get(groups.get(one, "others"), of_all)
        if share >= max(attribute_share * votes_on_it, _LEAST_TOLD * of_all) > 0.0:
            kept.append(one)
    return label, caption or label, tuple(sorted(kept, key=lambda a: (-shares[a], a)))
