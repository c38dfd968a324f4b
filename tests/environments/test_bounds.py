"""What the operator allows holds: environments lower rate limits, and choose their retention within a range."""

from typing import Any

import pytest

from clarion.bus import Bus
from clarion.clock import ManualClock
from clarion.db.port import Database
from clarion.environments.actions import make_limits_reader
from clarion.environments.options import DataKind, EnvironmentOptions
from clarion.errors import RateLimited
from clarion.ids import id_text
from clarion.limits.limiter import RateLimiter
from clarion.retention.periods import days_of
from clarion.settings.model import Settings
from clarion.settings.rate_limits import LimitCategory, RateLimit
from tests.support import Api, Site

LIMITED = {"CLARION_RATE_LIMITS": "trigger=10/s burst 20", "CLARION_MAX_RATE_LIMITS": "global=100/s"}


@pytest.fixture
def settings(request: pytest.FixtureRequest) -> Settings:
    return Settings.load(getattr(request, "param", LIMITED))


async def patch(api: Api, site: Site, **body: Any) -> tuple[int, list[str]]:
    response = await api.patch(f"/v1/environments/{id_text(site.development.id)}", json=body)
    return response.status_code, list(response.json().get("errors", {}))


@pytest.mark.parametrize(
    ("limits", "status"),
    [
        ({"trigger": {"perSecond": 10, "burst": 20}}, 200),
        ({"trigger": {"perSecond": 5}}, 200),
        ({"trigger": {"perSecond": 11, "burst": 20}}, 422),
        ({"trigger": {"perSecond": 10, "burst": 21}}, 422),
        ({"trigger": {"perSecond": 30}}, 422),
        ({"global": {"perSecond": 101}}, 422),
        ({"global": {"perSecond": 100}}, 200),
        ({"configuration": {"perSecond": 1000}}, 200),
    ],
    ids=str,
)
async def test_a_limit_of_an_environment_cannot_exceed_that_of_the_installation(
    api: Api, site: Site, limits: dict[str, Any], status: int
) -> None:
    fields = [] if status == 200 else [f"limits.{next(iter(limits))}"]

    assert await patch(api, site, limits=limits) == (status, fields)


@pytest.mark.parametrize(
    ("days", "status"),
    [
        ({"audit": 1}, 422),
        ({"audit": 90}, 200),
        ({"runs": 36_500}, 422),
        ({"runs": 730}, 200),
        ({"webhooks": 4}, 422),
        ({"audit": None}, 200),
    ],
    ids=str,
)
async def test_an_environment_chooses_its_retention_within_the_range_of_the_installation(
    api: Api, site: Site, days: dict[str, Any], status: int
) -> None:
    fields = [] if status == 200 else [f"retentionDays.{next(iter(days))}"]

    assert await patch(api, site, retentionDays=days) == (status, fields)


def test_what_an_environment_chose_before_holds_within_the_range() -> None:
    settings = Settings.load({"CLARION_MAX_RETENTION": "runs=60", "CLARION_MIN_RETENTION": "audit=100"})
    options = EnvironmentOptions(retention_days={DataKind.RUNS: 36_500, DataKind.AUDIT: 1, DataKind.OUTBOX: 14})

    days = days_of(options, settings)

    assert (days[DataKind.RUNS], days[DataKind.AUDIT], days[DataKind.OUTBOX]) == (60, 100, 14)


def test_the_days_of_the_installation_are_always_allowed() -> None:
    settings = Settings.load({"CLARION_RETENTION": "runs=1000,audit=30"})

    assert settings.retention_range("runs") == (1, 1000)
    assert settings.retention_range("audit") == (30, 3_650)


async def test_a_limit_that_was_set_before_is_clipped(
    database: Database, site: Site, api: Api, clock: ManualClock
) -> None:
    """The operator may lower the limits of the installation at any time."""
    await patch(api, site, limits={"trigger": {"perSecond": 10, "burst": 20}})
    limits = {LimitCategory.TRIGGER: RateLimit(per_second=2, burst=3)}
    limiter = RateLimiter(database, clock, Bus(), make_limits_reader(limits, limits), is_shared=False)

    for _ in range(3):
        await limiter.admit(site.development.id, LimitCategory.TRIGGER)
    with pytest.raises(RateLimited):
        await limiter.admit(site.development.id, LimitCategory.TRIGGER)
