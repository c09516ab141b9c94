"""Runs of the same tasks under several policies and settings, in sequence or in several processes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lodestar.assembly.config import changed
from lodestar.experts.registry import FRONTIER, expert_names
from lodestar_eval.outcomes import EpisodeOutcome
from lodestar_eval.study import worker_pool

if TYPE_CHECKING:
    from lodestar.selection.config import SelectionConfig
    from lodestar_eval.episode import PolicyFactory
    from lodestar_eval.settings import EpisodeSettings
    from lodestar_eval.tasks import Prepared

SETTINGS = {"unexplored": "unexplored", "pre-explored": "pre_explored"}  # name on the command line -> key
LED = "frontier_led"  # explores by geometry alone, and drives to known targets
REFERENCE = "reference"  # nearest frontier with perfect perception; not a policy
COLD = "bandit_cold"  # without a prior or rule
CONTINUAL = "bandit_continual"  # begins like COLD, and keeps its state from one building to the next
COLD_ROWS = (COLD, CONTINUAL)
# policies that choose by the chance per second of each goal (ADR 0094)
VALUE_ROWS = ("greedy", "mask_after", "corrected")
# alpha of a bandit without a prior, which must explore: 1 + sqrt(ln(2 / delta) / 2) in Li et al. 2010
COLD_ALPHA = 1.0


def core_rows() -> tuple[str, ...]:
    """Return the names of the policies that the option value "core" selects.

    A policy named after an expert uses this expert alone, without fallback (RoboAtlas Fig. 6).
    """
    return ("bandit", *expert_names(), LED, REFERENCE)


def all_rows() -> tuple[str, ...]:
    """Return the names of the policies that the option value "all" selects."""
    return (
        *core_rows(),
        COLD,
        CONTINUAL,
        "round_robin",
        "random",
        "fixed",
        "epsilon_greedy",
        "thompson",
        *VALUE_ROWS,
    )


@dataclass(frozen=True)
class Plan:
    """Plan of the runs in every building. settings, policies: names of map settings ("unexplored") and
    policies. folder: of maps and decision logs.
    """

    episode: EpisodeSettings
    settings: tuple[str, ...] = ("unexplored",)
    policies: tuple[str, ...] = ("bandit",)
    folder: Path = Path()
    directive: str | None = None

    @property
    def is_plain(self) -> bool:
        """Return whether there is a single setting and policy, whose files need no subfolders."""
        return len(self.settings) == len(self.policies) == 1

    @property
    def apart(self) -> tuple[str, ...]:
        """Return the policies that start afresh in every building."""
        return tuple(name for name in self.policies if name != CONTINUAL)

    @property
    def chains(self) -> tuple[tuple[str, str], ...]:
        """Return (setting, policy) of every combination whose policy keeps its state between buildings."""
        return tuple((s, name) for s in self.settings for name in self.policies if name == CONTINUAL)

    def file(self, kind: str, world: str, setting: str, policy: str, seed: int, suffix: str) -> Path:
        """Return the file of a run's map or log."""
        where = self.folder / kind
        if not self.is_plain:
            where = where / setting / policy
        return where / f"{world + '_' if world else ''}seed_{seed:03d}{suffix}"


def _valued(selection: SelectionConfig) -> SelectionConfig:
    """Return the selection with the features and the reward that the value-based policies need."""
    return replace(selection, policy="corrected", features="valued", reward="found")


@dataclass(frozen=True)
class Building:
    """One building of a plan. tag: distinguishes worlds of several kinds in file names."""

    world: str
    seed: int
    tag: str = ""


def run_buildings(plan: Plan, buildings: Sequence[Building], jobs: int) -> Iterator[list[EpisodeOutcome]]:
    """Yield outcomes by building as they finish.

    Policies that start afresh run per building. A policy that keeps its state runs the buildings in sequence;
    several such sequences run in parallel.
    """
    anew = buildings if plan.apart else ()
    if jobs == 1:
        for building in anew:
            yield run_building(plan, building)
        for row in plan.chains:
            yield from run_chain(plan, buildings, *row)
        return
    with worker_pool(jobs) as pool:
        chains = [
            pool.submit(_whole_chain, plan, buildings, *row) for row in plan.chains
        ]  # submitted first, because these take longest
        single = [pool.submit(run_building, plan, building) for building in anew]
        several: dict[Future[Any], bool] = dict.fromkeys(chains, True)
        several.update((future, False) for future in single)
        for future in as_completed(several):
            if several[future]:
                yield from future.result()
            else:
                yield future.result()


def run_building(plan: Plan, building: Building) -> list[EpisodeOutcome]:
    """Run every setting and every policy that starts afresh in one building, which is built and toured only once.

    Returns [] if the building has no task of its own and none is given.
    """
    return _run_rows(plan, building, plan.settings, plan.apart)


def run_chain(
    plan: Plan, buildings: Sequence[Building], setting: str, policy: str
) -> Iterator[list[EpisodeOutcome]]:
    """Yield the outcomes, by building, of a setting and policy whose state is kept between buildings."""
    selection = plan.episode.robot.goal_selector.selection
    kept = policy_named(policy, selection)(np.random.default_rng(0))
    for building in buildings:
        yield _run_rows(plan, building, (setting,), (policy,), lambda _: kept)


def _whole_chain(
    plan: Plan, buildings: Sequence[Building], setting: str, policy: str
) -> list[list[EpisodeOutcome]]:
    return list(run_chain(plan, buildings, setting, policy))


def _run_rows(
    plan: Plan,
    building: Building,
    settings: Sequence[str],
    policies: Sequence[str],
    selector: PolicyFactory | None = None,
) -> list[EpisodeOutcome]:
    """Run all settings and policies in one building. selector: creates each episode's policy, by default by
    its name.
    """
    from lodestar_eval.phrase_book import phrase_book
    from lodestar_eval.prior_map import explored
    from lodestar_eval.tasks import prepare
    from lodestar_sim.worlds import WorldError

    try:
        prepared = prepare(building.world, building.seed, plan.directive)
    except WorldError:
        return []
    outcomes = []
    for setting in settings:
        began = time.process_time()
        saved = None
        if setting == "pre_explored":
            saved = explored(prepared.world, building.seed, plan.episode, phrase_book())
        toured = time.process_time() - began
        for policy in policies:
            if policy == REFERENCE:
                outcomes += [_reference(prepared, building)] if saved is None else []
                continue
            outcomes.append(_one(plan, building, prepared, setting, policy, saved, toured, selector))
            toured = 0.0  # only the first row is charged for the tour
    return outcomes


def _one(
    plan: Plan,
    building: Building,
    prepared: Prepared,
    setting: str,
    policy: str,
    saved: Any,
    toured: float,
    selector: PolicyFactory | None,
) -> EpisodeOutcome:
    from lodestar_eval.episode import EpisodeRunner
    from lodestar_eval.phrase_book import phrase_book
    from lodestar_eval.pictures import picture_of

    settings = plan.episode
    if policy in COLD_ROWS:  # without the rule that known targets come first
        settings = changed(settings, robot__goal_selector__loop__known_first=False)
    elif policy in expert_names():
        settings = changed(settings, robot__goal_selector__experts=(policy,))
    elif policy in VALUE_ROWS:
        chosen = _valued(settings.robot.goal_selector.selection)
        settings = changed(settings, robot__goal_selector__selection=chosen)
    elif policy == LED:
        settings = changed(settings, robot__experts__frontier_expert__expectation=False)
    selector = selector or policy_named(policy, settings.robot.goal_selector.selection)
    runner = EpisodeRunner(phrase_book(), settings, selector)
    run = runner.run(prepared.world, prepared.task, building.seed, saved)
    outcome = run.outcome.under(setting, policy, building.world, toured)
    names = (building.tag, setting, policy, building.seed)
    if policy == plan.policies[0] or not outcome.success:
        picture_of(run, plan.file("maps", *names, ".png"))
    run.save_decisions(plan.file("decisions", *names, ".jsonl"))
    run.save_path(plan.file("paths", *names, ".npz"))
    return outcome


def _reference(prepared: Prepared, building: Building) -> EpisodeOutcome:
    from lodestar_eval.reference import ReferenceSearcher

    began = time.process_time()
    found = ReferenceSearcher(prepared.world, prepared.task, building.seed).run()
    return EpisodeOutcome(
        world=building.world, seed=building.seed, directive=prepared.task.directive, success=found.success,
        reached=found.success, claimed=found.success, error_code=0, error_msg="",
        failure="" if found.success else "everything was looked at, and it did not show", distance=0.0,
        path_length=found.path_length, shortest=found.shortest, duration=found.duration,
        cpu=time.process_time() - began, setup_cpu=0.0, collisions=0, coverage=float("nan"),
        epochs=found.goals, frames=0, policy=REFERENCE,
    )  # fmt: skip


def policy_named(name: str, selection: SelectionConfig | None = None) -> PolicyFactory:
    """Return a factory of the named policy, with `selection`'s features, by default goal_selector's."""
    from lodestar.selection.config import SelectionConfig
    from lodestar.selection.context import feature_names
    from lodestar.selection.policies import make_policy
    from lodestar.selection.policy import Policy

    arms = (name,) if name in expert_names() else expert_names()
    if name in VALUE_ROWS:
        selection = _valued(selection or SelectionConfig())
    features = feature_names((selection or SelectionConfig()).features, arms)

    def make(rng: np.random.Generator) -> Policy:
        if name in COLD_ROWS:
            return make_policy("bandit", arms, features, rng, prior="cold", alpha=COLD_ALPHA)
        return make_policy(FRONTIER.name if name == LED else name, arms, features, rng)

    return make
