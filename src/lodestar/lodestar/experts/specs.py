"""Specification of an expert: its name, factory, colour, topics and prior."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lodestar.language.reasoner import Reasoner
    from lodestar.models.category_priors import CategoryPriors
    from lodestar.models.phrases import PhraseBook

_NAME = re.compile(r"[a-z][a-z0-9_]*")


class Role(Enum):
    """A role of an expert in the decision loop; each role has one holder."""

    EXPLORER = "explorer"  # its EXPLORED ends an exploration
    MAP_EXPERT = "map expert"  # has viewpoints of known entities; NO_VIEWPOINT = none is reachable
    VIEWER = "viewer"  # its confidence is V_vlm (RoboAtlas IV-A)


@dataclass(frozen=True)
class ExpertTools:
    """Shared parts that the factory of an expert may use.

    reasoner: None if the expert's configuration has no field `reasoner`. priors(file): returns the priors of
    categories; raises BadPriors.
    """

    phrases: PhraseBook | None
    reasoner: Reasoner | None
    priors: Callable[[str], CategoryPriors]

    def mind(self) -> Reasoner:
        """Return the reasoner. Raises ValueError if there is none."""
        if self.reasoner is None:
            raise ValueError("this expert asks a reasoner: give its configuration a field `reasoner`")
        return self.reasoner

    def book(self) -> PhraseBook:
        """Return the phrase book. Raises ValueError if there is none."""
        if self.phrases is None:
            raise ValueError("this expert compares words: give it a phrase book")
        return self.phrases


@dataclass(frozen=True)
class ExpertSpec:
    """Specification of an expert, with the factory `make`, which imports the algorithm when it is called.

    make(config, tools): returns an object with `name` and `propose` (`protocol.Expert`). It receives the
    facts for which it has a setter (`protocol`).
    """

    name: str  # arm of the policy; its node is NAME_expert
    config: type  # frozen dataclass with defaults: the parameters of its node
    make: Callable[[Any, ExpertTools], Any]
    color: tuple[float, float, float]  # red, green, blue in [0, 1], in RViz and in pictures of a run
    roles: frozenset[Role] = frozenset()
    #: expected reward per feature before learning, for LinUCB's prior "directed"
    prior: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    turns: int = 1  # consecutive decisions under the policy "fixed"
    publishes: tuple[str, ...] = ()  # names of topics of its node that others subscribe to
    recorded: tuple[str, ...] = ()  # subset that is recorded
    # parameter values used with RViz
    shown: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    executable: str = "expert"  # that runs it; "expert" supplies the grid, the scene and the phrases' vectors

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
        """Return the name of its node, and of its section in the configuration."""
        return f"{self.name}_expert"

    @property
    def reasons(self) -> bool:
        """Return whether the expert uses a reasoner (such as a language model)."""
        return any(item.name == "reasoner" for item in fields(self.config))

    @property
    def topics(self) -> tuple[tuple[str, str], ...]:
        """Return (name, topic) of each topic that its node publishes for others."""
        return tuple((name, f"{self.node}/{name}") for name in self.publishes)
