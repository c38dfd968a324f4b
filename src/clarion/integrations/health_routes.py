"""How integrations do: circuit, rate limit, last errors and counts; and the use of providers over time."""

from clarion.clock import Millis, iso_text
from clarion.errors import NotFound
from clarion.http.operation import Call, Transaction, operation
from clarion.ids import IntegrationId, id_text
from clarion.integrations.counts import CallCount, list_counts, start_of_hour
from clarion.integrations.health_wire import (
    CallCountOut,
    CallErrorOut,
    CircuitOut,
    IntegrationHealthOut,
    IntegrationStateOut,
    RateOut,
    TimeQuery,
    UsageOut,
    UsageQuery,
    list_usage,
    sum_counts,
)
from clarion.integrations.store import list_kinds, list_rate_limits
from clarion.sending.calls import list_call_errors
from clarion.sending.health import HEALTHY, list_health
from clarion.vocabulary import Channel, Scope

SECTION = "Integrations"


@operation(
    "GET",
    "/v1/integrations/health",
    scope=Scope.INTEGRATIONS_READ,
    query=TimeQuery,
    transaction=Transaction.SCAN,
)
async def list_integration_health(call: Call, query: TimeQuery) -> list[IntegrationStateOut]:
    """Show the circuit breaker of each integration, and its counts over a time."""
    after, before = query.read(call.now)
    sums: dict[IntegrationId, CallCount] = {}
    for hour in await list_counts(call.db, call.environment_id, after=after, before=before):
        sums.setdefault(hour.integration_id, CallCount()).add(hour.count)
    health = await list_health(call.db, call.environment_id)
    return [
        IntegrationStateOut(
            integration_id=id_text(integration_id),
            circuit=CircuitOut.of(health.get(integration_id, HEALTHY).circuit, call.now),
            counts=CallCountOut.of(sums.get(integration_id, CallCount())),
        )
        for integration_id in await list_rate_limits(call.db, call.environment_id)
    ]


@operation(
    "GET",
    "/v1/integrations/{integrationId}/health",
    scope=Scope.INTEGRATIONS_READ,
    query=TimeQuery,
    transaction=Transaction.SCAN,
)
async def get_integration_health(call: Call, integration_id: IntegrationId, query: TimeQuery) -> IntegrationHealthOut:
    """Show whether an integration works: its circuit breaker, rate limit, last errors, and counts over a time."""
    after, before = query.read(call.now)
    rate_limits = await list_rate_limits(call.db, call.environment_id)
    if integration_id not in rate_limits:
        raise NotFound("Integration", id_text(integration_id))
    health = (await list_health(call.db, call.environment_id)).get(integration_id, HEALTHY)
    counts = await list_counts(call.db, call.environment_id, after=after, before=before)
    errors = await list_call_errors(call.db, call.environment_id, integration_id)
    return IntegrationHealthOut(
        integration_id=id_text(integration_id),
        circuit=CircuitOut.of(health.circuit, call.now),
        rate=RateOut.of(health.bucket, rate_limits[integration_id], call.now),
        after=iso_text(start_of_hour(after)),
        before=iso_text(before),
        counts=CallCountOut.of(sum_counts(one.count for one in counts if one.integration_id == integration_id)),
        last_errors=[CallErrorOut.of(one) for one in errors],
    )


@operation(
    "GET",
    "/v1/usage",
    scope=Scope.MESSAGES_READ,
    query=UsageQuery,
    transaction=Transaction.SCAN,
)
async def list_provider_usage(call: Call, query: UsageQuery) -> UsageOut:
    """Count what providers were given, by time, channel and provider."""
    after, before = query.read_usage(call.now)
    kinds = await list_kinds(call.db, call.environment_id)
    if query.integration_id is not None:
        wanted = IntegrationId(query.integration_id.id)
        kinds = {wanted: kinds[wanted]} if wanted in kinds else {}
    buckets: dict[tuple[Millis, Channel, str], CallCount] = {}
    for hour in await list_counts(call.db, call.environment_id, after=after, before=before):
        if hour.integration_id not in kinds:
            continue
        channel, provider_id = kinds[hour.integration_id]
        key = query.start_of_bucket(hour.hour), channel, call.services.names.to_wire(provider_id)
        buckets.setdefault(key, CallCount()).add(hour.count)
    return UsageOut(
        after=iso_text(start_of_hour(after)), before=iso_text(before), bucket=query.bucket, data=list_usage(buckets)
    )
