"""Activities for ASK, WAIT and STOP, which send no goal, and for CHECK, which sends the robot to look if the
memory has no fresh proof.
"""

from __future__ import annotations

from dataclasses import replace

from lodestar.agent.activities.activity import Activity
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.run import CheckVisit, DirectiveRun, is_room
from lodestar.agent.errands.words import name_of
from lodestar.agent.facts.errors import ErrorCode
from lodestar.experts.absence import SearchBelief
from lodestar.experts.absence_bounds import ABSENCE_UNSURE
from lodestar.language.asked_items import plain_item, with_asked
from lodestar.language.directive import Step, StepKind
from lodestar.language.query_graph import Predicate
from lodestar.language.question import AnswerType, Question, QuestionKind
from lodestar.language.sentences import step_sentence
from lodestar.language.step_kinds import exact_duration
from lodestar.language.step_questions import wanted_by
from lodestar.memory.answer import Answer, AnswerCode, AnswerOutcome, AnswerValue, Proof, ProofKind
from lodestar.memory.answer_text import answer_lines
from lodestar.models.english import listed
from lodestar.scene.captions import clean_text, tells
from lodestar.scene.records import Entity

LOOP_CHECK_AGE = 60.0  # s (stamps), age of a proof up to which a CHECK needs no drive (ours)

_OWN_WORDS = (AnswerCode.NO_EVIDENCE, AnswerCode.UNKNOWN, AnswerCode.CANCELLED)  # sentence suffices


class Asking(Activity):
    """ASK: queries the memory, waits for the outcome, and continues with the next step in any case."""

    def act(self, run: DirectiveRun) -> bool:
        """Query the memory, and let the robot stand until the outcome arrives. Return True."""
        self._tools.memory.ask(run, question_of(run.step))
        run.text = f"Asking my memory: {asked_in_words(run.step)}"
        self._tools.transitions.wait(run)
        return True

    def waited(self, run: DirectiveRun) -> None:
        """Report the answer, or the reason why there is none."""
        outcome = self._tools.memory.outcome(run)
        if outcome is None:
            return
        if outcome.is_known and outcome.answer is not None:
            self._tools.steps.answer(
                run, answer_in_words(outcome.answer, self._tools.context), outcome.answer
            )
        else:
            self._tools.steps.leave_unanswered(run, unanswered(run.step, outcome))


def question_of(step: Step) -> Question:
    """Return the typed question of an ASK or CHECK step."""
    question = step.wanted or wanted_by(step)
    assert question is not None
    return question


def asked_in_words(step: Step) -> str:
    """Return the question as a sentence for a person, such as "where did you last see the mug?"."""
    said = clean_text(step.question or step_sentence(step)).rstrip("?. ")
    return f'"{said}"?'


def answer_in_words(answer: Answer, context: LoopContext) -> str:
    """Return the answer as text, followed by its proofs and places, one per line."""
    return "\n".join(answer_lines(answer, context.facts.stamp.seconds))


def unanswered(step: Step, outcome: AnswerOutcome) -> str:
    """Return a sentence why a question has no answer. It includes the memory's error code unless the memory's
    own sentence suffices.
    """
    code = "" if outcome.code in _OWN_WORDS else f" ({outcome.code.name})"
    why = clean_text(outcome.sentence).rstrip(".") or "the memory gave no reason"
    return f"{asked_in_words(step)[:-1]} has no answer{code}: {why}."


class Wait(Activity):
    """WAIT: the robot stands for a time on the loop's clock, or until the directive is cancelled."""

    def act(self, run: DirectiveRun) -> bool:
        """Begin to wait. The waiting time does not count against the directive's time limit."""
        seconds = run.step.seconds
        now = self._tools.context.now
        run.errand.waits_until = None if seconds is None else now + seconds
        run.time_limit += seconds or 0.0
        run.text = f"Waiting {'until cancelled' if seconds is None else f'for {exact_duration(seconds)}'}."
        self._tools.transitions.wait(run)
        return True

    def waited(self, run: DirectiveRun) -> None:
        """End the step once its time has passed."""
        if run.errand.waits_until is not None and self._tools.context.now >= run.errand.waits_until:
            self._tools.steps.succeed(run, f"Waited for {exact_duration(run.step.seconds or 0.0)}.")


class Stop(Activity):
    """STOP: ends at once and sends no goal, so that the robot stands."""

    def act(self, run: DirectiveRun) -> bool:
        """End the step."""
        self._tools.steps.succeed(run, "Stopped.")
        return True


_SEEN = 0.95  # confidence in an object that the robot stands before; chosen
_AFAR = 0.8  # confidence in an object seen from afar that the robot cannot approach; chosen


class Check(Activity):
    """CHECK: queries the memory. Without fresh proof it sends the robot to look (a visit) and answers from
    the result.
    """

    def act(self, run: DirectiveRun) -> bool:
        """Query the memory; after the visit, answer from its result. Return True."""
        if run.check is None:
            self._tools.memory.ask(run, question_of(run.step), LOOP_CHECK_AGE)
            run.text = f"Asking my memory: {asked_in_words(run.step)}"
            self._tools.transitions.wait(run)
        elif run.check.came is not None and not run.check.hidden:
            self._judge(run, run.check)
        return True

    def waited(self, run: DirectiveRun) -> None:
        """Answer from fresh proof, or else send the robot to look. If the robot has looked already, leave the
        question unanswered and name the property that it cannot see.
        """
        outcome = self._tools.memory.outcome(run)
        if outcome is None:
            return
        answer = outcome.answer if outcome.is_known else None
        if answer is not None and self._tools.memory.is_fresh(answer, LOOP_CHECK_AGE):
            run.check = None
            self._tools.steps.answer(run, answer_in_words(answer, self._tools.context), answer)
            return
        if run.check is not None:
            self._leave(run, run.check.hidden)
            return
        errand = self._errand(run.step)
        if errand is None:
            self._leave(run, "it does not say what to look at; name the thing or the room")
        else:
            self._tools.steps.visit(
                run, errand, f"I have no fresh proof: going to look. {asked_in_words(run.step)}"
            )

    def _errand(self, step: Step) -> Step | None:
        """Return the errand that answers the question: go to the object or room, or list the objects in the
        room that the step names. None if the question names neither.
        """
        if step.item is None or not step.item.alternatives:
            return Step(StepKind.GO, scope=step.scope) if step.scope.rooms else None
        item = replace(plain_item(step.item), count=1)
        if is_room(item, self._tools.context.place_names):
            return Step(StepKind.GO, item, scope=step.scope)
        if step.scope.rooms and not step.asked:
            return Step(StepKind.LIST, item, scope=step.scope)
        return Step(StepKind.FIND, item, scope=step.scope)

    # --- judging on the spot --------------------------------------------------------------------------------

    def _judge(self, run: DirectiveRun, check: CheckVisit) -> None:
        assert check.came is not None
        code, words = check.came
        entity = self._tools.context.facts.entity(check.entity_id)
        is_room_missing = check.errand is StepKind.LIST
        if code in (ErrorCode.TARGET_NOT_FOUND, ErrorCode.TARGET_GONE) and not (
            run.step.asked or is_room_missing
        ):
            self._deny(run, words, check.belief)
        elif code is ErrorCode.TARGET_UNREACHABLE and not run.step.asked and self._is_there(run, check):
            seen = self._tools.context.facts.entity(run.found[-1])
            self._end(run, f"Yes, I saw it from afar. {words}", seen, yes=True, sure=_AFAR)
        elif code is not ErrorCode.NONE:
            self._leave(run, words)
        elif run.step.asked and entity is not None:
            self._judge_asked(run, entity)
        elif run.step.asked or run.step.item is None:
            self._leave(run, f"{words} I cannot see from here whether it is so")
        elif check.errand is StepKind.LIST:
            self._end(run, f"{'Yes' if self._is_there(run, check) else 'No'}. {words}")
        else:
            self._end(run, f"Yes. {words}", entity, yes=True)

    def _deny(self, run: DirectiveRun, words: str, belief: SearchBelief | None) -> None:
        """Answer no, with the share of the floor that was searched and the confidence. Leave the question
        unanswered if the object may well be in the part that was not searched.
        """
        context = self._tools.context
        if belief is None:
            self._end(run, f"No. {words}")
        elif belief.present >= ABSENCE_UNSURE:
            self._leave(run, f"{words} {belief.left_in_words()} It may be there all the same")
        else:
            words = f"No. {words} {belief.in_words()}"
            value = AnswerValue(AnswerType.YES_NO, yes=False)
            now = context.facts.stamp.seconds
            sure, share = 1.0 - belief.present, belief.share
            answer = Answer(question_of(run.step), words, value, sure, last_verified=now, coverage=share)
            run.check = None
            self._tools.steps.answer(run, words, answer)

    def _is_there(self, run: DirectiveRun, check: CheckVisit) -> bool:
        """Return whether an object that matches the CHECK was observed since the check began."""
        seen = self._tools.context.search.seen_since(run, check.begun)
        run.note_found(entity.id for entity in seen)
        return bool(seen)

    def _judge_asked(self, run: DirectiveRun, entity: Entity) -> None:
        """Answer whether the predicates in the question hold for the object in front of the robot; for a
        choice such as "red or blue", which of them hold. Query the memory again for attributes that cannot be
        seen.
        """
        step, name = run.step, name_of(entity)
        asked, choice = step.asked, question_of(step).kind is QuestionKind.ATTRIBUTE
        hidden = [
            p.value for p in asked if p.name == "HasAttribute" and not tells(entity.attributes, p.value)
        ]
        if hidden and (not choice or len(hidden) == len(asked)):
            self._ask_again(
                run, f"{name} is in front of me, and I cannot see whether it is {' or '.join(hidden)}"
            )
            return
        groups = [(one,) for one in asked] if choice else [asked]
        true = [self._holds(run, group, entity) for group in groups]
        if None in true:
            self._wait_for_vectors(run)
        elif choice:
            named = [p.value for p, holds in zip(asked, true) if holds]
            words = f"{name} is {listed(named)}." if named else f"{name} is neither of these."
            self._end(run, words, entity, names=tuple(named))
        else:
            where = "" if true[0] else " not"
            self._end(
                run, f"{'Yes' if true[0] else 'No'}: {name} is{where} as you ask.", entity, yes=bool(true[0])
            )

    def _ask_again(self, run: DirectiveRun, hidden: str) -> None:
        """Query the memory again, because its model may judge the pictures just taken. hidden: the reason, a
        clause.
        """
        assert run.check is not None
        run.check = replace(run.check, hidden=hidden)
        self._tools.memory.ask(run, question_of(run.step), LOOP_CHECK_AGE)
        run.text = f"Asking my memory once more: {asked_in_words(run.step)}"
        self._tools.transitions.wait(run)

    def _holds(self, run: DirectiveRun, asked: tuple[Predicate, ...], entity: Entity) -> bool | None:
        """Return whether the asked predicates hold for the entity; None while a phrase has no embedding."""
        assert run.step.item is not None
        step = replace(run.step, kind=StepKind.FIND, item=with_asked(replace(run.step.item, count=1), asked))
        return self._tools.context.search.holds(step, entity)

    def _wait_for_vectors(self, run: DirectiveRun) -> None:
        context = self._tools.context
        if run.errand.idle_for(context.now) > context.config.no_expert_timeout:
            self._leave(run, "the text model did not say what the words mean")
        else:
            self.retry(run)

    # --- ending the check -----------------------------------------------------------------------------------

    def _end(
        self,
        run: DirectiveRun,
        words: str,
        entity: Entity | None = None,
        *,
        yes: bool | None = None,
        names: tuple[str, ...] = (),
        sure: float = _SEEN,
    ) -> None:
        """End the check with the text `words`. If an entity was observed, it is the proof, and `yes` or
        `names` is the typed answer with the confidence `sure`, [0, 1].
        """
        run.check = None
        if entity is None:
            self._tools.steps.answer(run, words)
            return
        name, kind = entity.caption or entity.label, AnswerType.TEXT if yes is None else AnswerType.YES_NO
        proof = Proof(ProofKind.ENTITY, entity.id, entity.last_seen, entity.mean, name)
        value = AnswerValue(kind, yes=yes, names=names)
        answer = Answer(question_of(run.step), words, value, sure, (proof,), entity.last_seen)
        self._tools.steps.answer(run, words, answer)

    def _leave(self, run: DirectiveRun, why: str) -> None:
        run.check = None
        self._tools.steps.leave_unanswered(
            run, f"{asked_in_words(run.step)[:-1]} has no answer: {why.rstrip('.')}."
        )
