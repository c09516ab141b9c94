import math

import numpy as np
import pytest

from lodestar.grid.energy import EnergyBudget


def test_without_a_limit_everything_reachable_is_afforded():
    budget = EnergyBudget()
    assert budget.affords(np.array([0.0, 1e6, np.inf])).tolist() == [True, True, False]
    assert not budget.limited and not budget.must_return(1e6)


def test_the_way_back_and_the_reserve_count():
    budget = EnergyBudget(range_left=30.0, charger=(0.0, 0.0), reserve=5.0)
    there = np.array([10.0, 12.5, 13.0, 20.0])
    assert budget.affords(there, there).tolist() == [True, True, False, False]
    assert not budget.must_return(24.9)
    assert budget.must_return(25.0)


def test_an_empty_battery_affords_nothing_but_standing():
    budget = EnergyBudget(range_left=2.0, reserve=5.0)
    assert budget.spendable == 0.0
    assert budget.affords(np.array([0.0, 0.1])).tolist() == [True, False]
    assert budget.must_return(0.0)


def test_driving_uses_it_up():
    budget = EnergyBudget(10.0, (1.0, 2.0), 1.0).after(4.0)
    assert budget.range_left == 6.0 and budget.charger == (1.0, 2.0)
    assert budget.after(100.0).range_left == 0.0


@pytest.mark.parametrize(
    "values",
    [(math.nan, None, 5.0), (10.0, (math.nan, 0.0), 5.0), (10.0, None, -1.0), (10.0, None, math.inf)],
)
def test_what_is_no_length_is_refused(values):
    with pytest.raises(ValueError):
        EnergyBudget(*values)
