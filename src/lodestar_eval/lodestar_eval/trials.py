"""Runs of the same tasks under several policies and settings, in sequence or in several processes."""

from __future__ import annotations

import ctypes
import multiprocessing
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lodestar.assembly.config import changed
from lodestar.experts.registry import FRONTIER, expert_names
from lodestar_eval.outcomes import EpisodeOutcome

if TYPE_CHECKING:
    from lodestar.selection.config import SelectionConfig
    from lodestar_eval.episode import PolicyFactory
    from lodestar_eval.settings import EpisodeSettings
    from lodestar_eval.tasks import Prepared

SETTINGS = {"unexplored": "unexplored", "pre-explored": "pre_explored"}  # as written -> as keys
LED = "frontier_led"  # explores by geometry alone, and drives to known targets
REFERENCE = "reference"  # nearest frontier with perfect perception; not a policy
COLD, WARM = "bandit_cold", "bandit_warm"  # without a prior or rule; with state learned in other buildings
CONTINUAL = (
    "bandit_continual"  # begins as COLD in the first building, and keeps what it learns from one to the next
)
COLD_ROWS = (COLD, CONTINUAL)
VALUE_ROWS = ("greedy", "mask_after", "corrected")  # choose by the chance per second of each goal (ADR 0094)
KEPT = "corrected_continual"  # corrected, and keeps what it learns from one building to the next
COLD_ALPHA = (
    1.0  # a bandit without a prior must explore: Li et al. 2010 have alpha = 1 + sqrt(ln(2 / delta) / 2)
)
UNDELAYED = "_undelayed"  # suffix of a policy's row without delays of reasoner and experts


def core_rows() -> tuple[str, ...]:
    """Return the rows of "core": an expert's name is that expert only, without fallback (RoboAtlas Fig. 6)."""
    return ("bandit", *expert_names(), LED, REFERENCE)


def all_rows() -> tuple[str, ...]:
    """Return the rows of "all"."""
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
        KEPT,
    )


@dataclass(frozen=True)
class Plan:
    """Runs in every building. settings, policies: keys. folder: of maps and decision logs.

    learned: state of the bandit that WARM begins with. log: further place of decision logs, one file per row.
    """

    episode: EpisodeSettings
    settings: tuple[str, ...] = ("unexplored",)
    policies: tuple[str, ...] = ("bandit",)
    folder: Path = Path()
    directive: str | None = None
    learned: dict[str, Any] = field(default_factory=dict)

    @property
    def is_plain(self) -> bool:
        """Return whether there is one row only, whose files need no folders of their own."""
        return len(self.settings) == len(self.policies) == 1

    @property
    def apart(self) -> tuple[str, ...]:
        """Return the policies that begin anew in every building."""
        return tuple(name for name in self.policies if not _continual(name))

    @property
    def chains(self) -> tuple[tuple[str, str], ...]:
        """Return setting and policy of every row that keeps its state between buildings."""
        return tuple((s, name) for s in self.settings for name in self.policies if _continual(name))

    def file(self, kind: str, world: str, setting: str, policy: str, seed: int, suffix: str) -> Path:
        """Return the file of a run's map or log."""
        where = self.folder / kind
        if not self.is_plain:
            where = where / setting / policy
        return where / f"{world + '_' if world else ''}seed_{seed:03d}{suffix}"


def _continual(policy: str) -> bool:
    return policy.removesuffix(UNDELAYED) in (CONTINUAL, KEPT)


def _by_value(policy: str) -> bool:
    return policy in (*VALUE_ROWS, KEPT)


def _valued(selection: SelectionConfig) -> SelectionConfig:
    """Return the selection with the features and the reward of policies that choose by value."""
    return replace(selection, policy="corrected", features="valued", reward="found")


@dataclass(frozen=True)
class Building:
    """One building of a plan. tag: distinguishes worlds of several kinds in file names.

    falseness: chance of a false claim there, by expert.
    """

    world: str
    seed: int
    tag: str = ""
    falseness: Mapping[str, float] = field(default_factory=dict)


def run_buildings(plan: Plan, buildings: Sequence[Building], jobs: int) -> Iterator[list[EpisodeOutcome]]:
    """Yield outcomes by building as they are finished: of the rows that begin anew in each, and, in parallel, of every
    row that keeps its state, which must process the buildings in sequence.
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
        ]  # submitted first, because they take longest
        single = [pool.submit(run_building, plan, building) for building in anew]
        several: dict[Future[Any], bool] = dict.fromkeys(chains, True)
        several.update((future, False) for future in single)
        for future in as_completed(several):
            if several[future]:
                yield from future.result()
            else:
                yield future.result()


@contextmanager
def worker_pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Provide processes that end with this one; an error in the block cancels jobs that have not begun."""
    context = multiprocessing.get_context("spawn")  # threads of Open3D and torch do not survive a fork
    with ProcessPoolExecutor(jobs, context, initializer=_end_with_parent) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _end_with_parent() -> None:
    """End this worker when the benchmark is killed; otherwise it would wait for another job for ever."""
    pr_set_pdeathsig = 1  # prctl(2)
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def run_building(plan: Plan, building: Building) -> list[EpisodeOutcome]:
    """Run every setting and every policy that begins anew in one building, which is built and toured only once.
    Returns nothing if the building has no task of its own and none is given.
    """
    return _run_rows(plan, building, plan.settings, plan.apart)


def run_chain(
    plan: Plan, buildings: Sequence[Building], setting: str, policy: str
) -> Iterator[list[EpisodeOutcome]]:
    """Yield the outcomes of a row whose selector keeps its state between buildings."""
    kept = policy_named(
        policy.removesuffix(UNDELAYED), plan.learned, plan.episode.robot.goal_selector.selection
    )(np.random.default_rng(0))
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
    """Run the rows of one building. selector: creates that of every episode, by default by its policy's name."""
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
            toured = 0.0  # the first row pays for the tour
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

    settings, row = replace(plan.episode, falseness=building.falseness), policy
    if row.endswith(UNDELAYED):
        policy = row.removesuffix(UNDELAYED)
        settings = replace(settings, reasoner_delay=0.0, answer_delay=0.0)
    if policy in COLD_ROWS:  # without the rule that a known target comes first
        settings = changed(settings, robot__goal_selector__loop__known_first=False)
    elif policy in expert_names():
        settings = changed(settings, robot__goal_selector__experts=(policy,))
    elif _by_value(policy):
        chosen = _valued(settings.robot.goal_selector.selection)
        settings = changed(settings, robot__goal_selector__selection=chosen)
    elif policy == LED:
        settings = changed(settings, robot__experts__frontier_expert__expectation=False)
    selector = selector or policy_named(policy, plan.learned, settings.robot.goal_selector.selection)
    runner = EpisodeRunner(phrase_book(), settings, selector)
    run = runner.run(prepared.world, prepared.task, building.seed, saved)
    outcome = run.outcome.under(setting, row, building.world, toured)
    names = (building.tag, setting, row, building.seed)
    if row == plan.policies[0] or not outcome.success:
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


def policy_named(
    name: str, learned: dict[str, Any], selection: SelectionConfig | None = None
) -> PolicyFactory:
    """Return a factory of one episode's selector over the features of `selection`, by default goal_selector's. WARM
    begins with `learned`, which is not changed.
    """
    from lodestar.selection.config import SelectionConfig
    from lodestar.selection.context import feature_names
    from lodestar.selection.linucb import LinUcb
    from lodestar.selection.policies import make_policy
    from lodestar.selection.policy import Policy

    arms = (name,) if name in expert_names() else expert_names()
    if _by_value(name):
        selection = _valued(selection or SelectionConfig())
        name = name.removesuffix("_continual")
    features = feature_names((selection or SelectionConfig()).features, arms)

    def make(rng: np.random.Generator) -> Policy:
        if name in COLD_ROWS:
            return make_policy("bandit", arms, features, rng, prior="cold", alpha=COLD_ALPHA)
        if name != WARM:
            return make_policy(FRONTIER.name if name == LED else name, arms, features, rng)
        policy = make_policy("bandit", arms, features, rng)
        assert isinstance(policy, LinUcb)
        policy.restore({**learned, "rng": rng.bit_generator.state})
        return policy

    return make


def learn(plan: Plan, buildings: Sequence[Building]) -> dict[str, Any]:
    """Return the state of a bandit after these buildings in sequence, each from an empty map.

    Buildings without a task are left out, as in `run_building`.
    """
    from lodestar.selection.linucb import LinUcb
    from lodestar_eval.episode import EpisodeRunner
    from lodestar_eval.phrase_book import phrase_book
    from lodestar_eval.tasks import prepare
    from lodestar_sim.worlds import WorldError

    policy = policy_named("bandit", {}, plan.episode.robot.goal_selector.selection)(np.random.default_rng(0))
    assert isinstance(policy, LinUcb)
    runner = EpisodeRunner(phrase_book(), plan.episode, lambda _: policy)
    for building in buildings:
        try:
            prepared = prepare(building.world, building.seed, plan.directive)
        except WorldError:
            continue
        runner.run(prepared.world, prepared.task, building.seed)
    return policy.state()
