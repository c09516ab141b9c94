"""A compiled referring expression: typed predicates between a target and anchors (FARM 2.3, D.2)."""

from __future__ import annotations

from dataclasses import dataclass

PREDICATES = (
    "Near", "On", "Above", "Below", "NextTo", "Between", "Inside", "InRegion",
    "LeftOf", "RightOf", "InFrontOf", "Behind", "Closest", "Farthest", "HasAttribute", "IsCategory",
)  # fmt: skip


@dataclass(frozen=True)
class QueryVariable:
    """Something that is to be bound to an entity: "red chair" of category "chair"."""

    phrase: str
    category: str


@dataclass(frozen=True)
class Predicate:
    """A relation; `arguments` index the variables, the first is the constrained one."""

    name: str
    arguments: tuple[int, ...]
    value: str = ""
    negated: bool = False
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.name not in PREDICATES:
            raise ValueError(f"unknown predicate {self.name!r}; known: {', '.join(PREDICATES)}")


@dataclass(frozen=True)
class QueryGraph:
    """Variable 0 is the target, the others are anchors. `weight` is its share among alternative readings."""

    variables: tuple[QueryVariable, ...]
    predicates: tuple[Predicate, ...] = ()
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not self.variables:
            raise ValueError("a query graph needs at least its target variable")
        for predicate in self.predicates:
            if any(not 0 <= a < len(self.variables) for a in predicate.arguments):
                raise ValueError(
                    f"{predicate.name} names a variable that is not there: {predicate.arguments}"
                )

    @property
    def target(self) -> QueryVariable:
        """What is looked for."""
        return self.variables[0]
