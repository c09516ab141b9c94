"""Names of those whose goals the loop sends: two of the experts that it treats apart, and the loop itself."""

from __future__ import annotations

from lodestar.experts.registry import holder
from lodestar.experts.specs import Role

EXPLORER = holder(Role.EXPLORER)  # the expert whose EXPLORED ends exploration
KNOWER = holder(Role.MAP_EXPERT)  # the expert that has viewpoints of known entities
HOME = "return"  # the way back to the start
CHARGER = "charger"  # the way to the charger
PLACE = "place"  # a room, a pose or a spot that a step names
ASIDE = "retreat"  # a step out of a tight place
KNOWN = "known_target"  # a known target, taken by the loop because the experts were late
SKILL = "skill"  # a skill of a user's
LOOK = "look"  # a turn that tells the causes of a failure apart
