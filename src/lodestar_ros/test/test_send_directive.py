"""`send_directive` prints a result: a question with each reading, and how it is answered."""

from __future__ import annotations

from lodestar_interfaces.action import FollowDirective
from lodestar_ros.send_directive import EXIT_FAILED, _told


def test_a_question_is_printed_with_both_readings_and_how_to_answer(capsys):
    result = FollowDirective.Result()
    result.error_code, result.error_msg = FollowDirective.Result.AMBIGUOUS, "it is doubtful"
    result.question, result.question_id = "Which do you mean?", "q-3"
    result.choices = ["find the vase", "count all the vases"]
    assert _told(result) == EXIT_FAILED
    printed = capsys.readouterr().out
    assert "Which do you mean?" in printed
    for number, words in enumerate(result.choices, start=1):
        assert f"{words}: python -m lodestar_ros.send_directive --answer q-3 {number}" in printed
