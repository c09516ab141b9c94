"""Errors of texts that cannot be acted on or answered."""

from __future__ import annotations


class DirectiveError(ValueError):
    """The text cannot be acted on; the message says what to write instead."""


class EmptyDirective(DirectiveError):
    """There is no text."""


class StopRequested(DirectiveError):
    """The text asks for a halt and for nothing else."""


class NotUnderstood(DirectiveError):
    """There is text, but no task in it."""


class CannotObey(NotUnderstood):
    """It forbids what its task needs, or asks for a manner that nothing here obeys."""


class OutOfBounds(NotUnderstood):
    """It asks for more, or less, than can be done."""
