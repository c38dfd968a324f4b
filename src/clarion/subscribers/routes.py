"""Subscribers: create, read, change, search, delete, and their channel credentials."""

from clarion.errors import AlreadyExists
from clarion.http.operation import Call, Transaction, operation
from clarion.http.pages import CursorPage, list_cursor_page
from clarion.http.wire import changes_of
from clarion.ids import SubscriberKey
from clarion.jsontext import plain_value
from clarion.subscribers import channels, store
from clarion.subscribers.model import CONTACT_FIELDS, Subscriber, append_credentials, replace_credentials
from clarion.subscribers.search import search_subscribers
from clarion.subscribers.wire import (
    BulkSubscribersOut,
    CreateSubscriberQuery,
    CredentialsIn,
    OnlineStatusIn,
    SubscriberIn,
    SubscriberKeyOut,
    SubscriberOut,
    SubscriberPatch,
    SubscriberQuery,
    SubscribersIn,
    SubscriberV1Out,
)
from clarion.vocabulary import Scope


@operation(
    "POST", "/v2/subscribers", scope=Scope.SUBSCRIBERS_WRITE, status=201, query=CreateSubscriberQuery, body=SubscriberIn
)
async def create_subscriber(call: Call, query: CreateSubscriberQuery, body: SubscriberIn) -> SubscriberOut:
    """Create a subscriber, or change the supplied fields of the existing one."""
    subscriber, created = await store.upsert_subscriber(
        call.db,
        call.environment_id,
        SubscriberKey(body.subscriber_id),
        changes_of(body, *CONTACT_FIELDS),
        call.now,
    )
    if query.fail_if_exists and not created:
        raise AlreadyExists(f"Subscriber '{subscriber.key}' exists already; leave out failIfExists to update it")
    return await _out(call, subscriber)


@operation(
    "POST",
    "/v1/subscribers/bulk",
    scope=Scope.SUBSCRIBERS_WRITE,
    status=201,
    body=SubscribersIn,
    items=lambda body: len(body.subscribers),
)
async def create_subscribers(call: Call, body: SubscribersIn) -> BulkSubscribersOut:
    """Create or change up to 500 subscribers: all of them, or none when one is not valid."""
    was_created: dict[str, bool] = {}
    # Sorted by key, so that two bulk calls lock rows in the same order and cannot deadlock.
    for item in sorted(body.subscribers, key=lambda one: one.subscriber_id):
        _, created = await store.upsert_subscriber(
            call.db, call.environment_id, SubscriberKey(item.subscriber_id), changes_of(item, *CONTACT_FIELDS), call.now
        )
        was_created[item.subscriber_id] = was_created.get(item.subscriber_id, False) or created
    keys = dict.fromkeys(item.subscriber_id for item in body.subscribers)
    return BulkSubscribersOut(
        created=[SubscriberKeyOut(subscriber_id=key) for key in keys if was_created[key]],
        updated=[SubscriberKeyOut(subscriber_id=key) for key in keys if not was_created[key]],
        failed=[],
    )


@operation("GET", "/v2/subscribers", scope=Scope.SUBSCRIBERS_READ, query=SubscriberQuery, transaction=Transaction.SCAN)
async def list_subscribers(call: Call, query: SubscriberQuery) -> CursorPage[SubscriberOut]:
    """Search subscribers by e-mail, phone, name and subscriberId; all given texts must match, case sensitively."""
    listing = await search_subscribers(call.db, call.environment_id, query)
    page = await list_cursor_page(call.db, listing, query, store.subscriber_of)
    found = await channels.list_channels(call.db, call.environment_id, [one.id for one in page.data])
    return page.with_data([SubscriberOut.of(one, found.get(one.id, ()), call.organization_id) for one in page.data])


@operation("GET", "/v2/subscribers/{subscriberId}", scope=Scope.SUBSCRIBERS_READ)
async def get_subscriber(call: Call, subscriber_key: SubscriberKey) -> SubscriberOut:
    """Retrieve a subscriber."""
    return await _out(call, await store.get_subscriber(call.db, call.environment_id, subscriber_key))


@operation("PATCH", "/v2/subscribers/{subscriberId}", scope=Scope.SUBSCRIBERS_WRITE, body=SubscriberPatch)
async def update_subscriber(call: Call, subscriber_key: SubscriberKey, body: SubscriberPatch) -> SubscriberOut:
    """Change the supplied fields and leave the others as they are."""
    found = await store.get_subscriber(call.db, call.environment_id, subscriber_key, for_update=True)
    return await _out(call, await store.update_subscriber(call.db, found, changes_of(body, *CONTACT_FIELDS), call.now))


@operation("PATCH", "/v1/subscribers/{subscriberId}/online-status", scope=Scope.SUBSCRIBERS_WRITE, body=OnlineStatusIn)
async def update_online_status(call: Call, subscriber_key: SubscriberKey, body: OnlineStatusIn) -> SubscriberV1Out:
    """Set whether a subscriber is online; going offline sets lastOnlineAt."""
    subscriber = await store.get_subscriber(call.db, call.environment_id, subscriber_key, for_update=True)
    wanted = {"is_online": body.is_online, "last_online_at": subscriber.last_online_at if body.is_online else call.now}
    return await _v1_out(call, await store.update_subscriber(call.db, subscriber, wanted, call.now))


@operation("PATCH", "/v1/subscribers/{subscriberId}/credentials", scope=Scope.SUBSCRIBERS_WRITE, body=CredentialsIn)
async def append_subscriber_credentials(
    call: Call, subscriber_key: SubscriberKey, body: CredentialsIn
) -> SubscriberV1Out:
    """Append credentials and device tokens to what the subscriber has at the provider."""
    return await _merge_credentials(call, subscriber_key, body, append_credentials)


@operation("PUT", "/v1/subscribers/{subscriberId}/credentials", scope=Scope.SUBSCRIBERS_WRITE, body=CredentialsIn)
async def replace_subscriber_credentials(
    call: Call, subscriber_key: SubscriberKey, body: CredentialsIn
) -> SubscriberV1Out:
    """Replace what the subscriber has at the provider."""
    return await _merge_credentials(call, subscriber_key, body, replace_credentials)


@operation(
    "DELETE", "/v1/subscribers/{subscriberId}/credentials/{providerId}", scope=Scope.SUBSCRIBERS_WRITE, status=204
)
async def delete_subscriber_credentials(call: Call, subscriber_key: SubscriberKey, provider_id: str) -> None:
    """Remove everything the subscriber has at the provider."""
    found = await store.get_subscriber(call.db, call.environment_id, subscriber_key, for_update=True)
    await channels.delete_credentials(call.db, found, provider_id, call.now)


async def _merge_credentials(
    call: Call, subscriber_key: SubscriberKey, body: CredentialsIn, merge: channels.Merge
) -> SubscriberV1Out:
    # The lock on the subscriber's row serializes concurrent merges, so that no token is lost.
    subscriber = await store.get_subscriber(call.db, call.environment_id, subscriber_key, for_update=True)
    await channels.merge_credentials(
        call.db,
        subscriber,
        channels.IntegrationReference(provider_id=body.provider_id, integration_identifier=body.integration_identifier),
        plain_value(body.credentials),
        merge=merge,
        now=call.now,
    )
    return await _v1_out(call, await store.get_subscriber(call.db, call.environment_id, subscriber_key))


async def _out(call: Call, subscriber: Subscriber) -> SubscriberOut:
    found = await channels.list_channels(call.db, call.environment_id, [subscriber.id])
    return SubscriberOut.of(subscriber, found.get(subscriber.id, ()), call.organization_id)


async def _v1_out(call: Call, subscriber: Subscriber) -> SubscriberV1Out:
    found = await channels.list_channels(call.db, call.environment_id, [subscriber.id])
    return SubscriberV1Out.of(subscriber, found.get(subscriber.id, ()), call.organization_id)
