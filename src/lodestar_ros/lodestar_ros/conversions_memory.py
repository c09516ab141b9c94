"""Questions to the memory and its answers: messages there and back."""

from __future__ import annotations

import math

from geometry_msgs.msg import Pose, PoseStamped

from lodestar.language.items import Item
from lodestar.language.question import AnswerType, Occurrence, Question, QuestionKind
from lodestar.language.time_windows import Act, Event, TimeBasis, TimePoint, TimeWindow
from lodestar.memory.answer import (
    Answer,
    AnswerCode,
    AnswerOutcome,
    AnswerPlace,
    AnswerValue,
    Proof,
    ProofKind,
)
from lodestar_interfaces import action, msg
from lodestar_ros.conversions import (
    BadMessage,
    header,
    planar_from_msg,
    planar_to_stamped,
    point_from_msg,
    point_to_msg,
    stamp_from_msg,
    stamp_to_msg,
)
from lodestar_ros.conversions_items import (
    ItemReader,
    item_from_msg,
    item_to_msg,
    pose_from_msg,
    pose_to_msg,
    predicate_from_msg,
    predicate_to_msg,
    scope_from_msg,
    scope_to_msg,
    unread,
)

# --- times -------------------------------------------------------------------------------------------------


def point_of_time_to_msg(point: TimePoint) -> msg.TimePoint:
    act = None if point.event is None else point.event.act
    item = None if point.event is None else point.event.item
    return msg.TimePoint(
        basis=int(point.basis),
        seconds=float(point.seconds),
        day=int(point.day),
        act="" if act is None else act.verb,
        own=act is None or act.own,
        item=_item_to_msg(item),
    )


def point_of_time_from_msg(message: msg.TimePoint, read: ItemReader = unread) -> TimePoint:
    """Raises BadMessage, ValueError and what `read` raises."""
    basis = TimeBasis(message.basis)
    event = None
    if basis is TimeBasis.EVENT:
        act = Act(message.act, message.own) if message.act else None
        event = Event(act, _item_from_msg(message.item, read))
    return TimePoint(basis, message.seconds, message.day, event)


def window_to_msg(window: TimeWindow) -> msg.TimeWindow:
    return msg.TimeWindow(
        begin=[] if window.begin is None else [point_of_time_to_msg(window.begin)],
        end=[] if window.end is None else [point_of_time_to_msg(window.end)],
    )


def window_from_msg(message: msg.TimeWindow, read: ItemReader = unread) -> TimeWindow:
    """Raises BadMessage, ValueError and what `read` raises."""
    return TimeWindow(
        point_of_time_from_msg(message.begin[0], read) if message.begin else None,
        point_of_time_from_msg(message.end[0], read) if message.end else None,
    )


# --- questions ---------------------------------------------------------------------------------------------


def question_to_msg(question: Question) -> msg.MemoryQuestion:
    return msg.MemoryQuestion(
        kind=int(question.kind),
        answer=int(question.answer),
        item=_item_to_msg(question.item),
        asked=[predicate_to_msg(predicate) for predicate in question.asked],
        other=_item_to_msg(question.other),
        scope=scope_to_msg(question.scope),
        window=window_to_msg(question.window),
        occurrence=int(question.occurrence),
        act="" if question.act is None else question.act.verb,
        own=question.act is None or question.act.own,
        attribute=question.attribute,
        pose=[] if question.pose is None else [pose_to_msg(question.pose)],
        past=bool(question.past),
        here=bool(question.here),
        image=bool(question.image),
        confidence=float(question.confidence),
        text=question.text,
    )


def question_from_msg(message: msg.MemoryQuestion, read: ItemReader = unread) -> Question:
    """read: of the words of items that bring no graphs. Raises BadMessage and what `read` raises."""
    try:
        return Question(
            QuestionKind(message.kind),
            AnswerType(message.answer),
            _item_from_msg(message.item, read),
            tuple(predicate_from_msg(predicate) for predicate in message.asked),
            _item_from_msg(message.other, read),
            scope_from_msg(message.scope),
            window_from_msg(message.window, read),
            Occurrence(message.occurrence),
            Act(message.act, message.own) if message.act else None,
            message.attribute,
            pose_from_msg(message.pose[0]) if message.pose else None,
            message.past,
            message.here,
            message.image,
            message.confidence,
            message.text,
        )
    except BadMessage:
        raise
    except (ValueError, OverflowError) as error:
        raise BadMessage(str(error)) from error


def _item_to_msg(item: Item | None) -> list[msg.Item]:
    return [] if item is None else [item_to_msg(item)]


def _item_from_msg(items: list[msg.Item], read: ItemReader) -> Item | None:
    return item_from_msg(items[0], read) if items else None


# --- answers -----------------------------------------------------------------------------------------------


def proof_to_msg(proof: Proof) -> msg.Evidence:
    return msg.Evidence(
        kind=int(proof.kind),
        id=int(proof.id),
        session_id=proof.session,
        stamp=stamp_to_msg(proof.stamp),
        pose=Pose(position=point_to_msg(proof.position)),
        text=proof.text,
        score=float(proof.score),
    )


def proof_from_msg(message: msg.Evidence) -> Proof:
    """Raises BadMessage for an unknown kind."""
    try:
        kind = ProofKind(message.kind)
    except ValueError as error:
        raise BadMessage(str(error)) from error
    position = point_from_msg(message.pose.position)
    stamp = stamp_from_msg(message.stamp)
    return Proof(kind, message.id, stamp, position, message.text, message.score, message.session_id)


def answer_to_result(answer: Answer, stamp: float) -> action.AnswerQuestion.Result:
    """stamp: of the places, seconds."""
    value = answer.value
    nowhere = PoseStamped()
    return action.AnswerQuestion.Result(
        answer=answer.sentence,
        understood=[question_to_msg(answer.question)],
        answer_type=int(value.type),
        places=[
            PoseStamped(header=header(stamp, "map"), pose=Pose(position=point_to_msg(place.centre)))
            for place in value.places
        ],
        viewpoints=[
            nowhere if place.viewpoint is None else planar_to_stamped(place.viewpoint, stamp)
            for place in value.places
        ],
        times=[stamp_to_msg(seconds) for span in value.times for seconds in span],
        number=math.nan if value.number is None else float(value.number),
        yes=bool(value.yes),
        names=[name for name in value.names if name],
        confidence=float(answer.confidence),
        evidence=[proof_to_msg(proof) for proof in answer.proof],
        last_verified=stamp_to_msg(answer.last_verified or 0.0),
        coverage=math.nan if answer.coverage is None else float(answer.coverage),
        directive=answer.directive,
    )


def outcome_to_result(outcome: AnswerOutcome) -> action.AnswerQuestion.Result:
    """The result of a question, also of one without an answer."""
    if outcome.answer is None:
        result = action.AnswerQuestion.Result(answer=outcome.why, number=math.nan, coverage=math.nan)
    else:
        result = answer_to_result(outcome.answer, outcome.stamp)
    result.error_code, result.error_msg = int(outcome.code), outcome.why
    return result


def outcome_from_result(result: action.AnswerQuestion.Result, stamp: float = 0.0) -> AnswerOutcome:
    """The outcome of a question. stamp: of its end, seconds. Raises BadMessage."""
    try:
        code = AnswerCode(result.error_code)
    except ValueError as error:
        raise BadMessage(str(error)) from error
    answer = answer_from_result(result) if result.understood else None
    if code is AnswerCode.NONE and answer is None:
        raise BadMessage("an answer without an error needs what was understood")
    return AnswerOutcome(code, answer, result.error_msg, stamp)


def answer_from_result(result: action.AnswerQuestion.Result) -> Answer:
    """The answer of a result without an error. A yes or no of confidence 0 is not known. Raises BadMessage."""
    if (
        not result.understood
        or len(result.times) % 2
        or len(result.viewpoints) not in (0, len(result.places))
    ):
        raise BadMessage(
            "an answer needs what was understood, pairs of times, and a viewpoint for each place"
        )
    times = [stamp_from_msg(stamp) for stamp in result.times]
    viewpoints = [_viewpoint_from_msg(one) for one in result.viewpoints] or [None] * len(result.places)
    try:
        kind = AnswerType(result.answer_type)
        known = kind is AnswerType.YES_NO and result.confidence > 0.0
        value = AnswerValue(
            kind,
            tuple(
                AnswerPlace(point_from_msg(place.pose.position), viewpoint)
                for place, viewpoint in zip(result.places, viewpoints)
            ),
            tuple(zip(times[::2], times[1::2])),
            None if math.isnan(result.number) else result.number,
            result.yes if known else None,
            tuple(result.names),
        )
        return Answer(
            question_from_msg(result.understood[0]),
            result.answer,
            value,
            result.confidence,
            tuple(proof_from_msg(one) for one in result.evidence),
            stamp_from_msg(result.last_verified) or None,
            None if math.isnan(result.coverage) else result.coverage,
            result.directive,
        )
    except BadMessage:
        raise
    except ValueError as error:
        raise BadMessage(str(error)) from error


def _viewpoint_from_msg(message: PoseStamped) -> tuple[float, float, float] | None:
    if not message.header.frame_id:
        return None
    x, y, yaw = planar_from_msg(message.pose)
    return float(x), float(y), float(yaw)
