"""Tests that missions continue after a crash with the unfinished step, retry, and stop on request."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest
from mission_bench import DONE, FAILED, Bench, Killed, killing_at, steps

from lodestar.missions.journal import FILE, JournalBusy, MissionJournal
from lodestar.missions.records import FOREVER, Mission, Outcome, Schedule, Step, StepKind, Verdict
from lodestar.missions.runner import Ending


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path / "mission", Mission("round", steps(10)))


def texts(*numbers):
    return [f"find the chair {number}" for number in numbers]


def test_every_step_is_done_in_order_and_the_next_run_begins_anew(bench):
    assert bench.run() is Ending.COMPLETE
    assert bench.done == texts(*range(1, 11))
    assert bench.run() is Ending.COMPLETE
    assert len(bench.done) == 20 and len(set(bench.tokens)) == 20


@pytest.mark.parametrize("number", [1, 4, 10])
def test_a_killed_runner_goes_on_with_the_step_that_has_no_end(bench, number):
    bench.answer = killing_at(f"find the chair {number}")
    with pytest.raises(Killed):
        bench.run()
    bench.answer = lambda step: DONE
    assert bench.run() is Ending.COMPLETE
    assert bench.done == texts(*range(1, number + 1), *range(number, 11))
    assert bench.taken_back == [bench.tokens[number - 1]], "the goal of the dead runner is cancelled first"
    assert len(bench.rounds[-1].records) == 10


def test_a_step_that_ended_while_the_runner_was_dead_is_not_done_again(bench):
    bench.answer = killing_at("find the chair 4")
    with pytest.raises(Killed):
        bench.run()
    bench.answer, bench.left = (lambda step: DONE), Outcome(Verdict.DONE, "found it meanwhile")
    assert bench.run() is Ending.COMPLETE
    assert bench.done == texts(*range(1, 11))
    assert bench.rounds[-1].records[3].outcome.text == "found it meanwhile"


@pytest.mark.parametrize("cut", [1, 9, 40])
def test_a_line_that_was_cut_off_costs_that_line_only(bench, cut):
    bench.answer = killing_at("find the chair 4")
    with pytest.raises(Killed):
        bench.run()
    path = bench.folder / FILE
    path.write_bytes(path.read_bytes()[:-cut])  # truncates the "begin" record of step 4
    bench.answer = lambda step: DONE
    assert bench.run() is Ending.COMPLETE
    assert bench.done == texts(1, 2, 3, 4, *range(4, 11))


def test_a_journal_that_is_rubbish_is_put_aside_and_the_mission_begins_anew(bench):
    bench.answer = killing_at("find the chair 4")
    with pytest.raises(Killed):
        bench.run()
    (bench.folder / FILE).write_bytes(b"\x00" * 300)
    bench.answer = lambda step: DONE
    assert bench.run() is Ending.COMPLETE
    assert bench.done == texts(1, 2, 3, 4, *range(1, 11))
    assert list(bench.folder.glob("*.aside"))


def failing(text, times=10**6):
    left = [times]

    def answer(step):
        if step.text != text or left[0] == 0:
            return DONE
        left[0] -= 1
        return FAILED

    return answer


def test_a_failed_step_stops_the_mission_and_the_next_run_tries_it_again(bench):
    bench.answer = failing("find the chair 3", 1)
    assert bench.run() is Ending.FAILED
    assert bench.done == texts(1, 2, 3)
    assert bench.rounds[-1].pending.outcome == FAILED
    assert bench.run() is Ending.COMPLETE
    assert bench.done == texts(1, 2, 3, *range(3, 11))
    assert bench.rounds[-1].records[2].attempts == 2 and bench.rounds[-1].pending is None


def test_a_step_is_retried_so_often_after_the_delay(bench):
    bench.mission = Mission("round", steps(3, retries=2), retry_delay=7.0)
    pauses = []
    bench.on_pause = pauses.append
    bench.answer = failing("find the chair 2", 2)
    assert bench.run() is Ending.COMPLETE
    assert bench.done == texts(1, 2, 2, 2, 3)
    assert [seconds for seconds in pauses if seconds] == [7.0, 7.0]
    bench.answer = failing("find the chair 2", 3)
    assert bench.run() is Ending.FAILED


def test_a_mission_that_goes_on_says_that_a_step_failed_also_after_a_restart(bench):
    bench.mission = Mission("round", steps(4, go_on=True))
    bench.answer = lambda step: FAILED if "2" in step.text else killing_at("find the chair 3")(step)
    with pytest.raises(Killed):
        bench.run()
    bench.answer = lambda step: DONE
    assert bench.run() is Ending.COMPLETE
    assert bench.done == texts(1, 2, 3, 3, 4)
    journal = MissionJournal(bench.folder)
    assert journal.failed
    journal.close()


@pytest.mark.parametrize("verdict", [Verdict.HALTED, Verdict.GONE, Verdict.INTERRUPTED])
def test_nothing_goes_on_where_a_person_halts_the_robot_whatever_the_policy(bench, verdict):
    bench.mission = Mission("round", steps(4, go_on=True, retries=5))
    bench.answer = lambda step: Outcome(verdict) if "2" in step.text else DONE
    assert bench.run().name == verdict.name
    assert bench.done == texts(1, 2)
    bench.answer = lambda step: DONE
    assert bench.run() is Ending.COMPLETE
    assert bench.done == texts(1, 2, 2, 3, 4) and not bench.taken_back


def test_an_interrupt_between_two_attempts_ends_the_mission(bench):
    bench.mission = Mission("round", steps(2, retries=5))
    bench.answer = lambda step: FAILED
    bench.on_pause = lambda seconds: setattr(bench, "stopped", seconds > 0.0)
    assert bench.run() is Ending.INTERRUPTED
    assert bench.done == texts(1)


def test_a_wait_goes_on_with_what_is_left_of_it(bench):
    bench.mission = Mission("round", (Step(StepKind.WAIT, seconds=600.0),))

    def kill(seconds):
        if bench.now >= 1200.0:
            raise Killed

    bench.on_pause = kill
    with pytest.raises(Killed):
        bench.run()
    bench.now, bench.on_pause = 1300.0, lambda seconds: None
    assert bench.run() is Ending.COMPLETE
    assert bench.now == 1600.0


def test_a_clock_that_is_set_back_lengthens_no_wait(bench):
    bench.mission = Mission("round", (Step(StepKind.WAIT, seconds=600.0),))
    bench.on_pause = lambda seconds: (_ for _ in ()).throw(Killed)
    with pytest.raises(Killed):
        bench.run()
    bench.now, bench.on_pause = 100.0, lambda seconds: None
    assert bench.run() is Ending.COMPLETE
    assert bench.now == 700.0


def test_rounds_are_repeated_and_begin_at_their_period(bench):
    bench.mission = Mission("round", steps(2), rounds=3, every=100.0)
    begun = []
    bench.answer = lambda step: begun.append(bench.now - 5.0) or DONE
    assert bench.run() is Ending.COMPLETE
    assert begun == [1000.0, 1005.0, 1100.0, 1105.0, 1200.0, 1205.0]
    assert [state.number for state in bench.rounds] == [1, 2, 3]


def test_a_killed_runner_goes_on_with_the_round_that_it_was_in(bench):
    bench.mission = Mission("round", steps(2), rounds=3)
    bench.answer = lambda step: killing_at("find the chair 2")(step) if len(bench.done) == 4 else DONE
    with pytest.raises(Killed):
        bench.run()
    bench.answer = lambda step: DONE
    assert bench.run() is Ending.COMPLETE
    assert bench.done == texts(1, 2, 1, 2, 2, 1, 2)
    assert [state.number for state in bench.rounds] == [1, 2, 3]


def at(day, hour, minute=0):
    return datetime(2026, 11, day, hour, minute).timestamp()


NIGHTLY = Mission("night", steps(2), rounds=FOREVER, schedule=Schedule(((22, 0),), window=3600.0))


def ends_at(bench, moment):
    bench.on_pause = lambda seconds: setattr(bench, "stopped", bench.now >= moment)
    return bench.run()


def test_a_scheduled_mission_begins_at_its_time_and_waits_for_the_next(bench):
    bench.mission, bench.now = NIGHTLY, at(2, 23)
    begun = []
    bench.answer = lambda step: begun.append(bench.now - 5.0) or DONE
    assert ends_at(bench, at(5, 12)) is Ending.INTERRUPTED
    assert begun[::2] == [at(3, 22), at(4, 22)]


@pytest.mark.parametrize(("back", "begins"), [(30, at(3, 22, 30)), (90, at(4, 22))])
def test_a_time_that_was_missed_is_kept_within_its_window_only(bench, back, begins):
    bench.mission, bench.now = NIGHTLY, at(3, 20)
    assert ends_at(bench, at(3, 21)) is Ending.INTERRUPTED
    bench.now, bench.stopped, begun = at(3, 22) + 60.0 * back, False, []
    bench.answer = lambda step: begun.append(bench.now - 5.0) or DONE
    ends_at(bench, at(5, 12))
    assert begun[0] == begins


@pytest.mark.parametrize(("back", "again"), [(30, texts(2)), (90, texts(1, 2))])
def test_a_round_that_was_killed_goes_on_within_its_window_only(bench, back, again):
    bench.mission, bench.now = NIGHTLY, at(3, 20)
    bench.answer = killing_at("find the chair 2")
    with pytest.raises(Killed):
        bench.run()
    bench.done.clear()
    bench.now, bench.answer = at(3, 22) + 60.0 * back, lambda step: DONE
    ends_at(bench, at(4, 23))
    assert bench.done[: len(again)] == again
    assert bench.taken_back, "nothing of the dead runner goes on"


def test_a_mission_runs_once_at_a_time(bench):
    bench.folder.mkdir(mode=0o700)
    journal = MissionJournal(bench.folder)
    with pytest.raises(JournalBusy, match=r"process \d+ \(.*\) runs this mission: it holds .*LOCK"):
        bench.run()
    journal.close()
    assert bench.run() is Ending.COMPLETE


def test_a_changed_step_that_was_begun_is_noticed_and_a_later_one_may_change(bench):
    bench.answer = killing_at("find the chair 4")
    with pytest.raises(Killed):
        bench.run()
    journal = MissionJournal(bench.folder)
    good = steps(10)
    assert journal.changed_step(good) == -1
    assert journal.changed_step((*good[:6], replace(good[6], text="another"))) == -1
    assert journal.changed_step((good[0], replace(good[1], text="another"), *good[2:])) == 1
    assert journal.changed_step(good[:3]) == 3
    journal.close()


def test_the_journal_of_an_endless_mission_stays_small(bench, monkeypatch):
    bench.mission = Mission("round", steps(3), rounds=60)
    monkeypatch.setattr("lodestar.missions.journal.MAX_BYTES", 3000)
    assert bench.run() is Ending.COMPLETE
    assert len(bench.done) == 180 and [state.number for state in bench.rounds] == list(range(1, 61))
    assert (bench.folder / FILE).stat().st_size < 6000
