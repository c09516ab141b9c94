"""Results of the `episodes` benchmark by row (setting and policy): metrics, tables, pass thresholds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from lodestar.experts.registry import FRONTIER, expert_names
from lodestar_eval import arms
from lodestar_eval.arms import STAGES, Pick
from lodestar_eval.coco_labels import coco_class
from lodestar_eval.metrics import bootstrap_interval, defined, mean, paired_difference
from lodestar_eval.outcomes import EpisodeOutcome
from lodestar_eval.registry import Bar, Table
from lodestar_eval.report import number
from lodestar_eval.trials import COLD_ROWS, LED

Row = tuple[str, str]  # setting, policy
# bars of the issue on SR and SPL of the bandit
_BOUNDS = {"unexplored": (0.95, 0.70), "pre_explored": (0.97, 0.85)}
# least decrease of the frontier's share of contested picks, from low to high coverage, after a cold start
_FALL_BOUND = 0.5
_ABOVE_ZERO = 1e-6  # least difference that counts as above 0
WAYS = ("unseen", "unmapped", "unknown", "elsewhere", "approach")


def rows_of(outcomes: Sequence[EpisodeOutcome]) -> dict[Row, list[EpisodeOutcome]]:
    """Return outcomes by (setting, policy) in order of first occurrence, each list sorted by world and seed."""
    rows: dict[Row, list[EpisodeOutcome]] = {}
    for outcome in outcomes:
        rows.setdefault((outcome.setting, outcome.policy), []).append(outcome)
    return {row: sorted(found, key=lambda o: (o.world, o.seed)) for row, found in rows.items()}


def row_metrics(rows: Mapping[Row, Sequence[EpisodeOutcome]]) -> dict[str, float]:
    """Return `sr.SETTING.POLICY` etc. with 95 % intervals, and the bandit's SPL minus each rival's over worlds."""
    metrics: dict[str, float] = {}
    for (setting, policy), found in rows.items():
        key, rng = f"{setting}.{policy}", np.random.default_rng(0)
        for name, values in (("sr", [float(o.success) for o in found]), ("spl", _spls(found))):
            low, high = bootstrap_interval(values, rng)
            metrics |= {f"{name}.{key}": mean(values), f"{name}_low.{key}": low, f"{name}_high.{key}": high}
        metrics[f"spl_left_out.{key}"] = len(found) - len(_spls(found))
        metrics[f"time.{key}"] = mean([o.duration for o in found])
        metrics[f"decisions_made.{key}"] = mean([o.epochs for o in found])
        if policy != "bandit" and (setting, "bandit") in rows:
            metrics |= _against(setting, policy, rows[(setting, "bandit")], found)
    return metrics


def kind_metrics(rows: Mapping[Row, Sequence[EpisodeOutcome]]) -> dict[str, float]:
    """Return `sr.SETTING.POLICY.KIND` etc., for settings and policies run in several kinds of buildings."""
    metrics: dict[str, float] = {}
    for (setting, policy), found in rows.items():
        kinds = sorted({o.world for o in found})
        for kind in kinds if len(kinds) > 1 else ():
            own = [o for o in found if o.world == kind]
            low, high = bootstrap_interval(_spls(own), np.random.default_rng(0))
            key = f"{setting}.{policy}.{kind}"
            metrics |= {
                f"sr.{key}": mean([float(o.success) for o in own]), f"spl.{key}": mean(_spls(own)),
                f"spl_low.{key}": low, f"spl_high.{key}": high,
            }  # fmt: skip
    return metrics


def _spls(found: Sequence[EpisodeOutcome]) -> list[float]:
    """Return the SPL of each episode that did not begin at a success pose."""
    return defined([o.spl for o in found])


def _against(
    setting: str, policy: str, ours: Sequence[EpisodeOutcome], theirs: Sequence[EpisodeOutcome]
) -> dict[str, float]:
    """Return the bandit's SPL minus a rival's in the worlds where both are defined."""
    mine, other = ({(o.world, o.seed): o.spl for o in found} for found in (ours, theirs))
    both = [key for key in mine if key in other and len(defined([mine[key], other[key]])) == 2]
    pairs = [mine[k] for k in both], [other[k] for k in both]
    value, low, high = paired_difference(*pairs, np.random.default_rng(0))
    key = f"{setting}.bandit_minus_{policy}"
    return {f"spl.{key}": value, f"spl_low.{key}": low, f"spl_high.{key}": high}


def row_bars(metrics: Mapping[str, float]) -> tuple[Bar, ...]:
    """Return pass thresholds on the bandit's SR and SPL, and on its SPL minus each rival's, for the rows run.

    The rivals are the experts and LED, in unexplored buildings. Of these, only LED also drives to objects
    that it has found. Known buildings have no rivals, because bandit and LED only drive to objects there.
    """
    bars = []
    for setting, bounds in _BOUNDS.items():
        for name, bound in zip(("sr", "spl"), bounds):
            key = f"{name}.{setting}.bandit"
            if key in metrics:
                bars.append(Bar(key, metrics[key], bound))
    for rival in (*expert_names(), LED):
        key = f"spl_low.unexplored.bandit_minus_{rival}"
        if key in metrics:
            bars.append(Bar(key, metrics[key], _ABOVE_ZERO))
    return tuple(bars)


def main_table(rows: Mapping[Row, Sequence[EpisodeOutcome]], metrics: Mapping[str, float]) -> Table:
    """Return the table of SR, SPL, time, decisions and path by setting and policy (RoboAtlas Fig. 6 a, b)."""
    lines = []
    for (setting, policy), found in rows.items():
        key = f"{setting}.{policy}"
        interval = {
            name: f"{metrics[f'{name}_low.{key}']:.2f}–{metrics[f'{name}_high.{key}']:.2f}"
            for name in ("sr", "spl")
        }
        difference = ""
        if f"spl.{setting}.bandit_minus_{policy}" in metrics:
            rival = f"{setting}.bandit_minus_{policy}"
            difference = (
                f"{metrics[f'spl.{rival}']:+.3f} ({metrics[f'spl_low.{rival}']:+.3f} to "
                f"{metrics[f'spl_high.{rival}']:+.3f})"
            )
        claimed = [o for o in found if o.claimed]
        precision = mean([float(o.success) for o in claimed])
        lines.append((
            setting, policy, str(len(found)), f"{metrics[f'sr.{key}']:.3f}", interval["sr"],
            f"{metrics[f'spl.{key}']:.3f}", interval["spl"], str(metrics[f"spl_left_out.{key}"]),
            difference, number(precision),
            f"{metrics[f'time.{key}']:.0f}", f"{mean([o.path_length for o in found]):.1f}",
            f"{metrics[f'decisions_made.{key}']:.1f}",
        ))  # fmt: skip
    columns = (
        "setting", "policy", "episodes", "SR", "95 %", "SPL", "95 %", "left out of SPL",
        "SPL, bandit minus this (95 %)", "claims that hold", "time, s", "path, m", "decisions",
    )  # fmt: skip
    return Table("Success by setting and policy", columns, tuple(lines))


def kind_tables(rows: Mapping[Row, Sequence[EpisodeOutcome]], metrics: Mapping[str, float]) -> list[Table]:
    """Return SR and SPL by kind of building; no table for a single kind."""
    lines = []
    for (setting, policy), found in rows.items():
        for kind in sorted({o.world for o in found}):
            key = f"{setting}.{policy}.{kind}"
            if f"sr.{key}" not in metrics:
                continue
            interval = f"{metrics[f'spl_low.{key}']:.2f}–{metrics[f'spl_high.{key}']:.2f}"
            count = sum(o.world == kind for o in found)
            sr, spl = (f"{metrics[f'{name}.{key}']:.3f}" for name in ("sr", "spl"))
            lines.append((setting, policy, kind, str(count), sr, spl, interval))
    columns = ("setting", "policy", "building", "episodes", "SR", "SPL", "95 %")
    return [Table("Success by kind of building", columns, tuple(lines))] if lines else []


def target_metrics(rows: Mapping[Row, Sequence[EpisodeOutcome]]) -> dict[str, float]:
    """Return SR and SPL separately for targets in COCO's classes, which a COCO detector can name, and for others."""
    metrics = {}
    for (setting, policy), found in rows.items():
        for name, group in _by_target(found).items():
            spls = defined([o.spl for o in group])
            metrics[f"sr.{setting}.{policy}.{name}"] = mean([float(o.success) for o in group])
            metrics[f"spl.{setting}.{policy}.{name}"] = mean(spls)
    return metrics


def target_table(rows: Mapping[Row, Sequence[EpisodeOutcome]], metrics: Mapping[str, float]) -> Table:
    """Return the table of `target_metrics`."""
    lines = []
    for (setting, policy), found in rows.items():
        for name, group in _by_target(found).items():
            sr, spl = (f"{metrics[f'{what}.{setting}.{policy}.{name}']:.3f}" for what in ("sr", "spl"))
            lines.append((setting, policy, name, str(len(group)), sr, spl))
    columns = ("setting", "policy", "target", "episodes", "SR", "SPL")
    return Table("Success by target: a class of COCO, or another", columns, tuple(lines))


def _by_target(found: Sequence[EpisodeOutcome]) -> dict[str, list[EpisodeOutcome]]:
    groups: dict[str, list[EpisodeOutcome]] = {}
    for outcome in found:
        if outcome.target:
            groups.setdefault("coco" if coco_class(outcome.target) else "other", []).append(outcome)
    return groups


def allocation_table(rows: Mapping[Row, Sequence[EpisodeOutcome]]) -> Table:
    """Return picks and metres of every expert (RoboAtlas table VIII)."""
    lines = []
    for (setting, policy), found in rows.items():
        picks: Counter[str] = sum((Counter(o.decisions) for o in found), Counter())
        driven: Counter[str] = Counter()
        for o in found:
            driven.update(o.driven)
        if not picks:
            continue
        for arm, (count, part, metres, way) in arms.allocation(picks, driven, expert_names()).items():
            lines.append((setting, policy, arm, str(count), _percent(part), f"{metres:.0f}", _percent(way)))
    columns = ("setting", "policy", "expert", "picks", "picks, %", "path, m", "path, %")
    return Table("Picks and path by expert (as RoboAtlas table VIII)", columns, tuple(lines))


def way_table(rows: Mapping[Row, Sequence[EpisodeOutcome]]) -> Table:
    """Return the table of the mean metres of the path parts (`WaySplit`), by setting and policy."""
    lines = []
    for (setting, policy), found in rows.items():
        ways = [o.way for o in found if o.way]
        if ways:
            parts = [mean([way[f"way_{name}"] for way in ways]) for name in (*WAYS, "wrong", "direct")]
            shortest = mean([o.shortest for o in found if np.isfinite(o.shortest)])
            lines.append((setting, policy, *(f"{part:.1f}" for part in parts), f"{shortest:.1f}"))
    columns = (
        "setting", "policy", "not in view yet", "in view, not mapped", "mapped, not known as it",
        "known, driving elsewhere", "approach", "of all: to wrong things", "shortest approach", "shortest way",
    )  # fmt: skip
    return Table("Metres until the target was in view, mapped, known and reached", columns, tuple(lines))


def stage_tables(picks: Mapping[Row, Sequence[Pick]]) -> list[Table]:
    """Return RoboAtlas tables II, III and IV for every setting and policy with decisions."""
    second, third, fourth = [], [], []
    for (setting, policy), found in picks.items():
        shares, contested = (arms.distribution(found, expert_names(), only) for only in (False, True))
        means, spreads = arms.normalized(*arms.stage_rewards(found, expert_names()))
        raw, _ = arms.stage_rewards(found, expert_names())
        for stage, name in enumerate(STAGES):
            head = (setting, policy, name)
            second.append((*head, *map(_share, shares[stage]), *map(_share, contested[stage])))
            third.append((
                *head, *(f"{_share(m)} ± {_share(s)}" for m, s in zip(means[stage], spreads[stage])),
                *map(_share, raw[stage]),
            ))  # fmt: skip
        for name, (value, spread, part) in arms.components(found).items():
            fourth.append((setting, policy, name, f"{value:.2f}", f"{spread:.2f}", _share(part)))
    contested_columns = tuple(f"{name}, all admissible" for name in expert_names())
    return [
        Table(
            "Picks by stage of coverage (as RoboAtlas table II)",
            ("setting", "policy", "stage", *expert_names(), *contested_columns), tuple(second),
        ),
        Table(
            "Reward by stage and expert, scaled to [0, 1], and as it is (as RoboAtlas table III)",
            ("setting", "policy", "stage", *expert_names(), *(f"{name}, raw" for name in expert_names())), tuple(third),
        ),
        Table(
            "Reward by component (as RoboAtlas table IV)",
            ("setting", "policy", "component", "mean", "std", "fraction"), tuple(fourth),
        ),
    ]  # fmt: skip


def learning_metrics(picks: Mapping[Row, Sequence[Pick]]) -> dict[str, float]:
    """Return the use of the frontier expert, for every setting and policy that begins without a prior:
    `frontier_share.SETTING.POLICY.STAGE`, its share of the contested decisions, in which every expert was
    admissible; `contested...`, their number; and `frontier_fall.SETTING.POLICY`, the decrease of the share
    from the low to the high coverage stage, with a 95 % interval over runs.
    """
    metrics: dict[str, float] = {}
    for (setting, policy), found in picks.items():
        if policy not in COLD_ROWS:
            continue
        key = f"{setting}.{policy}"
        shares = arms.distribution(found, expert_names(), contested=True)[
            :, expert_names().index(FRONTIER.name)
        ]
        counts = Counter(stage for pick, stage in zip(found, arms.stages_of(found)) if pick.contested)
        for stage, name in enumerate(STAGES):
            metrics[f"frontier_share.{key}.{name}"] = float(shares[stage])
            metrics[f"contested.{key}.{name}"] = counts[stage]
        value, low, high = map(float, arms.fall(found, FRONTIER.name, np.random.default_rng(0)))
        metrics |= {
            f"frontier_fall.{key}": value, f"frontier_fall_low.{key}": low, f"frontier_fall_high.{key}": high,
        }  # fmt: skip
    return metrics


def learning_bars(metrics: Mapping[str, float]) -> tuple[Bar, ...]:
    """Return the pass threshold on `frontier_fall` of each policy that begins without a prior; NaN fails."""
    keys = [f"frontier_fall.unexplored.{policy}" for policy in COLD_ROWS]
    return tuple(Bar(key, metrics[key], _FALL_BOUND) for key in keys if key in metrics)


def learning_tables(metrics: Mapping[str, float]) -> list[Table]:
    """Return the table of `learning_metrics`; no table if no policy begins without a prior."""
    lines = []
    for name in metrics:
        if not name.startswith("frontier_fall."):
            continue
        key = name.removeprefix("frontier_fall.")
        shares = [
            f"{_share(metrics[f'frontier_share.{key}.{stage}'])} of {metrics[f'contested.{key}.{stage}']:.0f}"
            for stage in STAGES
        ]
        value, low, high = (metrics[f"frontier_fall{end}.{key}"] for end in ("", "_low", "_high"))
        lines.append((*key.split("."), *shares, _share(value), f"{_share(low)} to {_share(high)}"))
    columns = ("setting", "policy", *(f"{stage} coverage" for stage in STAGES), "fall", "95 %")
    title = "Share of the frontier where every expert might have been picked"
    return [Table(title, columns, tuple(lines))] if lines else []


def _percent(value: float) -> str:
    return f"{100.0 * value:.1f}" if np.isfinite(value) else "–"


def _share(value: float) -> str:
    return f"{value:.3f}" if np.isfinite(value) else number(value)
