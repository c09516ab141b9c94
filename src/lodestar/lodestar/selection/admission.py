"""Arms of a decision, one per expert: whether each may be chosen (is admissible), and the reason if it may
not.
"""

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
    """One expert's answer at one decision, as an arm of the bandit. rejection: None if it proposed or was
    late.
    """

    expert: str
    proposal: Proposal | None
    admissible: bool
    reason: str = ""
    rejection: RejectionReason | None = None
    refusal: int = 0  # code of the validation of its trace, 0 = none

    @property
    def is_silent(self) -> bool:
        """Return whether the expert gave no usable answer: late, failed, or invalid."""
        return not self.admissible and self.rejection in _SILENT


@dataclass(frozen=True)
class Admission:
    """The answers of all experts at one decision, as arms. note: a restriction of the choice, as a sentence;
    "" = none.
    """

    arms: tuple[Arm, ...]
    note: str = ""

    @property
    def admissible(self) -> tuple[Arm, ...]:
        """Return the arms that may be chosen."""
        return tuple(arm for arm in self.arms if arm.admissible)

    def rejection(self, expert: str) -> RejectionReason | None:
        """Return the reason of an expert's rejection, None if it proposed or did not answer."""
        return next((arm.rejection for arm in self.arms if arm.expert == expert), None)
