"""Errors of the memory's store. Each message says what to do; the robot goes on without the store."""

from __future__ import annotations


class StoreError(Exception):
    """The store cannot do what was asked; the message says what to do."""


class StoreLocked(StoreError):
    """Another process owns the store."""


class StoreFull(StoreError):
    """The disk is full. What was acknowledged before is kept, this is not."""


class StoreUnwritable(StoreError):
    """The folder cannot be written."""


class ForeignStore(StoreError):
    """The path holds something else, or the store of another robot."""


class OtherStoreVersion(StoreError):
    """Another version of Lodestar wrote the store."""


class DamagedStore(StoreError):
    """The database is truncated or damaged; it was left as it is."""


class NotErased(StoreError):
    """Forgotten memories are in no answer any more, but not erased everywhere yet; that is tried again.

    ids: of the memories.
    """

    def __init__(self, message: str, ids: tuple[int, ...]) -> None:
        super().__init__(message)
        self.ids = ids


class BadMemory(StoreError, ValueError):
    """The memory cannot be kept: a number in it is not finite, or its vector does not fit."""


class NoSuchMemory(StoreError, LookupError):
    """No memory has the id: it never existed, was thinned out or was forgotten."""


class NoQueryVectors(StoreError):
    """The words of a request cannot be turned into vectors now."""


class IndexUnavailable(StoreError):
    """Milvus cannot be used now. Searches go on without it, and it is filled from the database later."""
