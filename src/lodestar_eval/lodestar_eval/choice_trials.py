"""Searches that are replayed from logged goals, with experts whose quality differs by building and changes.

A search goes through the decisions of a logged one: the goals that each expert offered there, with the chance and the
seconds that it told. The goal that a policy chooses finds the target with the told chance times the true quality of its
expert in that building at that time, and takes the told seconds times a drawn factor. All policies meet the same
buildings, decisions and draws. What a choice changes in the later offers is not simulated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lodestar.experts.registry import EGO_VLM, FRONTIER, SEMANTIC_MAP
from lodestar.selection.context import feature_names
from lodestar.selection.decisions import Decision
from lodestar.selection.policy import Policy

FEATURES = "valued"
PHASES = ("a view that is wrong in warehouses", "a detector without the word", "rooms without labels")

#: Factor of the told chance by phase, kind of building and expert: 1 = it is true. That of frontiers is measured (20
#: expected, 9 shown at the next decision, in 14 development buildings; docs/measurements/choices.md); the others are
#: the regime that ADR 0094 asks about, chosen. In the last phase the view's model is replaced by a better one.
Quality = Mapping[str, float]
_GOOD = {FRONTIER.name: 0.5, SEMANTIC_MAP.name: 1.0, EGO_VLM.name: 1.0}
QUALITY: tuple[Mapping[str, Quality], ...] = (
    {
        "apartment": _GOOD,
        "office": _GOOD | {EGO_VLM.name: 0.4},
        "warehouse": _GOOD | {EGO_VLM.name: 0.0},
    },
    {
        "apartment": _GOOD | {SEMANTIC_MAP.name: 0.1, EGO_VLM.name: 0.1},
        "office": _GOOD | {SEMANTIC_MAP.name: 0.1, EGO_VLM.name: 0.1},
        "warehouse": _GOOD | {SEMANTIC_MAP.name: 0.1, EGO_VLM.name: 0.0},
    },
    {
        "apartment": _GOOD | {SEMANTIC_MAP.name: 0.2, EGO_VLM.name: 2.0},
        "office": _GOOD | {SEMANTIC_MAP.name: 0.2, EGO_VLM.name: 2.0},
        "warehouse": _GOOD | {SEMANTIC_MAP.name: 0.2, EGO_VLM.name: 1.0},
    },
)


@dataclass(frozen=True)
class Offers:
    """The goals of one logged decision. contexts: (A, d) of FEATURES; admissible: (A,); chance, seconds: (A,)."""

    contexts: np.ndarray
    admissible: np.ndarray
    chance: np.ndarray
    seconds: np.ndarray


@dataclass(frozen=True)
class Template:
    """A logged search. kind: of its building."""

    kind: str
    offers: tuple[Offers, ...]


@dataclass(frozen=True)
class TrialConfig:
    """Size of a stream of searches."""

    buildings: int = 48  # of a stream, in random order of their kinds
    searches: int = 5  # in each building
    limit: float = 600.0  # s of a search, which counts so many where it fails; as `episodes`
    spread: float = (
        0.5  # sigma of the logarithm of the seconds' factor; chosen: two of three within 0.6 to 1.6 times
    )


def offers_of(decision: Decision, arms: Sequence[str]) -> Offers | None:
    """Return the offers of a decision; None where an admissible arm tells no value."""
    names = feature_names(FEATURES, tuple(arms))
    records = {record.expert: record for record in decision.arms}
    contexts = np.zeros((len(arms), len(names)))
    admissible, chance, seconds = np.zeros(len(arms), bool), np.zeros(len(arms)), np.ones(len(arms))
    for index, arm in enumerate(arms):
        record = records.get(arm)
        proposal = None if record is None else record.proposal
        for column, name in enumerate(names):
            own = decision.context.get(f"{name}.{arm}", decision.context.get(name, 0.0))
            contexts[index, column] = 1.0 if name == "bias" else own
        if record is None or proposal is None or not record.admissible:
            continue
        value = proposal.value
        if value is None or proposal.chance is None or proposal.seconds is None:
            return None
        contexts[index, names.index("value")] = value
        admissible[index], chance[index], seconds[index] = True, proposal.chance, proposal.seconds
    return Offers(contexts, admissible, chance, seconds) if admissible.any() else None


def template_of(kind: str, decisions: Sequence[Decision], arms: Sequence[str]) -> Template | None:
    """Return the search of a log; None for one without a decision that tells values."""
    last = {decision.epoch: decision for decision in decisions}
    found = (offers_of(last[epoch], arms) for epoch in sorted(last))
    offers = tuple(one for one in found if one is not None)
    return Template(kind, offers) if offers else None


def run_stream(
    make: Callable[[], Policy],
    templates: Sequence[Template],
    arms: Sequence[str],
    seed: int,
    config: TrialConfig = TrialConfig(),
    quality: Sequence[Mapping[str, Quality]] = QUALITY,
    resets: bool = True,
) -> np.ndarray:
    """Return the seconds (buildings, searches) until the target is found under one policy, which keeps its state.

    seed: of buildings, order and draws, the same for all policies. resets: the policy is told of every search's begin.
    """
    policy = make()
    plan = np.random.default_rng(seed)
    kinds = sorted({template.kind for template in templates})
    taken = np.zeros((config.buildings, config.searches))
    for building in range(config.buildings):
        kind = kinds[plan.integers(len(kinds))]
        phase = building * len(quality) // config.buildings
        own = [template for template in templates if template.kind == kind]
        factors = np.array([quality[phase][kind].get(arm, 1.0) for arm in arms])
        for search in range(config.searches):
            template = own[plan.integers(len(own))]
            if resets:
                policy.begin()
            taken[building, search] = _search(policy, template, factors, (seed, building, search), config)
    return taken


def _search(
    policy: Policy, template: Template, factors: np.ndarray, key: tuple[int, ...], config: TrialConfig
) -> float:
    """Return the seconds of one search."""
    rng = np.random.default_rng(key)  # the draws of a decision depend on its number alone
    passed, number = 0.0, 0
    while passed < config.limit:
        offers = template.offers[number % len(template.offers)]
        number += 1
        draws, slow = rng.random(len(factors)), rng.normal(0.0, config.spread, len(factors))
        arm = policy.choose(offers.contexts, offers.admissible).arm
        seconds = float(offers.seconds[arm] * np.exp(slow[arm]))
        found = bool(draws[arm] < min(offers.chance[arm] * factors[arm], 1.0))
        passed += seconds
        policy.update(offers.contexts[arm], arm, float(found), seconds)
        if found:
            break
    return min(passed, config.limit)
