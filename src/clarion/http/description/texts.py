"""Sentences about fields and parameters.

They are the literals under fields in the source, which say what a name means in its class; else what the name means in
every shape.
"""

import ast
import functools
import sys
import typing
from collections.abc import Iterator
from inspect import getsource
from typing import Any

from msgspec import inspect


def find_field_text(cls: Any, field: inspect.Field) -> str | None:
    """What a field of an object means: the literal under it, else what its name means everywhere."""
    return find_literal(cls, field.name) or FIELDS.get(field.encode_name)


def find_parameter_text(shape: Any, field: inspect.Field) -> str | None:
    """What a parameter of a query means."""
    return find_literal(shape, field.name) or QUERY_PARAMETERS.get(field.encode_name)


def find_literal(cls: Any, attribute: str) -> str | None:
    """The string literal under a field or a member of an enum, in the class or in a base class that has it."""
    bases = (typing.get_origin(cls) or cls).__mro__
    owners = (base for base in bases if attribute in {**vars(base), **vars(base).get("__annotations__", {})})
    texts = (_literals_of(base.__module__).get((base.__name__, attribute)) for base in owners)
    return next(filter(None, texts), None)


def as_sentences(*texts: str | None) -> str:
    """The texts, each as a sentence."""
    return " ".join(f"{text[0].upper()}{text[1:].removesuffix('.')}." for text in texts if text)


@functools.cache
def _literals_of(module: str) -> dict[tuple[str, str], str]:
    """By class and attribute. Python keeps these literals nowhere, so they are read from the source."""
    tree = ast.parse(getsource(sys.modules[module]))
    classes = (node for node in tree.body if isinstance(node, ast.ClassDef))
    return {(node.name, attribute): text for node in classes for attribute, text in _literals_in(node)}


def _literals_in(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for statement, following in zip(node.body, node.body[1:], strict=False):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
        value = following.value if isinstance(following, ast.Expr) else None
        if isinstance(target, ast.Name) and isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield target.id, " ".join(value.value.split())


PATH_PARAMETERS = {
    "resourceType": "What is translated: `workflow` or `layout`.",
    "resourceId": "The identifier, `_id` or slug of the workflow or layout.",
    "locale": "The language and region of the texts, such as `en_US`.",
    "actionType": "Which button of the message: `primary` or `secondary`.",
    "address": "The suppressed address as it is stored: an e-mail address, or a phone number with its country code.",
    "apiKeyId": "The `_id` of the API key, not its secret.",
    "channel": "The channel that the address is suppressed for.",
    "segmentKey": "The key of the segment.",
    "scheduleKey": "The identifier of the schedule.",
    "contextId": "Your own id of the context, such as `acme`.",
    "contextType": "The type of the context, such as `tenant`.",
    "connectionIdentifier": "The identifier of the channel connection.",
    "challenge": "Any text; the answer depends on it.",
    "deadLetterId": "The `_id` of the dead letter.",
    "deliveryId": "The `_id` of the delivery.",
    "endpointId": "The `_id` of the webhook endpoint.",
    "endpointIdentifier": "The identifier of the channel endpoint.",
    "environmentId": "The `_id` of the environment.",
    "externalSubscriberId": "The `subscriberId` of the person.",
    "integrationIdentifier": "Your own name of the integration.",
    "identifier": "The identifier of the subscription to the topic.",
    "integrationId": "The `_id` of the integration.",
    "invitationId": "The `_id` of the invitation.",
    "layoutId": "The identifier, `_id` or slug of the layout.",
    "memberId": "The `_id` of the member.",
    "messageId": "The `_id` of the message.",
    "notificationId": "The `_id` of the run, or in an inbox the `id` of the notification.",
    "providerId": "The provider whose credentials are meant, such as `fcm`.",
    "sessionId": "The `id` of the session.",
    "stepId": "The `stepId` or `_id` of the step.",
    "subscriberId": "Your own id of the subscriber.",
    "targetEnvironmentId": "The `_id` of the environment that is to change.",
    "linkToken": "The signed token of the link, as it was sent.",
    "topicKey": "The key of the topic.",
    "transactionId": "The `transactionId` of the trigger.",
    "variableKey": "The key of the variable, which texts use as `env.<key>`.",
    "versionId": "The `_id` or the number of the version.",
    "workflowId": "The identifier, `_id` or slug of the workflow.",
}

QUERY_PARAMETERS = {
    "archived": "`true`: only notifications that are archived; `false`: only those that are not.",
    "channel": "Only this channel.",
    "createdGte": "Only notifications created at this moment or later, in milliseconds since 1970.",
    "createdLte": "Only notifications created at this moment or earlier, in milliseconds since 1970.",
    "criticality": "Which workflows: those that people may switch off, the critical ones, or all.",
    "data": "Only notifications whose `data` has these members; a JSON object.",
    "failIfExists": "Refuse with 409 if it exists already; otherwise the existing one is changed.",
    "includeCounts": "Count the members of each topic, up to 1000 of each.",
    "limit": "How many items to return at most.",
    "offset": "How many items to skip.",
    "orderDirection": "`ASC` for the smallest or oldest first, `DESC` for the largest or newest first.",
    "page": "The number of the page; the first is 0.",
    "providerId": "Only what this provider sent, or any of several.",
    "read": "`true`: only messages that are read; `false`: only those that are not.",
    "requestId": "Only what was done by the request with this `X-Request-Id`.",
    "seen": "`true`: only messages that are seen; `false`: only those that are not.",
    "severity": "Only workflows of this severity, or of any of several.",
    "snoozed": "`true`: only notifications that are snoozed; `false`: only those that are not.",
    "status": "Only those with this status, or with any of several.",
    "stepType": "Only runs of workflows with a step of this type, or of any of several.",
    "subscriberId": "Only those of the subscriber with this `subscriberId`, or of any of several.",
    "tags": "Only workflows with one of these tags.",
    "topicKey": "Only those that were triggered for the topic with this key.",
    "transactionId": "Only those of the trigger with this `transactionId`, or of any of several.",
    "workflowId": "Only those of this workflow: its identifier, `_id` or slug.",
}

FIELDS = {
    # Ids and times
    "_id": "The id that Clarion gave it.",
    "_environmentId": "The `_id` of the environment that it belongs to.",
    "_integrationId": "The `_id` of the integration.",
    "_jobId": "The `_id` of the job, which is one step of a run.",
    "_messageId": "The `_id` of the message.",
    "_notificationId": "The `_id` of the run.",
    "_organizationId": "The `_id` of the organization that it belongs to.",
    "_subscriberId": "The `_id` of the subscriber.",
    "_templateId": "The `_id` of the workflow.",
    "_topicId": "The `_id` of the topic.",
    "__v": "How often it was changed.",
    "createdAt": "When it was created.",
    "updatedAt": "When it was last changed.",
    "expiresAt": "When it stops working.",
    "requestId": "The `X-Request-Id` of the request that did it.",
    # People
    "subscriberId": "Your own id of the subscriber.",
    "subscriberIds": "Your own ids of subscribers.",
    "externalSubscriberId": "Your own id of the subscriber.",
    "firstName": "The first name of the person; templates see it as `subscriber.firstName`.",
    "lastName": "The last name of the person; templates see it as `subscriber.lastName`.",
    "email": "The e-mail address of the person.",
    "phone": "The phone number of the person, with its country code.",
    "avatar": "The URL of a picture of the person.",
    "locale": "The language and region of the person.",
    "timezone": "The time zone of the person, in which schedules and daily digests are meant.",
    "isOnline": "Whether the person is online now, as far as was reported.",
    "lastOnlineAt": "When the person was last online.",
    "subscriber": "The person that it is for.",
    "topicKey": "The key of the topic.",
    # Workflows and triggers
    "workflowId": "The identifier of the workflow.",
    "stepId": "The identifier of the step within its workflow.",
    "stepType": "The type of the step.",
    "steps": "The steps of the workflow, in their order.",
    "slug": "A readable name that ends with the id; paths accept it in the place of the id.",
    "tags": "The tags of the workflow.",
    "severity": "How important messages of the workflow are.",
    "critical": "Whether people cannot switch the workflow off.",
    "origin": "Where workflows are edited: the setting CLARION_BUILTIN_NAME, and `-cloud`.",
    "payloadSchema": "The JSON Schema that payloads of the workflow are described by.",
    "validatePayload": "Whether triggers whose payload violates `payloadSchema` are refused.",
    "controlValues": "The content and the settings of the step; `GET /v1/workflows/steps/schemas` has their names.",
    "shouldStopOnFail": "Whether the run ends if the step fails.",
    "readOnly": "Whether people cannot change the preference, which makes the workflow critical.",
    "transactionId": "The id of the trigger.",
    "payload": "The variables of the trigger, which templates see as `payload`.",
    "overrides": "Changes of what is sent, by channel, provider or step; see the guides of the channels.",
    "context": 'What the messages belong to, such as `{"tenant": "acme"}`: at most five types, each with an id.',
    "actor": "The person who caused it, whom templates see as `actor`.",
    "contextKeys": "The context that notifications belong to, as `type:id` texts such as `tenant:acme`.",
    # Channels, providers and messages
    "channel": "The channel that messages go through.",
    "providerId": "The provider, such as `sendgrid` or `fcm`.",
    "integrationIdentifier": "The identifier of the integration.",
    "integration": "The identifier of the integration.",
    "deviceTokens": "The tokens of the person's devices.",
    "seen": "Whether the person has seen the message.",
    "read": "Whether the person has read the message.",
    "archived": "Whether the person has archived the message.",
    "archivedAt": "When the message was archived.",
    "snoozedUntil": "When a snoozed message appears again.",
    "deliveredAt": "When the message appeared in the inbox: at first, and whenever it returned from a snooze.",
    "errorId": "The kind of the error, such as `suppressed`.",
    "errorText": "What went wrong, in words.",
    "detail": "What happened, in words.",
    "milliseconds": "How long it took, in milliseconds.",
    "success": "Whether it worked.",
    "executionDetails": "What happened to the job, the oldest first.",
    "weight": (
        "Share of the messages of its channel. While every active integration of the channel has the weight 100, the "
        "primary sends all messages and the others are its failover. As soon as one has another weight, each message "
        "goes to one of them in proportion to their weights; give two of them 50 each to share by halves."
    ),
    "rateLimit": (
        "The most messages per second that all workers together send to the provider. Messages beyond it wait, or go "
        "to another integration of the channel if the wait would be longer than ten seconds. Null is no limit."
    ),
    "failures": "How many sends failed in a row.",
    "circuit": "The circuit breaker of the integration.",
    "counts": "Calls of the provider in the time that was asked for.",
    # Lists
    "data": "The items that were found, in their order.",
    "next": "The cursor of the next page, for `after`; null on the last one.",
    "hasMore": "Whether there are more items than these.",
    "pageSize": "How many items this page has.",
    "page": "The number of this page; the first is 0.",
    "totalCount": "How many items there are in all.",
    "total": "How many there are in all.",
    "count": "How many messages there are.",
    "after": "When the time begins that was counted.",
    "before": "When the time ends that was counted.",
    "acknowledged": "Always true; what is refused is an error.",
    # Preferences
    "enabled": "Whether messages of the workflow are sent at all; `channels` says through which.",
    "channels": "Whether messages are sent, for each channel.",
    "schedule": "The hours in which the person wants messages; absent: at any time.",
    "workflow": "The workflow that it is about.",
    "condition": "JSON Logic over the variables of a trigger: the workflow reaches the person if it is true.",
    # Environments, members and promotion
    "role": "What the member may do in environments that `environmentRoles` does not name.",
    "environmentRoles": "Roles in single environments, by the `_id` of the environment; null is no access there.",
    "scopes": "What the key allows.",
    "color": "The color that people see the environment in.",
    "token": "The part of the link behind `#`, which works once.",
    "resourceType": "What kind of thing it is.",
    "resourceId": "The identifier of the workflow or integration.",
    "resourceName": "The name of the workflow or integration.",
    "previousIndex": "The place of the step before, from 0; absent if it was not there.",
    "newIndex": "The place of the step afterwards, from 0; absent if it is not there.",
    "invitedBy": "The member who invited; absent if an API key or the command line did.",
    "hasPassword": "Whether the member can sign in with a password; false for members of another provider.",
}
