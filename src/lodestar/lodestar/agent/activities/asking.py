"""ASK: a question that the memory answers, without motion. What it cannot answer never stops the directive."""

from __future__ import annotations

from lodestar.agent.activities.activity import Activity
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.run import DirectiveRun
from lodestar.language.directive import Step
from lodestar.language.question import Question
from lodestar.language.sentences import step_sentence
from lodestar.language.step_questions import wanted_by
from lodestar.memory.answer import Answer, AnswerCode, AnswerOutcome
from lodestar.memory.answer_text import answer_lines
from lodestar.scene.captions import clean_text

_OWN_WORDS = (AnswerCode.NO_EVIDENCE, AnswerCode.UNKNOWN, AnswerCode.CANCELLED)  # whose sentence says it all


class Asking(Activity):
    """Asks the memory, waits for what comes of it, and goes on with the next step, whatever it is."""

    def act(self, run: DirectiveRun) -> bool:
        """Ask; the robot stands meanwhile."""
        self._tools.memory.ask(run, question_of(run.step))
        run.text = f"Asking my memory: {asked_in_words(run.step)}"
        self._tools.transitions.wait(run)
        return True

    def waited(self, run: DirectiveRun) -> None:
        """Tell the answer, or why there is none."""
        outcome = self._tools.memory.outcome(run)
        if outcome is None:
            return
        if outcome.is_known and outcome.answer is not None:
            self._tools.steps.answer(run, told(outcome.answer, self._tools.context), outcome.answer)
        else:
            self._tools.steps.leave_unanswered(run, unanswered(run.step, outcome))


def question_of(step: Step) -> Question:
    """Return the typed question of a step that has one."""
    question = step.wanted or wanted_by(step)
    assert question is not None
    return question


def asked_in_words(step: Step) -> str:
    """Return the question for a person: "where did you last see the mug?"."""
    said = clean_text(step.question or step_sentence(step)).rstrip("?. ")
    return f'"{said}"?'


def told(answer: Answer, context: LoopContext) -> str:
    """Return the answer with its proof and places, one a line."""
    return "\n".join(answer_lines(answer, context.facts.stamp.seconds))


def unanswered(step: Step, outcome: AnswerOutcome) -> str:
    """Return why a question has no answer, with the memory's code where its sentence needs one."""
    code = "" if outcome.code in _OWN_WORDS else f" ({outcome.code.name})"
    why = clean_text(outcome.sentence).rstrip(".") or "the memory gave no reason"
    return f"{asked_in_words(step)[:-1]} has no answer{code}: {why}."
