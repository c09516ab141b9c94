"""Defaults of the memory, one frozen record per part."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StoreConfig:
    """Location, durability, limits and retention of the store (ADR 0036)."""

    folder: str = ""  # of journal and Milvus Lite; "" = memory/ in this user's state folder
    uri: str = ""  # of a Milvus server or cluster, as http://host:19530; "" = Milvus Lite in the folder
    token: str = ""  # user:password or API key of the server; "" = none
    collection: str = "lodestar_memory"  # in Milvus
    robot: str = "robot"  # partition key; every robot that shares a server needs its own
    dimension: int = 384  # of a vector; all-MiniLM-L6-v2
    # vectors of flushed records in the owner's memory too: "auto" = with Milvus Lite, "on", "off"; measured (ADR 0036)
    cache: str = "auto"

    sync_interval: float = (
        1.0  # seconds of real time between fsyncs; chosen: the most that a power cut may take
    )
    flush_interval: float = 1.0  # seconds of real time between turns of the worker; chosen
    flush_batch: int = 256  # records per upsert; chosen
    embed_batch: int = 64  # texts per call of the embedder; its own batch
    # seconds of real time after an upsert in which the vector is still searched in memory; above the 5 s of Milvus'
    # bounded staleness
    settle: float = 10.0
    # records upserted before Milvus is told to seal them; chosen: a seal costs Milvus Lite a file, and the journal
    # has them
    seal_after: int = 4000
    retry: float = 5.0  # seconds of real time before Milvus or the embedder is tried again; chosen
    timeout: float = 10.0  # seconds of real time for a call of the server; chosen
    segment_bytes: int = 8 * 2**20  # of one file of the journal; chosen: a rewrite takes 0.1 s

    max_text: int = 4000  # characters of a text; chosen: 12 times a caption. Longer ones are cut
    max_primitives: int = 256  # of one record; chosen. The largest in the image are kept
    full_time: float = 86400.0  # seconds for which everything is kept (issue 16)
    long_time: float = 30 * 86400.0  # seconds for which operator's words and events are kept; chosen
    max_records: int = 100_000  # to which older ones are thinned (issue 16)
    thin_to: float = 0.9  # share of max_records left by a thinning, 0..1; chosen: it runs seldom
    same_place: float = 2.0  # metres, side of the cell within which records are compared; chosen
    same_vector: float = 0.9  # cosine from which texts say the same; chosen
    same_entities: float = 0.5  # Jaccard index from which records show the same things, 0..1; chosen

    exact_below: int = (
        2000  # records that pass the filters, up to which vectors are read from the journal; measured
    )
    overfetch: int = 2  # times the limit asked of Milvus: its filter takes a square for the circle; chosen

    def __post_init__(self) -> None:
        if self.cache not in ("auto", "on", "off"):
            raise ValueError(f"cache is {self.cache!r}; write auto, on or off")
        if not self.robot or len(self.robot) > 64:
            raise ValueError("robot needs a name of 1 to 64 characters")
        counts = (
            self.dimension,
            self.flush_batch,
            self.embed_batch,
            self.max_text,
            self.max_records,
            self.overfetch,
        )
        if min(counts) < 1:
            raise ValueError("dimension, batches, limits and overfetch must be at least 1")
        if min(self.sync_interval, self.flush_interval, self.retry, self.timeout, self.same_place) <= 0.0:
            raise ValueError("intervals, timeout and same_place must be above 0")
        if not 0.0 < self.thin_to <= 1.0:
            raise ValueError("thin_to must be above 0 and at most 1")

    @property
    def cached(self) -> bool:
        """Return whether the owner keeps the vectors of flushed records in memory."""
        return self.cache == "on" or (self.cache == "auto" and not self.uri)
