"""Questions that a robot answers by searching an unexplored building for an object that is present or absent."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import lru_cache
from tempfile import TemporaryDirectory

import numpy as np

from lodestar.language.directive import StepKind
from lodestar.language.directive_errors import DirectiveError
from lodestar.language.grammar import parse_directive
from lodestar.memory.store import MemoryStore
from lodestar.models.english import with_article
from lodestar.models.kinship import kind_of, same_kind
from lodestar.models.lexicon import load_lexicon
from lodestar_eval.episode import EpisodeRunner
from lodestar_eval.episode_run import EpisodeRun
from lodestar_eval.memory_qa.visual_questions import tells_material
from lodestar_eval.metrics import sct, spl
from lodestar_eval.phrase_book import phrase_book
from lodestar_eval.search_eyes import served
from lodestar_eval.settings import EpisodeSettings
from lodestar_sim.starts import start_pose
from lodestar_sim.tasks import MIN_PATH, PLAIN, Task, described
from lodestar_sim.worlds import WorldError, world_from_spec
from lodestar_sim.worlds.catalogue import CATALOGUE
from lodestar_sim.worlds.truth import truth_of
from lodestar_sim.worlds.world import World

#: Kinds of questions per building: about a category that is present, a coloured object that is present, categories
#: that are absent, and a category that is present in other colours only.
CASES = ("kind", "look", "absent kind", "absent kind", "absent kind", "absent look")
#: Kind of the visual questions: about the material of an object that is present, which no detector reports.
VISUAL = "material"
VISUAL_COUNT = 3
# least visible share of an object's points; greatest distance, metres; as in `tasks`
_VISIBLE, _NEAR = 0.2, 0.8
_COLORS = ("red", "green", "blue", "yellow", "purple", "orange", "brown", "white", "black")


@dataclass(frozen=True)
class CheckQuestion:
    """Yes-or-no question about an object.

    target_ids: objects that prove the answer; empty if none does. gold: the true answer; None = yes if and
    only if there are `target_ids`.
    """

    text: str
    case: str
    target_ids: tuple[int, ...]
    gold: bool | None = None

    @property
    def is_there(self) -> bool:
        """Return whether the true answer is yes."""
        return bool(self.target_ids) if self.gold is None else self.gold


@dataclass(frozen=True)
class CheckOutcome:
    """Answer of the robot to one question.

    said: yes, no, or None = no answer. shortest: metres from the start to a view of a target. eyes: whether
    the robot's memory used a vision model. quickest, seconds, seen_after: see `EpisodeOutcome`.
    """

    world: str
    seed: int
    question: CheckQuestion
    said: bool | None
    words: str
    path_length: float
    shortest: float
    duration: float
    eyes: bool = False
    quickest: float = float("nan")
    seconds: Mapping[str, float] = field(default_factory=dict)
    seen_after: float = float("nan")

    @property
    def is_right(self) -> bool:
        """Return whether the robot's answer is correct; a missing answer is not."""
        return self.said is self.question.is_there

    @property
    def spl(self) -> float:
        """Return the success weighted by path length (A-EQA); NaN for a question without a target object."""
        if not self.question.target_ids:
            return float("nan")
        return spl(self.is_right, self.shortest, self.path_length)

    @property
    def success(self) -> bool:
        """Return whether the robot's answer is correct."""
        return self.is_right

    @property
    def sct(self) -> float:
        """Return the success weighted by completion time; NaN for a question without a target object."""
        return sct(self.is_right, self.quickest, self.duration) if self.question.target_ids else float("nan")

    def row(self) -> dict[str, object]:
        """Return the outcome as one flat table row."""
        return {
            "world": self.world, "seed": self.seed, "question": self.question.text, "case": self.question.case,
            "eyes": self.eyes, "there": self.question.is_there,
            "said": "" if self.said is None else "yes" if self.said else "no",
            "right": self.is_right, "path_m": round(self.path_length, 2), "shortest_m": round(self.shortest, 2),
            "seconds": round(self.duration, 1),
            **{f"seconds_{name}": round(value, 1) for name, value in self.seconds.items()}, "words": self.words,
        }  # fmt: skip


def questions_of(world: World, seed: int) -> list[CheckQuestion]:
    """Return one question per entry of `CASES`, reproducible by seed. Raises WorldError if one cannot be made."""
    rng = np.random.default_rng((seed, 0xA5C))
    start = start_pose(world, seed, "default")
    makers = {
        "kind": _of_kind(world, start, rng), "look": _of_look(world, seed, start),
        "absent kind": _of_absent_kind(world, rng), "absent look": _of_absent_look(world, rng),
    }  # fmt: skip
    found: list[CheckQuestion] = []
    for case in CASES:
        asked = [question.text for question in found]
        fresh = (q for q in makers[case] if q.text not in asked and _is_check(q.text))
        question = next(fresh, None)
        if question is None:
            raise WorldError(
                f"{world.name}, seed {seed}: there is no question of the case {case!r}; take another seed"
            )
        found.append(question)
    return found


def visual_questions_of(world: World, seed: int) -> list[CheckQuestion]:
    """Return questions whether an object is made of a material, alternately true and false, reproducible by seed.
    Raises WorldError if the building has too few objects that can be told apart.
    """
    rng, start = np.random.default_rng((seed, 0xE1E)), start_pose(world, seed, "default")
    materials = sorted({thing.material for thing in world.objects if thing.material})
    found: list[CheckQuestion] = []
    for thing, phrase in described(world, seed, ("color",)):
        others = [material for material in materials if material != thing.material]
        if not thing.material or tells_material(thing.caption) or not others or thing.category in PLAIN:
            continue
        if len(found) < VISUAL_COUNT and _can_be_shown(world, start, (thing.id,)):
            yes = len(found) % 2 == 0
            said = thing.material if yes else others[int(rng.integers(len(others)))]
            found.append(CheckQuestion(f"is the {phrase} made of {said}?", VISUAL, (thing.id,), yes))
    if len(found) < VISUAL_COUNT:
        raise WorldError(
            f"{world.name}, seed {seed}: too few things can be asked for their material; take another seed"
        )
    return found


def _is_check(text: str) -> bool:
    """Return whether the grammar parses the text as a single check question; others also test the parser."""
    try:
        steps = parse_directive(text).steps
    except DirectiveError:
        return False
    return (
        len(steps) == 1
        and steps[0].kind is StepKind.CHECK
        and steps[0].item is not None
        and not steps[0].asked
    )


def _ask(phrase: str, case: str, targets: tuple[int, ...]) -> CheckQuestion:
    return CheckQuestion(f"is there {with_article(phrase)} in the building?", case, targets)


def _of_kind(
    world: World, start: tuple[float, float, float], rng: np.random.Generator
) -> Iterator[CheckQuestion]:
    kinds = sorted({thing.category for thing in world.objects if thing.category not in PLAIN})
    for kind in rng.permutation(kinds).tolist():
        meant = tuple(thing.id for thing in world.objects if same_kind(thing.category, kind))
        if _can_be_shown(world, start, meant):
            yield _ask(kind, "kind", meant)


def _of_look(world: World, seed: int, start: tuple[float, float, float]) -> Iterator[CheckQuestion]:
    for thing, phrase in described(world, seed, ("color",)):
        if thing.category not in PLAIN and _can_be_shown(world, start, (thing.id,)):
            yield _ask(phrase, "look", (thing.id,))


def _can_be_shown(world: World, start: tuple[float, float, float], ids: tuple[int, ...]) -> bool:
    """Return whether the objects in `ids` suit a question from this start.

    One of them must have a near view, and each must be at least `MIN_PATH` metres of path away.
    """
    truth = truth_of(world)
    ways = [truth.shortest_path(start[:2], thing) for thing in world.objects if thing.id in ids]
    seen = [len(truth.views(thing, _VISIBLE, _NEAR)) > 0 for thing in world.objects if thing.id in ids]
    return any(seen) and min(ways) >= MIN_PATH and np.isfinite(min(ways))


def absent_kinds(present: Collection[str], rng: np.random.Generator) -> Iterator[str]:
    """Yield catalogue categories that cannot be confused with the categories in `present`, in random order."""
    nouns = load_lexicon().nouns
    near = {
        kind for name in present for kind in (nouns[kind_of(name)].near if kind_of(name) in nouns else ())
    }
    for kind in rng.permutation(sorted(CATALOGUE)).tolist():
        confused = nouns[kind].near if kind in nouns else ()
        alike = any(same_kind(kind, name) or name in confused for name in present)
        if kind in nouns and not alike and kind not in near and kind not in PLAIN:
            yield kind


def _of_absent_kind(world: World, rng: np.random.Generator) -> Iterator[CheckQuestion]:
    for kind in absent_kinds({thing.category for thing in world.objects}, rng):
        yield _ask(kind, "absent kind", ())


def _of_absent_look(world: World, rng: np.random.Generator) -> Iterator[CheckQuestion]:
    kinds = sorted({thing.category for thing in world.objects if thing.category not in PLAIN})
    for kind in rng.permutation(kinds).tolist():
        own = {thing.color for thing in world.objects if same_kind(thing.category, kind)}
        words = {thing.caption for thing in world.objects if same_kind(thing.category, kind)}
        for color in rng.permutation(_COLORS).tolist():
            if color not in own and not any(color in caption.split() for caption in words):
                yield _ask(f"{color} {kind}", "absent look", ())
                break


@lru_cache(maxsize=2)
def asked_in(spec: str, seed: int, visual: bool) -> tuple[World, tuple[CheckQuestion, ...]]:
    """Return a building and its questions. visual: those that need a picture. Raises WorldError."""
    world = world_from_spec(spec, seed)
    return world, tuple((visual_questions_of if visual else questions_of)(world, seed))


def run(
    spec: str, seed: int, settings: EpisodeSettings, visual: bool, number: int, eyes: bool
) -> CheckOutcome:
    """Return the outcome of a question of a building; it begins at the start pose with an empty map.

    number: of the question in `asked_in`. eyes: whether a vision model helps with a visual question. Raises WorldError.
    """
    world, questions = asked_in(spec, seed, visual)
    question, start = questions[number], start_pose(world, seed, "default")
    if visual:
        found = remembering(world, question, start, seed, settings, eyes)
    else:
        task = Task(question.text, question.target_ids, start)
        found = EpisodeRunner(phrase_book(), settings).run(world, task, seed)
    return replace(_outcome(found, question), world=spec, eyes=eyes)


def remembering(
    world: World, question: CheckQuestion, start: tuple[float, float, float], seed: int,
    settings: EpisodeSettings, eyes: bool,
) -> EpisodeRun:  # fmt: skip
    """Run a question on a robot with an empty memory, and return the run.

    eyes: whether the memory uses a vision model.
    """
    book = phrase_book()
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="ask-to-act-"))
        config = replace(settings.robot.memory.store, folder=folder)
        store = stack.enter_context(MemoryStore.open(config, lambda words: book.vectors(tuple(words))))
        used = stack.enter_context(served(settings)) if eyes else settings
        task = Task(question.text, question.target_ids, start)
        return EpisodeRunner(book, used).run(world, task, seed, memory=store)


def _outcome(run: EpisodeRun, question: CheckQuestion) -> CheckOutcome:
    words = run.result.report or run.result.error_msg
    return CheckOutcome(
        run.outcome.world, run.outcome.seed, question, said_in(run), words, run.outcome.path_length,
        run.outcome.shortest, run.outcome.duration, quickest=run.outcome.quickest, seconds=run.outcome.seconds,
        seen_after=run.outcome.seen_after,
    )  # fmt: skip


def said_in(run: EpisodeRun) -> bool | None:
    """Return the robot's answer, yes = True, no = False; None without an answer."""
    for answer in run.result.answers:
        if answer.value.yes is not None:
            return bool(answer.value.yes)
    words = run.result.report.strip().casefold()
    if not run.result.success:
        return None
    return True if words.startswith("yes") else False if words.startswith("no") else None
