"""The record of an expert: everything that the rest of the robot has to know of one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lodestar.language.reasoner import Reasoner
    from lodestar.models.phrases import PhraseBook
    from lodestar.scene.category_priors import CategoryPriors

_NAME = re.compile(r"[a-z][a-z0-9_]*")


class Role(Enum):
    """A part that one expert plays for the decision loop; each has one holder."""

    EXPLORER = "explorer"  # its EXPLORED ends exploration
    MAP_EXPERT = "map expert"  # has viewpoints of known entities; its NO_VIEWPOINT says that none leads there
    VIEWER = "viewer"  # its confidence is V_vlm (RoboAtlas IV-A)


@dataclass(frozen=True)
class ExpertTools:
    """Parts of others that a factory may use.

    reasoner: None where the expert's configuration has no field of that name. priors(file): priors of categories, which
    raises BadPriors.
    """

    phrases: PhraseBook | None
    reasoner: Reasoner | None
    priors: Callable[[str], CategoryPriors]

    def mind(self) -> Reasoner:
        """Return the reasoner. Raises ValueError where there is none."""
        if self.reasoner is None:
            raise ValueError("this expert asks a reasoner: give its configuration a field `reasoner`")
        return self.reasoner

    def book(self) -> PhraseBook:
        """Return the phrase book. Raises ValueError where there is none."""
        if self.phrases is None:
            raise ValueError("this expert compares words: give it a phrase book")
        return self.phrases


@dataclass(frozen=True)
class ExpertSpec:
    """An expert as data, and the factory that makes it. The factory imports its algorithm when it is called.

    make(config, tools): returns an object with `name` and `propose` (`protocol.Expert`). It gets the facts for which
    it has a setter (`protocol`).
    """

    name: str  # arm of the policy; its node is NAME_expert
    config: type  # frozen dataclass with defaults: the parameters of its node
    make: Callable[[Any, ExpertTools], Any]
    color: tuple[float, float, float]  # red, green, blue in [0, 1], in RViz and in pictures of a run
    roles: frozenset[Role] = frozenset()
    #: expected reward per feature before anything was learned, for LinUCB's prior "directed"
    prior: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    turns: int = 1  # decisions in a row that the policy "fixed" gives it
    publishes: tuple[
        str, ...
    ] = ()  # topics of its node that others read, by the names under which they listen
    recorded: tuple[str, ...] = ()  # those of them that a recording keeps
    shown: Mapping[str, object] = field(
        default_factory=lambda: MappingProxyType({})
    )  # its parameters with RViz
    executable: str = "expert"  # that runs it; "expert" gives it the grid, the scene and the phrases' vectors

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"an expert's name is lower-case letters, digits and _, not {self.name!r}")
        if not is_dataclass(self.config):
            raise ValueError(f"{self.name}: config is a frozen dataclass, not {self.config!r}")
        if len(self.color) != 3 or not all(0.0 <= part <= 1.0 for part in self.color):
            raise ValueError(f"{self.name}: color is red, green, blue in [0, 1], not {self.color}")
        if self.turns < 1 or set(self.recorded) - set(self.publishes):
            raise ValueError(f"{self.name}: turns is 1 or more, and only what it publishes can be recorded")

    @property
    def node(self) -> str:
        """Return the name of its node and of its part of the configuration."""
        return f"{self.name}_expert"

    @property
    def reasons(self) -> bool:
        """Return whether it asks a reasoner."""
        return any(item.name == "reasoner" for item in fields(self.config))

    @property
    def topics(self) -> tuple[tuple[str, str], ...]:
        """Return the name under which others listen and the topic, of all that its node publishes for them."""
        return tuple((name, f"{self.node}/{name}") for name in self.publishes)
