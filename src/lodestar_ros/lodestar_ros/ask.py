"""`python -m lodestar_ros.ask "when did you last see the mug?"`: ask the memory of a running stack, or edit it.

Exit status: 0 answered or done; 1 no answer is known, or the request was refused; 2 bad usage; 3 no memory node
answered; 130 cancelled.
"""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from rclpy.action import ActionClient
from rclpy.node import Node
from sensor_msgs.msg import CompressedImage

from lodestar.memory.answer_text import answer_lines
from lodestar.memory.records import WALL_TIME
from lodestar.scene.captions import clean_text
from lodestar.storage.files import write_file
from lodestar_interfaces.action import AnswerQuestion
from lodestar_interfaces.srv import GetKeyframe, ManageMemory
from lodestar_ros.conversions import BadMessage, stamp_from_msg
from lodestar_ros.conversions_memory import answer_from_result
from lodestar_ros.sent_goal import SentGoal
from lodestar_ros.terminal import EXIT_CANCELLED, command_line, not_heard, parse, terminal_node, wait

# Timeouts in seconds of wall time.
_REPEATS = 20  # times that a request is sent, one a _STEP; chosen: 10 s, in which a client is known
_SERVER_TIMEOUT = 15.0
_ANSWER_TIMEOUT = 90.0  # loading the grammar takes seconds once, a language model up to 30 s
_CALL_TIMEOUT = 60.0
_FILE_TIMEOUT = 6 * 3600.0  # to read or write every memory: a GB takes minutes
_CANCEL_TIMEOUT = 5.0
_STEP = 0.5  # between two checks that the memory node is there
_LOST_AFTER = 5.0  # after the memory node has disappeared, before the client gives up
EXIT_NO, EXIT_USAGE, EXIT_GONE = 1, 2, 3
_KINDS = ManageMemory.Request
_MOST_PICTURES = 6


def main(arguments: list[str] | None = None) -> int:
    """Ask a question or change the memory; return the exit status (see the module)."""
    parser = _parser()
    options, given = parse(parser, arguments)
    if options.correct and not options.correct[0].isdecimal():
        parser.error(f"--correct needs the id of a memory, as the proof shows it, not {options.correct[0]!r}")
    change = _change(options)
    if (change is None) == (not options.question.strip() and options.picture is None):
        parser.error(
            "ask a question, or use one of --pin, --unpin, --forget, --correct, --tell, --export, --import"
        )
    picture = []
    if options.picture is not None:
        try:
            data = options.picture.read_bytes()
        except OSError as error:
            parser.error(f"the picture cannot be read: {error}")
        picture = [CompressedImage(format=options.picture.suffix.lstrip("."), data=data)]
    with terminal_node("ask_memory", options.namespace, given) as node:
        if change is not None:
            return _Desk(node).run(change, confirmed=options.yes)
        goal = AnswerQuestion.Goal(
            question=options.question, picture=picture, max_evidence=options.max_evidence
        )
        return _Asker(node).run(goal, options.save_pictures)


def _parser() -> argparse.ArgumentParser:
    parser = command_line("ask", __doc__)
    parser.add_argument("question", nargs="?", default="", help='e.g. "when did you last see the mug?"')
    parser.add_argument("--picture", type=Path, metavar="FILE", help='what "this" in the question is')
    parser.add_argument("--max-evidence", type=int, default=0, metavar="N", help="pieces of proof; 0 = 20")
    parser.add_argument(
        "--save-pictures", type=Path, metavar="FOLDER", help="save the images of the proof there"
    )
    change = parser.add_argument_group("looking after the memory; ids are those that the proof shows")
    change.add_argument("--pin", type=int, nargs="+", metavar="ID", help="never thin these out")
    change.add_argument("--unpin", type=int, nargs="+", metavar="ID")
    change.add_argument(
        "--forget", type=int, nargs="*", metavar="ID", help="forget these; or give --words or times"
    )
    change.add_argument("--words", default="", help="of --forget: memories that hold these words")
    change.add_argument(
        "--since", type=float, default=0.0, metavar="S", help="of --forget: seconds of the stamps"
    )
    change.add_argument("--until", type=float, default=0.0, metavar="S", help="of --forget, likewise")
    change.add_argument("--yes", action="store_true", help="forget without asking back")
    change.add_argument(
        "--correct", nargs=2, metavar=("ID", "WORDS"), help="these words replace the memory in answers"
    )
    change.add_argument("--tell", metavar="WORDS", help="an operator's word, remembered at the robot's place")
    change.add_argument(
        "--export",
        metavar="NAME",
        help="write every memory as JSON lines, to a new file in the memory's exports",
    )
    change.add_argument(
        "--import", type=Path, dest="take", metavar="FILE", help="add the memories of such a file"
    )
    return parser


def _change(options: argparse.Namespace) -> Any:
    """Return the ManageMemory request of the options, or None where they ask a question."""
    request = ManageMemory.Request
    if options.pin:
        return request(what=_KINDS.PIN, ids=options.pin)
    if options.unpin:
        return request(what=_KINDS.UNPIN, ids=options.unpin)
    if options.forget is not None:
        made = request(what=_KINDS.FORGET, ids=options.forget, text=options.words)
        for stamp, seconds in ((made.from_stamp, options.since), (made.to_stamp, options.until)):
            stamp.sec, stamp.nanosec = int(seconds), int(seconds % 1.0 * 1e9)
        return made
    if options.correct:
        return request(what=_KINDS.CORRECT, ids=[int(options.correct[0])], text=options.correct[1])
    if options.tell is not None:
        return request(what=_KINDS.TELL, text=options.tell)
    if options.export is not None:
        return request(what=_KINDS.EXPORT, path=options.export)
    if options.take is not None:
        return request(what=_KINDS.IMPORT, path=str(options.take.expanduser().absolute()))
    return None


class _Asker:
    """Client of the memory's answer action, for one question."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._client = ActionClient(node, AnswerQuestion, "memory/answer")

    def run(self, goal: Any, pictures: Path | None) -> int:
        """Send the goal, print the answer and return the exit status."""
        if not self._client.wait_for_server(_SERVER_TIMEOUT):
            return _gone(self._node)
        sent = SentGoal(
            self._client, AnswerQuestion, goal, lambda message: print(f"({message.feedback.text} ...)")
        )
        handle = None
        try:
            if not sent.wait(partial(wait, self._node), _ANSWER_TIMEOUT):
                return _gone(self._node)
            handle = sent.answer.result()
            if not handle.accepted:
                print("The memory has too many questions; ask again soon.", file=sys.stderr)
                return EXIT_NO
            finished = handle.get_result_async()
            if not wait(self._node, finished, _ANSWER_TIMEOUT):
                return _gone(self._node)
            return self._print(finished.result().result, pictures)
        except KeyboardInterrupt:
            with suppress(KeyboardInterrupt):  # a second one waits for no answer
                cancelled = sent.cancel() if handle is None else handle.cancel_goal_async()
                wait(self._node, cancelled, _CANCEL_TIMEOUT)
            return EXIT_CANCELLED

    def _print(self, result: Any, pictures: Path | None) -> int:
        try:
            answer = answer_from_result(result)
        except BadMessage:
            print(result.answer or result.error_msg)
            print(f"error {result.error_code}: {result.error_msg}", file=sys.stderr)
            return EXIT_NO
        stamps = [stamp_from_msg(place.header.stamp) for place in result.places]
        now = stamps[0] if stamps else time.time() if _is_wall(answer) else None
        print("\n".join(answer_lines(answer, now)))
        if pictures is not None:
            self._save(result, pictures)
        return 0 if result.error_code == AnswerQuestion.Result.NONE else EXIT_NO

    def _save(self, result: Any, folder: Path) -> None:
        images = [(one.id, one.session_id) for one in result.evidence if one.kind == one.KIND_KEYFRAME]
        images = list(dict.fromkeys(images))[:_MOST_PICTURES]
        client = self._node.create_client(GetKeyframe, "keyframes/get")
        if not images or not client.wait_for_service(_CANCEL_TIMEOUT):
            print(
                "  no pictures: "
                + ("the keyframes node does not answer" if images else "the proof names none")
            )
            return
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        ids = [identity for identity, _ in images]
        for identity, session in images:
            request = GetKeyframe.Request(id=int(identity), session_id=session)
            found = _called(self._node, client, request, _CANCEL_TIMEOUT, repeat=True)
            if found is None or found.error_code:
                print(f"  picture {identity}: {found.error_msg if found else 'no answer'}")
                continue
            run = "_" + "".join(filter(str.isalnum, session)) if ids.count(identity) > 1 else ""
            path = folder / f"keyframe_{identity}{run}.jpg"  # images of two runs may have the same number
            write_file(path, [found.image.data], durable=False)
            print(f"  picture: {path}")


class _Desk:
    """Client of the memory's manage service, for one change."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._client = node.create_client(ManageMemory, "memory/manage")

    def run(self, request: Any, confirmed: bool) -> int:
        """Send the request, print the outcome and return the exit status."""
        # repeated until the memory answers, so that the answer to the change, sent once, is not lost;
        # it is refused, because its time ends before it begins
        nothing = ManageMemory.Request(what=_KINDS.LIST)
        nothing.from_stamp.sec, nothing.to_stamp.sec = 2, 1
        if not self._client.wait_for_service(_SERVER_TIMEOUT) or self._call(nothing, request) is None:
            return _gone(self._node)
        response = self._call(request)
        if response is None:
            return _gone(self._node)
        if not response.error_code and request.what == _KINDS.FORGET:
            if not response.count:
                print("Nothing fits; nothing was forgotten.")
                return EXIT_NO
            print("\n".join(f"  {clean_text(text)}" for text in response.texts))  # the text is untrusted
            if not confirmed and not _agreed(response.count):
                print("Nothing was forgotten.")
                return EXIT_NO
            request.expected = response.count
            response = self._call(request)
            if response is None:
                return _gone(self._node)
        if response.error_code:
            if response.error_code == ManageMemory.Response.NOT_ERASED:
                are = "is" if response.count == 1 else "are"
                print(
                    f"{_counted(response.count)} {are} in no answer any more, but not erased everywhere yet."
                )
            print(f"error {response.error_code}: {response.error_msg}", file=sys.stderr)
            return EXIT_NO
        ids = f" (id {response.ids[0]})" if len(response.ids) == 1 else ""
        to = (
            f" to {clean_text(response.texts[0])}" if request.what == _KINDS.EXPORT and response.texts else ""
        )
        print(f"{_DONE[request.what]} {_counted(response.count)}{ids}{to}.")
        return 0

    def _call(self, request: Any, next_one: Any = None) -> Any:
        """Return the response to a request, None without one in time. next_one: the request that follows a
        harmless one, which is repeated and waits as long.
        """
        of_file = (next_one or request).what in (_KINDS.EXPORT, _KINDS.IMPORT)
        seconds = _FILE_TIMEOUT if of_file else _CALL_TIMEOUT
        return _called(self._node, self._client, request, seconds, repeat=next_one is not None)


def _called(node: Node, client: Any, request: Any, seconds: float, repeat: bool = False) -> Any:
    """Return the first response to a request, None if the server does not answer in time, or is gone.

    repeat: send it again until it is answered; the first answers may be lost (see `sent_goal`).
    """
    sent, heard = [client.call_async(request)], time.monotonic()
    ends = heard + seconds
    while not any(one.done() for one in sent) and time.monotonic() < min(ends, heard + _LOST_AFTER):
        if not wait(node, sent[-1], _STEP) and repeat and len(sent) < _REPEATS:
            sent.append(client.call_async(request))
        if client.service_is_ready():
            heard = time.monotonic()
    return next((one.result() for one in sent if one.done()), None)


_DONE = {
    _KINDS.PIN: "Pinned",
    _KINDS.UNPIN: "Unpinned",
    _KINDS.FORGET: "Forgot",
    _KINDS.CORRECT: "Remembered the correction:",
    _KINDS.TELL: "Remembered",
    _KINDS.EXPORT: "Exported",
    _KINDS.IMPORT: "Imported",
}


def _counted(count: int) -> str:
    return f"{count} {'memory' if count == 1 else 'memories'}"


def _agreed(count: int) -> bool:
    if not sys.stdin.isatty():
        print(f"{count} memories fit; add --yes to forget them.", file=sys.stderr)
        return False
    return input(f"Forget these {count} memories, their texts and vectors? [y/N] ").strip().lower() == "y"


def _is_wall(answer: Any) -> bool:
    return any(proof.stamp >= WALL_TIME for proof in answer.proof)


def _gone(node: Node) -> int:
    print(
        f"No memory node answered. {not_heard(node)} Start one with: python -m lodestar_bringup sim; the last demo's "
        'memory answers without one: make ask QUESTION="..."',
        file=sys.stderr,
    )
    return EXIT_GONE


if __name__ == "__main__":
    sys.exit(main())
