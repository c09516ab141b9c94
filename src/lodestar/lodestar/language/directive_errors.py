"""Errors for texts that cannot be acted on or answered."""

from __future__ import annotations


class DirectiveError(ValueError):
    """Base error: the text cannot be acted on. The message says what to write instead."""


class EmptyDirective(DirectiveError):
    """Error: the text is empty."""


class StopRequested(DirectiveError):
    """Error: the text asks only for a halt."""


class NotUnderstood(DirectiveError):
    """Error: the text contains no task."""


class CannotObey(NotUnderstood):
    """Error: the text forbids what its task needs, or asks for a manner that the robot cannot follow."""


class OutOfBounds(NotUnderstood):
    """Error: a number in the text is out of range."""
