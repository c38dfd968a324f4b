"""Lanes: slices of an environment's people.

A person's runs are decided in one lane, by one worker at a time and in the order of their triggers, so that digests,
throttles and order need no further coordination. Different lanes are worked on at the same time.
"""

from collections.abc import Iterable, Iterator
from zlib import crc32

from msgspec import Struct

from clarion.ids import SubscriberKey

LANES = 32
"""Fixed: the lane of a job is stored with it."""

IN_LANES = "lane BETWEEN :first_lane AND :last_lane AND (CAST(:lane_mask AS BIGINT) >> lane) & 1 = 1"
"""SQL: whether a row is in a set of lanes; `LaneSet.parameters` are its values.

The range is checked within an index, the mask only where the set has gaps.
"""


def lane_of(key: SubscriberKey) -> int:
    """The lane of a person; the same in every process and for ever."""
    return crc32(key.encode()) % LANES


class LaneSet(Struct, frozen=True):
    """Some of the lanes, as a bit mask."""

    mask: int

    @classmethod
    def of(cls, lanes: Iterable[int]) -> "LaneSet":
        mask = 0
        for lane in lanes:
            mask |= 1 << lane
        return cls(mask)

    def __bool__(self) -> bool:
        return self.mask != 0

    def __iter__(self) -> Iterator[int]:
        return (lane for lane in range(LANES) if self.mask >> lane & 1)

    def __sub__(self, other: "LaneSet") -> "LaneSet":
        return LaneSet(self.mask & ~other.mask)

    @property
    def parameters(self) -> dict[str, int]:
        return {
            "first_lane": (self.mask & -self.mask).bit_length() - 1,
            "last_lane": self.mask.bit_length() - 1,
            "lane_mask": self.mask,
        }


ALL_LANES = LaneSet((1 << LANES) - 1)
