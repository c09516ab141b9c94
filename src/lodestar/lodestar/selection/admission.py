"""Arms of a decision: which may be chosen, and why the others may not."""

from __future__ import annotations

from dataclasses import dataclass

from lodestar.experts.protocol import Proposal, RejectionReason

_SILENT = {
    None, RejectionReason.NO_DATA, RejectionReason.MODEL_UNAVAILABLE, RejectionReason.MODEL_ERROR,
    RejectionReason.DEADLINE, RejectionReason.CANCELLED, RejectionReason.TF_ERROR, RejectionReason.BAD_REQUEST,
    RejectionReason.UNKNOWN,
}  # fmt: skip


@dataclass(frozen=True)
class Arm:
    """One expert at one decision. rejection: None where it proposed, or was late."""

    expert: str
    proposal: Proposal | None
    admissible: bool
    reason: str = ""
    rejection: RejectionReason | None = None
    refusal: int = 0  # code of the validation of its trace, 0 = none

    @property
    def is_silent(self) -> bool:
        """Whether the expert said nothing of use: it is late, it failed, or it answered rubbish."""
        return not self.admissible and self.rejection in _SILENT


@dataclass(frozen=True)
class Admission:
    """Every expert's arm. note: what narrowed the choice, empty where nothing did."""

    arms: tuple[Arm, ...]
    note: str = ""

    @property
    def admissible(self) -> tuple[Arm, ...]:
        """Those that may be chosen."""
        return tuple(arm for arm in self.arms if arm.admissible)

    def rejection(self, expert: str) -> RejectionReason | None:
        """Return why an expert proposed nothing, None where it proposed or did not answer."""
        return next((arm.rejection for arm in self.arms if arm.expert == expert), None)
