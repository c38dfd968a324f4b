"""Sessions: how a subscriber's browser gets access to the subscriber's own inbox."""

from typing import Any

from msgspec import UnsetType

from clarion.clock import DAY, Millis
from clarion.contexts.model import read_contexts
from clarion.errors import Invalid
from clarion.http.operation import DetachedCall, Transaction, operation
from clarion.http.wire import changes_of
from clarion.ids import EnvironmentId, SubscriberKey
from clarion.inbox.sessions.beginning import SessionRequest, begin_session
from clarion.inbox.sessions.tokens import SessionTokens
from clarion.inbox.sessions.wire import BrowserTimezone, SessionIn, SessionOut
from clarion.inbox.wire import Reply
from clarion.jsontext import plain_value
from clarion.settings.rate_limits import LimitCategory
from clarion.subscribers.model import CONTACT_FIELDS


@operation(
    "POST",
    "/v1/inbox/session",
    public=True,
    status=201,
    body=SessionIn,
    transaction=Transaction.NONE,
    limit=LimitCategory.ALL,
)
async def create_inbox_session(call: DetachedCall, body: SessionIn) -> Reply[SessionOut]:
    """Begin a session of a subscriber, who is created if they do not exist.

    The environment is found by its application identifier, which is public. If `hmac` is set in the credentials of the
    in-app integration, `subscriberHash` must prove who the subscriber is, and only then are fields of a subscriber who
    exists changed.
    """
    services = call.services

    async def count(environment_id: EnvironmentId) -> None:
        call.response_headers.extend(await services.limiter.admit(environment_id, LimitCategory.ALL))

    begun = await begin_session(
        call.database,
        _request(body),
        vault=services.vault,
        now=call.now,
        count=count,
        max_unproven=services.settings.unproven_subscribers,
    )
    token = SessionTokens(services.vault, services.clock).issue(
        begun.session,
        begun.environment.id,
        begun.environment.organization_id,
        lifetime=Millis(services.settings.session_days * DAY),
    )
    return Reply(data=SessionOut.of(begun, token))


def _request(body: SessionIn) -> SessionRequest:
    context = _given(body.context) or {}
    schedule = _given(body.default_schedule)
    key, fields = _person(body)
    return SessionRequest(
        application=body.application_identifier,
        subscriber_key=SubscriberKey(key),
        fields=fields,
        subscriber_hash=_given(body.subscriber_hash),
        schedule=None if schedule is None else plain_value(schedule),
        context=context,
        contexts=read_contexts(context),
        context_hash=_given(body.context_hash),
    )


def _person(body: SessionIn) -> tuple[str, dict[str, Any]]:
    if isinstance(body.subscriber, UnsetType):
        if isinstance(body.subscriber_id, UnsetType):
            raise Invalid.field("subscriber.subscriberId", "is required")
        return body.subscriber_id, {}
    fields = changes_of(body.subscriber, *CONTACT_FIELDS)
    if isinstance(body.subscriber.timezone, BrowserTimezone) and not body.subscriber.timezone.is_known:
        del fields["timezone"]
    return body.subscriber.subscriber_id, fields


def _given(value: Any) -> Any:
    return None if isinstance(value, UnsetType) else value
