"""Token buckets count all time once."""

import pytest

from clarion.clock import SECOND, Millis
from clarion.db.port import Database
from clarion.ids import EnvironmentId
from clarion.limits.buckets import Bucket, CountedRequest, take_stored_tokens, take_tokens
from clarion.limits.headers import LimitTexts
from clarion.settings.rate_limits import LimitCategory, RateLimit
from tests.support import Site

TEXTS = LimitTexts(LimitCategory.TRIGGER, RateLimit(per_second=10, burst=10))
START = Millis(1_767_225_600_000)


def at(seconds: float) -> Millis:
    return Millis(START + int(seconds * SECOND))


def make_requests(environment_id: EnvironmentId, bucket: Bucket) -> list[CountedRequest]:
    return [CountedRequest(environment_id, [bucket], cost=1, held=0) for _ in range(100)]


@pytest.mark.parametrize(
    ("moments", "taken"),
    [
        ((0, 0.5, 0.5, 1), [10, 5, 0, 5]),
        ((1, 0, 1, 1.5), [10, 0, 0, 5]),
        ((0, 5, 5.1, 5.2), [10, 10, 1, 1]),
    ],
    ids=["the same moment twice", "a clock that is set back", "no more than the burst"],
)
def test_a_bucket_of_one_process_counts_all_time_once(moments: tuple[float, ...], taken: list[int]) -> None:
    bucket = Bucket(TEXTS, 10, at(moments[0]))
    requests = make_requests(EnvironmentId(bytes(16)), bucket)

    admitted = [sum(take_tokens([bucket], one, at(moment)).is_admitted for one in requests) for moment in moments]

    assert admitted == taken


async def take(database: Database, site: Site, seconds: float) -> int:
    """Take all that the shared bucket has at a moment of the clock of some process."""
    requests = make_requests(site.development.id, Bucket(TEXTS, 10, START))
    answers, _ = await database.transaction(lambda db: take_stored_tokens(db, requests, at(seconds)))
    return sum(answer.is_admitted for answer in answers)


@pytest.mark.parametrize(
    ("moments", "taken"),
    [((0, 0.5, 0.5, 1), [10, 5, 0, 5]), ((1, 0, 1, 0.5, 1.5), [10, 0, 0, 0, 5])],
    ids=["the same moment twice", "processes whose clocks differ"],
)
async def test_a_bucket_of_several_processes_counts_all_time_once(
    database: Database, site: Site, moments: tuple[float, ...], taken: list[int]
) -> None:
    assert [await take(database, site, moment) for moment in moments] == taken
