"""What /metrics says about work that was done, on both databases."""

import pytest

from clarion.app import Application
from clarion.clock import HOUR, MINUTE, SECOND
from clarion.monitoring.metrics import MAX_INTEGRATIONS, OTHER, Measures
from tests.engine.providers import ADA, EMAIL, account
from tests.engine.support import in_app, step
from tests.monitoring.conftest import WatchedWorld


async def test_requests_are_counted_by_operation_and_status(world: WatchedWorld) -> None:
    await world.make_workflow(in_app())
    await world.trigger("ada")
    await world.post("ada", name="unknown")
    await world.api.get("/v2/subscribers/nobody")
    await world.api.get("/no/such/path")
    await world.api.get("/openapi.json")

    metrics = await world.metrics()

    requests = "clarion_http_requests_total"
    assert metrics.get(requests, operation="trigger_event", status="201") == 1
    assert metrics.get(requests, operation="trigger_event", status="422") == 1
    assert metrics.get(requests, operation="get_subscriber", status="404") == 1
    assert metrics.get(requests, operation="unknown", status="404") == 1
    assert metrics.get(requests, operation="page", status="200") == 1
    assert metrics.get("clarion_http_request_duration_seconds_count", operation="trigger_event") == 2
    assert metrics.get("clarion_batch_size_count", kind="requests") == 2


async def test_triggers_runs_and_in_app_messages_are_counted_when_they_are_durable(world: WatchedWorld) -> None:
    await world.make_workflow(in_app())
    await world.trigger(["ada", "bob"])
    before = await world.metrics()

    await world.work(after=20 * SECOND)
    metrics = await world.metrics()

    assert before.get("clarion_triggers_accepted_total") == 1
    assert before.get("clarion_runs_started_total") == 0
    assert metrics.get("clarion_runs_started_total") == 2
    assert metrics.get("clarion_runs_completed_total") == 2
    assert metrics.get("clarion_messages_total", channel="in_app", outcome="sent") == 2
    # They waited for 20 seconds.
    assert metrics.get("clarion_run_duration_seconds_bucket", le="10.0") == 0
    assert metrics.get("clarion_run_duration_seconds_bucket", le="30.0") == 2
    assert metrics.get("clarion_lane_wait_seconds_bucket", le="30.0") == 2


async def test_repeated_requests_are_counted_as_duplicates(world: WatchedWorld) -> None:
    await world.make_workflow(in_app())
    await world.trigger("ada", transactionId="once")
    await world.trigger("ada", transactionId="once")
    for _ in range(2):
        await world.api.post("/v2/subscribers", json={"subscriberId": "bob"}, headers={"Idempotency-Key": "k"})

    metrics = await world.metrics()

    assert metrics.get("clarion_triggers_accepted_total") == 1
    assert metrics.get("clarion_duplicates_refused_total", kind="transaction") == 1
    assert metrics.get("clarion_duplicates_refused_total", kind="idempotency_key") == 1


async def test_a_delay_does_not_count_as_time_that_a_run_took(world: WatchedWorld) -> None:
    await world.make_workflow(in_app(), step("delay", type="regular", amount=1, unit="hours"), in_app("Later"))
    await world.trigger("ada")
    await world.work()
    waiting = await world.metrics()

    await world.work(after=HOUR + 2 * SECOND)
    metrics = await world.metrics()

    assert waiting.get("clarion_runs_completed_total") == 0
    assert metrics.get("clarion_runs_completed_total") == 1
    assert metrics.get("clarion_run_duration_seconds_sum") == 2
    assert metrics.get("clarion_lane_wait_seconds_sum") == 2


async def test_a_digest_does_not_count_as_time_and_its_open_window_is_shown(world: WatchedWorld) -> None:
    digest = step("digest", type="regular", amount=1, unit="minutes")
    async with account(world, "mail") as mail:
        await world.make_workflow(digest, EMAIL)
        await world.trigger([ADA])
        await world.work()
        await world.trigger([ADA])
        await world.work(after=SECOND)
        open_before = (await world.metrics()).get("clarion_digest_windows_open")

        await world.work(after=MINUTE)
        metrics = await world.metrics()

    assert open_before >= 1
    assert mail.count == 1
    # The second run ended when it was merged; the first a moment after its window.
    assert metrics.get("clarion_runs_completed_total") == 2
    assert metrics.get("clarion_run_duration_seconds_bucket", le="5.0") == 2


async def test_sends_are_counted_by_outcome_and_provider(world: WatchedWorld) -> None:
    async with account(world, "mail") as mail:
        await world.make_workflow(EMAIL)
        await world.trigger([ADA, "unaddressed"])
        await world.work()
        mail.break_down(503)
        await world.trigger([ADA])
        await world.work()
        mail.break_down(400)
        await world.trigger([ADA])
        await world.work()

        metrics = await world.metrics()

    def count(outcome: str) -> float:
        return metrics.get("clarion_messages_total", channel="email", outcome=outcome)

    assert [count(one) for one in ("sent", "retried", "failed", "skipped")] == [1, 1, 1, 1]
    names = {"provider": "email-webhook", "integration": "mail"}
    assert metrics.get("clarion_provider_request_duration_seconds_count", **names) == 3
    assert metrics.get("clarion_provider_errors_total", **names, kind="retryable") == 1
    assert metrics.get("clarion_provider_errors_total", **names, kind="permanent") == 1
    assert metrics.get("clarion_dead_letters") >= 1
    assert metrics.get("clarion_batch_size_count", kind="sends") == 3
    assert metrics.get("clarion_sends_in_flight") == 0


async def test_an_open_circuit_is_shown(world: WatchedWorld) -> None:
    async with account(world, "fragile") as mail:
        await world.make_workflow(EMAIL)
        mail.break_down(503)
        for number in range(5):
            await world.trigger([ADA | {"subscriberId": f"p{number}"}])
            await world.work()

        metrics = await world.metrics()

    assert metrics.get("clarion_circuit_open", provider="email-webhook", integration="fragile") == 1


async def test_no_label_names_an_environment_a_person_or_a_workflow(world: WatchedWorld) -> None:
    await world.make_workflow(in_app(), key="a-secret-workflow")
    await world.trigger({"subscriberId": "a-certain-person", "email": "a@b.example"}, name="a-secret-workflow")
    await world.work()

    labels = " ".join((await world.metrics()).labels)

    assert "a-certain-person" not in labels
    assert "a-secret-workflow" not in labels
    assert world.api.environment.identifier not in labels
    assert world.api.environment.id.hex() not in labels.replace("-", "")


def test_integrations_beyond_the_limit_share_one_series() -> None:
    measures = Measures()

    for number in range(MAX_INTEGRATIONS + 50):
        measures.integration("sendgrid", f"identifier-{number}").seconds.observe(0.1)

    assert len(measures.integrations) == MAX_INTEGRATIONS + 1
    assert measures.integrations[OTHER, OTHER].seconds.count == 50


@pytest.mark.parametrize("path", ["/metrics"])
async def test_metrics_need_their_token(world: WatchedWorld, path: str) -> None:
    key = f"ApiKey {world.api.key}"
    for header in ({}, {"Authorization": key}, {"Authorization": "Bearer wrong-token-for-prometheus"}):
        response = await world.api.get(path, headers={"Authorization": "", **header})

        assert response.status_code == 401
        assert response.headers["www-authenticate"] == "Bearer"


async def test_the_database_and_the_loop_are_measured(world: WatchedWorld, application: Application) -> None:
    with application.watchdog.watch():
        await world.make_workflow(in_app())
        metrics = await world.metrics()

    assert metrics.get("clarion_database_commit_duration_seconds_count") > 0
    assert metrics.get("clarion_database_connections_limit") >= 1
    assert metrics.get("clarion_database_units_waiting") == 0
    assert metrics.get("clarion_ready") == 1
    assert {"clarion_event_loop_lag_seconds_count", "process_resident_memory_bytes"} <= metrics.names
