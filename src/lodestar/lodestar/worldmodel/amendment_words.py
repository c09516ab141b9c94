"""Wording of amendments as sentences for people."""

from __future__ import annotations

from lodestar.scene.captions import clean_text
from lodestar.worldmodel.amendments import Amendment, Change, middle_of
from lodestar.worldmodel.records import entity_name
from lodestar.worldmodel.trace_sentences import Names, belief_in_words, name_in_words, nameless


def amendment_in_words(amendment: Amendment, names: Names = nameless) -> str:
    """Return the amendment as one sentence with its reason. names: entity id -> name."""
    thing = name_in_words(entity_name(amendment.entity_id), names)
    place = "" if amendment.way is None else "({:.1f}, {:.1f})".format(*middle_of(amendment.way))
    what = "area" if amendment.way is not None and amendment.way.area else "way"
    belief = "" if amendment.belief is None else belief_in_words(amendment.belief, names)
    label = clean_text(amendment.label)
    said = {
        Change.ARCHIVE: f"{thing} is gone",
        Change.RESTORE: f"{thing} is there",
        Change.DOUBT: f"{thing} must be looked at before it is acted on",
        Change.RELABEL: f"{thing} is called {label!r}" if label else f"{thing} is called as it was seen",
        Change.RELATE: belief,
        Change.CLOSE_WAY: f"the {what} at {place} is closed",
        Change.OPEN_WAY: f"the {what} at {place} is open",
    }[amendment.change]
    why = clean_text(amendment.reason).rstrip(".")
    return f"{said[:1].upper()}{said[1:]}{f' ({why})' if why else ''}."
