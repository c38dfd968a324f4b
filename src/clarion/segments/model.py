"""Segments as records, and their limits."""

from typing import Any

from msgspec import Struct

from clarion.clock import Millis
from clarion.ids import EnvironmentId, SegmentId, SegmentKey

MAX_SEGMENTS = 200
"""Of an environment."""
MAX_SEGMENTS_PER_TRIGGER = 10
"""Each person of the environment is compared with the conditions of all of them."""


class Segment(Struct, frozen=True, kw_only=True):
    environment_id: EnvironmentId
    id: SegmentId
    key: SegmentKey
    name: str
    description: str | None
    condition: Any
    """JSON-logic over a person."""
    created_at: Millis
    updated_at: Millis
