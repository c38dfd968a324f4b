"""Lanes, and sets of them."""

import pytest

from clarion.ids import SubscriberKey
from clarion.jobs.lanes import ALL_LANES, LANES, LaneSet, lane_of


@pytest.mark.parametrize(("key", "lane"), [("ada", 8), ("bob", 0), ("zoë", 20)])
def test_the_lane_of_a_person_stays_the_same_for_ever(key: str, lane: int) -> None:
    assert lane_of(SubscriberKey(key)) == lane


def test_a_set_has_the_lanes_that_it_was_made_of() -> None:
    assert list(LaneSet.of([5, 0, 31, 5])) == [0, 5, 31]
    assert list(ALL_LANES) == list(range(LANES))
    assert list(ALL_LANES - LaneSet.of(range(1, LANES))) == [0]


def test_only_a_set_without_lanes_is_false() -> None:
    assert not LaneSet.of([])
    assert not ALL_LANES - ALL_LANES
    assert LaneSet.of([0])


@pytest.mark.parametrize(
    ("lanes", "first", "last", "mask"),
    [([0], 0, 0, 1), ([31], 31, 31, 1 << 31), ([2, 5, 7], 2, 7, 0b10100100)],
)
def test_a_set_is_searched_from_its_first_lane_to_its_last(lanes: list[int], first: int, last: int, mask: int) -> None:
    assert LaneSet.of(lanes).parameters == {"first_lane": first, "last_lane": last, "lane_mask": mask}
