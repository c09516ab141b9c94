"""Errors of the memory's store. Each message gives a remedy; the robot continues without the store."""

from __future__ import annotations


class StoreError(Exception):
    """Raised if the store cannot fulfil a request; the message gives a remedy."""


class StoreLocked(StoreError):
    """Raised if another process owns the store."""


class StoreFull(StoreError):
    """Raised if the disk is full. Data acknowledged before is kept, the current data is not."""


class StoreUnwritable(StoreError):
    """Raised if the folder cannot be written."""


class ForeignStore(StoreError):
    """Raised if the path holds other data, or the store of another robot."""


class OtherStoreVersion(StoreError):
    """Raised if an incompatible version of Lodestar wrote the store."""


class DamagedStore(StoreError):
    """Raised if the database is truncated or damaged; it is left unchanged."""


class NotErased(StoreError):
    """Raised if memories were forgotten, but are not erased from all files yet; erasure is retried.

    They no longer appear in answers. ids: of the memories.
    """

    def __init__(self, message: str, ids: tuple[int, ...]) -> None:
        super().__init__(message)
        self.ids = ids


class BadMemory(StoreError, ValueError):
    """Raised for a memory that cannot be stored: a number is not finite, or its vector does not fit."""


class NoSuchMemory(StoreError, LookupError):
    """Raised if no memory has the id: it never existed, was thinned out or was forgotten."""


class NoQueryVectors(StoreError):
    """Raised if the words of a request cannot be embedded now."""


class IndexUnavailable(StoreError):
    """Raised if Milvus cannot be used now. Searches continue without it, and it is filled from the database later."""
