"""Planning the sends of a claim: each message's first integration is one that works and has room, or it waits.

An integration whose circuit is open, or that has no room for more than ten seconds, is passed over for another of its
channel. A message that has nowhere else to go is tried with what there is, however the circuit stands; it waits for a
pause that the provider asked for. An integration that refused a message is not asked for it again.
"""

import math
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from msgspec.structs import replace

from clarion.clock import Millis
from clarion.conditions import decide_filters
from clarion.db.port import Connection
from clarion.engine.records import variables_of
from clarion.ids import EnvironmentId, IntegrationId, MessageId
from clarion.integrations.model import DEFAULT_WEIGHT, Integration, failover_key
from clarion.providers.definition.overrides import channel_overrides
from clarion.providers.definition.provider import HttpProvider
from clarion.providers.registry import find_provider
from clarion.sending.dead_letters.model import POSSIBLY_DELIVERED
from clarion.sending.health import (
    HEALTHY,
    IntegrationHealth,
    list_health,
    lock_health,
    update_health,
)
from clarion.sending.model import BY_ENTRY, ClaimedSend, OutgoingMessage, PassedOver, Route
from clarion.sending.retry import MAX_WAIT, place_of, shortest_wait
from clarion.templates import TemplateProblem, render_value
from clarion.work import MAX_UNIT_WORK, WorkBudget, spending

_NOT_HELD = "has conditions that do not hold"
# The route of a send is planned while the store waits.
_MAX_CHOICE_WORK = MAX_UNIT_WORK


class HealthSnapshot:
    """The health of an environment's integrations as a claim reads and changes it."""

    def __init__(self, health: dict[IntegrationId, IntegrationHealth], now: Millis) -> None:
        self._before = dict(health)
        self._health = health
        self.now = now
        self.failing = frozenset(one for one, own in health.items() if own.circuit.is_failing)

    @property
    def has_no_records(self) -> bool:
        return not self._health

    @property
    def changed(self) -> list[tuple[IntegrationId, IntegrationHealth]]:
        return [(one, health) for one, health in self._health.items() if health != self._before.get(one, HEALTHY)]

    def is_open(self, integration: Integration) -> bool:
        return self._of(integration).circuit.is_open(self.now)

    def rests_until(self, integration: Integration) -> Millis | None:
        """The end of the time in which its circuit is open, or else of the pause that its provider asked for."""
        return self._of(integration).circuit.open_until if self.is_open(integration) else self.paused_until(integration)

    def paused_until(self, integration: Integration) -> Millis | None:
        """The end of the pause that its provider asked for."""
        return self._of(integration).bucket.paused_until(self.now)

    def wait_of(self, integration: Integration, *, has_turn: bool) -> int:
        """Milliseconds until it takes one more; a send whose turn has come waits only for a pause."""
        rate = None if has_turn else integration.rate_limit
        return self._of(integration).bucket.wait(rate, self.now)

    def begin_trial(self, integration: Integration) -> bool:
        """Begin a trial if the circuit is half-open; returns whether it is."""
        health = self._of(integration)
        if not health.circuit.is_half_open(self.now):
            return False
        self._health[integration.id] = replace(health, circuit=health.circuit.begin_trial(self.now))
        return True

    def take(self, integration: Integration) -> None:
        """Take a token, if the integration has a rate limit."""
        if integration.rate_limit is not None:
            health = self._of(integration)
            taken = health.bucket.take(integration.rate_limit, self.now)
            self._health[integration.id] = replace(health, bucket=taken)

    def _of(self, integration: Integration) -> IntegrationHealth:
        return self._health.get(integration.id, HEALTHY)


async def plan_sends(
    db: Connection, environment_id: EnvironmentId, sends: Sequence[ClaimedSend], now: Millis
) -> list[tuple[ClaimedSend, int]]:
    """Give every message its route; returns for each send how many milliseconds it has to wait."""
    if not sends:
        return []
    health = await list_health(db, environment_id)
    active = [one for one in sends[0].integrations if one.active]
    counted = {
        one.id for one in active if one.rate_limit is not None or health.get(one.id, HEALTHY).circuit.is_half_open(now)
    }
    if counted:
        health |= await lock_health(db, environment_id, counted)
    snapshot = HealthSnapshot(health, now)
    planned = [(send, plan_send(send, snapshot)) for send in sends]
    await update_health(db, environment_id, snapshot.changed)
    return planned


def plan_send(send: ClaimedSend, snapshot: HealthSnapshot) -> int:
    """Decide the route of each message of a job; returns how many milliseconds the job has to wait."""
    waits = [0]
    for message in send.messages:
        if message.id in send.suppressed:
            continue
        candidates = choose_integrations(send, message)
        send.choices = max(send.choices, len(candidates))
        is_change = message.wanted_change is not None
        willing = [one for one in candidates if is_change or one.id not in message.refused_by]
        if willing:
            left = willing[min(place_of(send.job.attempt), len(willing) - 1) :]
            send.planned[message.id], wait = _plan_message(send, message, left, snapshot)
            waits.append(wait)
    return max(waits)


def _plan_message(
    send: ClaimedSend, message: OutgoingMessage, candidates: Sequence[Integration], snapshot: HealthSnapshot
) -> tuple[Route, int]:
    if snapshot.has_no_records and message.error_id is None and candidates[0].rate_limit is None:
        return Route(integrations=candidates), 0
    usable = [one for one in candidates if not snapshot.is_open(one)] or candidates
    waits = {one.id: snapshot.wait_of(one, has_turn=send.has_turn) for one in candidates}
    first = (
        _find_unconfirmed(message, candidates)
        or next((one for one in usable if waits[one.id] <= MAX_WAIT), None)
        or min(usable, key=lambda one: waits[one.id])
    )
    before = candidates[: candidates.index(first)]
    if not send.has_turn:
        snapshot.take(first)
    paused_until = snapshot.paused_until(first)
    wait = waits[first.id] if paused_until is None else _lengthen(send, waits[first.id], snapshot.now)
    is_trial = wait == 0 and len(candidates) > 1 and snapshot.begin_trial(first)
    rest = sorted((one for one in candidates if one is not first), key=lambda one: one not in usable)
    route = Route(
        integrations=[first, *rest],
        passed_over=_explain(before, snapshot),
        rests_until={one.identifier: until for one in before if (until := snapshot.rests_until(one)) is not None},
        is_trial=is_trial,
        paused_until=paused_until,
        failing=snapshot.failing,
        paused=frozenset(one.id for one in candidates if snapshot.paused_until(one) is not None),
    )
    return route, wait


def _lengthen(send: ClaimedSend, wait: int, now: Millis) -> int:
    """Wait for a pause, and longer each time: others may make it last."""
    send.put_off_since = send.put_off_since or now
    return max(wait, shortest_wait(send.put_off_since, now))


def _find_unconfirmed(message: OutgoingMessage, candidates: Sequence[Integration]) -> Integration | None:
    """The integration that may have taken the message already, where its provider recognises a second try."""
    if message.error_id != POSSIBLY_DELIVERED:
        return None
    return next((one for one in candidates if one.id == message.integration_id and recognises_repeats(one)), None)


def recognises_repeats(integration: Integration) -> bool:
    """Whether a message that is sent again arrives once; servers of e-mail do not compare the ids of letters."""
    provider = find_provider(integration.provider_id)
    return isinstance(provider, HttpProvider) and bool(provider.idempotency)


def _explain(passed_over: Sequence[Integration], snapshot: HealthSnapshot) -> dict[str, PassedOver]:
    return {one.identifier: _find_reason(one, snapshot) for one in passed_over}


def _find_reason(integration: Integration, snapshot: HealthSnapshot) -> PassedOver:
    if snapshot.is_open(integration):
        return PassedOver.CIRCUIT_OPEN
    return PassedOver.RATE_LIMIT if snapshot.paused_until(integration) is None else PassedOver.PAUSED


def choose_integrations(send: ClaimedSend, message: OutgoingMessage) -> list[Integration]:
    """The active integrations that may send a message, in the order in which they are tried when all work."""
    fitting = [one for one in send.integrations if one.active and one.channel == message.channel]
    if message.wanted_change is not None:
        # Only the account that sent it can change it.
        return [one for one in fitting if one.id == message.integration_id]
    if message.channel in BY_ENTRY:
        return _choose_by_entry(send, message, fitting)
    variables = None if send.run is None else variables_of(send.run)
    fitting = [one for one in fitting if not one.conditions or _find_refusal(one, variables) is None]
    wanted = _find_wanted(send, message)
    if wanted is not None:
        return [one for one in fitting if one.identifier == wanted]
    return order_integrations(fitting, message.id)


def find_reason(send: ClaimedSend, message: OutgoingMessage, integration: Integration) -> str:
    """Which rule puts an integration in its place."""
    if message.channel in BY_ENTRY:
        return "entry"
    if _find_wanted(send, message) is not None:
        return "trigger"
    if any(one.weight != DEFAULT_WEIGHT for one in send.integrations if one.channel == message.channel):
        return "weight"
    return "primary" if integration.is_primary else "priority"


def explain_choice(send: ClaimedSend, message: OutgoingMessage) -> dict[str, Any]:
    """Why integrations of the channel may not send a message, by identifier, and which one the trigger names."""
    chosen = {one.id for one in choose_integrations(send, message)} - set(message.refused_by)
    variables = None if send.run is None else variables_of(send.run)
    others = [one for one in send.integrations if one.channel == message.channel and one.id not in chosen]
    explained: dict[str, Any] = {
        "notEligible": {one.identifier: _find_obstacle(one, message, variables) for one in others}
    }
    wanted = None if message.channel in BY_ENTRY else _find_wanted(send, message)
    return explained | ({} if wanted is None else {"wanted": wanted})


def _find_wanted(send: ClaimedSend, message: OutgoingMessage) -> object | None:
    """The integration that the trigger names, if it names one."""
    if not send.overrides:
        return None
    return channel_overrides(send.overrides, message.channel).get("integrationIdentifier") or None


def _find_obstacle(integration: Integration, message: OutgoingMessage, variables: dict[str, Any] | None) -> str:
    if not integration.active:
        return "is not active"
    if integration.id in message.refused_by:
        return "refused this message before"
    if message.channel in BY_ENTRY:
        return "is not the one of the person's credentials"
    refusal = _find_refusal(integration, variables) if integration.conditions else None
    return refusal or "is not the one that the trigger names"


def order_integrations(integrations: Sequence[Integration], message_id: MessageId) -> list[Integration]:
    """The primary and then by priority; or, where weights are set, each first for its share of the messages.

    The same message has the same order every time, and one integration more or less moves only its own share.
    """
    ordered = sorted(integrations, key=failover_key)
    if all(one.weight == DEFAULT_WEIGHT for one in ordered):
        return ordered
    return sorted(ordered, key=lambda one: _draw(one, message_id))


def _choose_by_entry(send: ClaimedSend, message: OutgoingMessage, fitting: Sequence[Integration]) -> list[Integration]:
    """The integration that the person's entry belongs to, or another of the same provider where that one is gone."""
    of_provider = [one for one in fitting if one.provider_id == message.provider_id]
    entry = send.entries.get(message.id)
    its_own = [one for one in of_provider if entry is not None and one.id == entry.integration_id]
    # The token of an endpoint is of no use to another account.
    return its_own if message.endpoint_id is not None else its_own or sorted(of_provider, key=failover_key)[:1]


def _find_refusal(integration: Integration, variables: dict[str, Any] | None) -> str | None:
    """Why the conditions of an integration keep it from sending, or None; expected values may be templates."""
    if not variables:
        return _NOT_HELD
    if not integration.has_templates_in_conditions:
        return None if decide_filters(integration.conditions, variables).passed else _NOT_HELD
    with spending(WorkBudget(_MAX_CHOICE_WORK)):
        try:
            conditions = render_value(integration.conditions, variables)
        except TemplateProblem as problem:
            return f"has conditions that cannot be rendered: {problem}"
        return None if decide_filters(conditions, variables).passed else _NOT_HELD


def _draw(integration: Integration, message_id: MessageId) -> float:
    """The smallest of these is first as often as the weights say (rendezvous hashing)."""
    digest = blake2b(message_id + integration.id, digest_size=8).digest()
    return -math.log((int.from_bytes(digest) + 1) / (2**64 + 1)) / integration.weight
