"""Examples for the API description: of responses, generated from types and field names, and written ones of requests.

The requests fit together: whoever sends them in order sees 2xx. `ID`, `TOKEN` and `APPLICATION` stand for what a server
makes up, and `SOON` for a moment in the next 90 days.
"""

from typing import Any

from msgspec import inspect

from clarion.http.wire import ALTERNATIVES, CheckedText

_NAMED: dict[str, Any] = {
    "subscriberId": "ada",
    "externalSubscriberId": "ada",
    "subscriberIds": ["ada"],
    "firstName": "Ada",
    "lastName": "Lovelace",
    "email": "ada@example.com",
    "phone": "+441632960000",
    "avatar": "https://example.com/ada.png",
    "locale": "en-GB",
    "timezone": "Europe/London",
    "data": {"plan": "pro"},
    "payload": {"order": 42},
    "providerId": "fcm",
    "integrationIdentifier": "fcm-main",
    "identifier": "main",
    "deviceTokens": ["a-device-token"],
    "webhookUrl": "https://hooks.example.com/abc",
    "topicKey": "release-news",
    "name": "Example",
    "key": "release-news",
    "transactionId": "order-42",
    "to": {"subscriberId": "ada"},
    "actor": {"subscriberId": "ada"},
    "origin": "svc-cloud",
    "next": None,
    "previous": None,
    "totalCount": 1,
    "totalCountCapped": False,
    "hasMore": False,
    "pageSize": 1,
    "page": 0,
    "deleted": False,
    "__v": 0,
}
_MAX_DEPTH = 6


def example_of(kind: Any) -> Any:
    """A realistic value of the type."""
    return _example(inspect.type_info(kind), "", 0)


def _example(info: inspect.Type, name: str, depth: int) -> Any:
    if isinstance(info, inspect.Metadata):
        alternatives = (info.extra or {}).get(ALTERNATIVES)
        return _example(inspect.type_info(alternatives[0]) if alternatives else info.type, name, depth)
    if isinstance(info, inspect.UnionType):
        return _example(_choose_member(info), name, depth)
    if isinstance(info, inspect.StructType):
        return {
            field.encode_name: _field_example(field, depth)
            for field in info.fields
            if depth < _MAX_DEPTH or field.required
        }
    if isinstance(info, inspect.ListType | inspect.VarTupleType):
        return [_example(info.item_type, name.removesuffix("s"), depth + 1)]
    return _plain(info, name)


def _field_example(field: inspect.Field, depth: int) -> Any:
    name = field.encode_name
    info = field.type
    if name in _NAMED and not _contains_struct(info) and _has_kind_of(_NAMED[name], info):
        return _NAMED[name]
    return _example(info, name, depth + 1)


def _plain(info: inspect.Type, name: str) -> Any:
    if isinstance(info, inspect.EnumType):
        return next(iter(info.cls)).value
    if isinstance(info, inspect.LiteralType):
        return info.values[0]
    if isinstance(info, inspect.CustomType) and issubclass(info.cls, CheckedText):
        return info.cls.EXAMPLE
    if isinstance(info, inspect.IntType):
        return info.ge or 1
    if isinstance(info, inspect.StrType):
        return _text(name)
    by_kind = {inspect.BoolType: True, inspect.FloatType: 1.0, inspect.DictType: {}, inspect.AnyType: {}}
    return by_kind.get(type(info))


def _text(name: str) -> str:
    if name.startswith("_"):
        return ID
    if name.endswith(("At", "Date", "timestamp", "Until")):
        return "2026-01-31T09:30:00.000Z"
    return name or "text"


def _choose_member(info: inspect.UnionType) -> inspect.Type:
    """The most instructive member of a union: an object or array before a scalar, anything before null."""
    present = [one for one in info.types if not isinstance(one, inspect.NoneType)]
    structured = [one for one in present if isinstance(one, inspect.StructType | inspect.ListType)]
    return (structured or present)[0]


def _has_kind_of(value: Any, info: inspect.Type) -> bool:
    """Whether both are flags or neither is, and the value is no object where a text or a list is needed."""
    kind = info.types[0] if isinstance(info, inspect.UnionType) else info
    is_other = isinstance(kind, inspect.StrType | inspect.ListType)
    return isinstance(value, bool) is isinstance(kind, inspect.BoolType) and not (is_other and isinstance(value, dict))


def _contains_struct(info: inspect.Type) -> bool:
    if isinstance(info, inspect.UnionType):
        return any(map(_contains_struct, info.types))
    if isinstance(info, inspect.ListType):
        return _contains_struct(info.item_type)
    return isinstance(info, inspect.StructType)


ID = "019a8a5e-7c00-7000-8000-000000000001"
TOKEN = "the-token-of-the-link"  # noqa: S105 - no token
APPLICATION = "your-application-identifier"
SOON = "2026-01-31T09:30:00.000Z"
PASSWORD = "correct horse battery"  # noqa: S105 - of nobody

_EMAIL_STEP = {
    "name": "Mail",
    "stepId": "mail",
    "type": "email",
    "controlValues": {
        "subject": "Order {{payload.order}}",
        "body": "<p>Thank you, {{subscriber.firstName}}: order {{payload.order}} is on its way.</p>",
    },
}
_INBOX_STEP = {
    "name": "Inbox",
    "stepId": "inbox",
    "type": "in_app",
    "controlValues": {
        "subject": "Order {{payload.order}}",
        "body": "Your order is on its way.",
        "primaryAction": {"label": "Track it", "redirect": {"url": "/orders/{{payload.order}}"}},
    },
}
_WORKFLOW = {
    "name": "Order shipped",
    "description": "Sent when a parcel leaves the warehouse",
    "tags": ["orders"],
    "active": True,
    "severity": "medium",
    "preferences": {"workflow": {"all": {"enabled": True}, "channels": {"sms": {"enabled": False}}}},
    "payloadSchema": {"type": "object", "properties": {"order": {"type": "integer"}}, "required": ["order"]},
    "validatePayload": True,
    "steps": [_INBOX_STEP, _EMAIL_STEP],
}
_LAYOUT = {
    "email": {
        "body": "<html><body><h1>The shop</h1>{{content}}<p>For {{subscriber.firstName}}</p></body></html>",
        "editorType": "html",
    }
}
_BROADCAST = {"name": "order-shipped", "payload": {"order": 43}, "transactionId": "everyone-43"}
_TRIGGER = {
    "name": "order-shipped",
    "to": {"subscriberId": "ada", "email": "ada@example.com"},
    "payload": {"order": 42},
    "transactionId": "order-42",
}
_DAY = {"isEnabled": True, "hours": [{"start": "09:00 AM", "end": "05:00 PM"}]}
_SCHEDULE = {"isEnabled": True, "weeklySchedule": {"monday": _DAY, "friday": _DAY}}
_SUPPRESSION = {"channel": "email", "address": "grace@example.com", "detail": "Asked by phone"}
_ENVIRONMENT = {
    "name": "Staging",
    "color": "#2f6fed",
    "timezone": "Europe/London",
    "limits": {"trigger": {"perSecond": 500, "burst": 2000}},
    "retentionDays": {"runs": 30},
}
_RULES = [{"filter": {"tags": ["orders"]}, "enabled": True, "condition": {">": [{"var": "payload.order"}, 40]}}]
_SELECTED = [{"resourceType": "workflow", "resourceId": "order-shipped"}]
_MANY = {"tags": ["orders"], "data": {"plan": "pro"}}

_CONNECTION = {"workspace": {"id": "T024BE7LD", "name": "Acme"}, "auth": {"accessToken": "xoxb-the-token-of-the-bot"}}

REQUESTS: dict[str, Any] = {
    "ChannelConnectionIn": {"integrationIdentifier": "slack-main", "subscriberId": "ada", **_CONNECTION},
    "ChannelConnectionPatch": _CONNECTION,
    "ChannelEndpointIn": {
        "subscriberId": "ada",
        "integrationIdentifier": "slack-main",
        "type": "slack_channel",
        "endpoint": {"channelId": "C024BE91L"},
    },
    "ConnectUrlIn": {"integrationIdentifier": "slack-main", "subscriberId": "ada"},
    "LinkUrlIn": {"integrationIdentifier": "slack-main", "subscriberId": "ada"},
    "ChatUrlIn": {"integrationIdentifier": "slack-main", "subscriberId": "ada", "mode": "connect"},
    "ChatLinkIn": {"integrationIdentifier": "slack-main", "subscriberId": "ada"},
    "MobileLinkIn": {"subscriberId": "ada"},
    "OwnChatLinkIn": {"integrationIdentifier": "slack-main"},
    "OwnConnectUrlIn": {"integrationIdentifier": "slack-main"},
    "OwnLinkUrlIn": {"integrationIdentifier": "slack-main"},
    "ChannelEndpointPatch": {"endpoint": {"channelId": "C024BE92M"}},
    "CredentialsIn": {"providerId": "fcm", "credentials": {"deviceTokens": ["a-device-token"]}},
    "RunAnswerIn": {"stepId": "approval", "choice": "approve", "by": "ada"},
    "EmitIn": {"name": "order.paid", "to": "ada", "data": {"order": 42}, "id": "payment-1001"},
    "SegmentIn": {
        "key": "gold-members",
        "name": "Gold members",
        "condition": {"==": [{"var": "subscriber.data.plan"}, "gold"]},
    },
    "ScheduleIn": {
        "identifier": "weekly-report",
        "name": "Weekly report",
        "workflowId": "order-shipped",
        "payload": {"order": 42},
        "to": {"type": "Topic", "topicKey": "release-news"},
        "cron": "0 9 * * 1",
        "timezone": "subscriber",
        "fallbackTimezone": "Europe/Berlin",
    },
    "SchedulePatch": {"cron": "30 8 * * 1-5", "catchUp": "none"},
    "SegmentPatch": {"description": "Everyone with the gold plan"},
    "SegmentPreviewIn": {"condition": {"==": [{"var": "subscriber.locale"}, "de"]}},
    "TopicIn": {"key": "release-news", "name": "Release news", "isOpen": True},
    "TopicPatch": {"name": "Release news"},
    "SubscriptionsIn": {"subscriberIds": ["ada"], "name": "Release news"},
    "MembersIn": {"subscriberIds": ["ada"]},
    # Workflows and triggers
    "WorkflowIn": {"workflowId": "order-shipped", **_WORKFLOW},
    "WorkflowPut": _WORKFLOW,
    "WorkflowPatch": {"name": "Order shipped", "tags": ["orders", "parcels"], "active": True},
    "MoveIn": {"from": 1, "to": 2, "dryRun": True},
    "ImpactIn": {"steps": _WORKFLOW["steps"]},
    "DuplicateIn": {"name": "Order returned", "workflowId": "order-returned", "tags": ["orders"]},
    "PreviewIn": {"controlValues": _EMAIL_STEP["controlValues"], "previewPayload": {"payload": {"order": 42}}},
    "UnsavedPreviewIn": {
        "type": "email",
        "controlValues": _EMAIL_STEP["controlValues"],
        "previewPayload": {"payload": {"order": 42}},
    },
    "TestRequestIn": {
        "controlValues": {"method": "GET", "url": "https://example.com/orders/{{payload.order}}"},
        "previewPayload": {"payload": {"order": 7}},
    },
    "TestEmailIn": {
        "controlValues": _EMAIL_STEP["controlValues"],
        "previewPayload": {"payload": {"order": 42}},
        "to": "ada@example.com",
    },
    "TranslationIn": {
        "resourceType": "workflow",
        "resourceId": "order-shipped",
        "locale": "de_DE",
        "content": {
            "subject": "Bestellung {{payload.order}}",
            "items": {"one": "ein Paket", "other": "{{count}} Pakete"},
        },
    },
    "MasterIn": {
        "locale": "de_DE",
        "masterJson": {"workflows": {"order-shipped": {"subject": "Bestellung {{payload.order}}"}}, "layouts": {}},
    },
    "EnvironmentTexts": {
        "locales": {
            "de_DE": {"workflows": {"order-shipped": {"subject": "Bestellung {{payload.order}}"}}, "layouts": {}}
        }
    },
    "OrganizationSettingsPatch": {"defaultLocale": "en_US", "targetLocales": ["de_DE", "fr_FR"]},
    "LayoutIn": {"layoutId": "newsletter", "name": "Newsletter"},
    "LayoutPut": {"name": "Newsletter", "controlValues": _LAYOUT},
    "DuplicateLayoutIn": {"name": "Winter newsletter", "layoutId": "winter-newsletter"},
    "LayoutPreviewIn": {"controlValues": _LAYOUT, "previewPayload": {"subscriber": {"firstName": "Ada"}}},
    "LayoutTestEmailIn": {"controlValues": _LAYOUT, "to": "ada@example.com"},
    "TriggerIn": _TRIGGER,
    "BulkTriggerIn": {"events": [_TRIGGER | {"transactionId": "order-44", "payload": {"order": 44}}]},
    "BroadcastIn": _BROADCAST,
    "SimulationIn": _TRIGGER | {"preferences": {"channels": {"email": False}, "schedule": _SCHEDULE}, "limit": 10},
    "FlushIn": {"workflowId": "order-shipped"},
    # Preferences
    "PreferencesPatch": {"workflowId": "order-shipped", "channels": {"email": False}},
    "BulkPreferencesPatch": {"preferences": [{"workflowId": "order-shipped", "channels": {"email": True}}]},
    "InboxPreferencePatch": {"email": True, "sms": False},
    "InboxBulkPreferencesPatch": {"preferences": [{"workflowId": "order-shipped", "email": True}]},
    "SubscriptionPreferencePatch": {"enabled": True, "condition": {">": [{"var": "payload.order"}, 40]}},
    # Integrations
    "IntegrationIn": {
        "name": "Mail",
        "identifier": "sendgrid-main",
        "providerId": "sendgrid",
        "channel": "email",
        "credentials": {"apiKey": "SG.an-api-key", "from": "hello@example.com", "senderName": "Example"},
        "active": True,
    },
    "IntegrationPatch": {"name": "Mail of orders", "active": True, "rateLimit": 50},
    "OrderIn": {"channel": "email", "integrationIds": [ID]},
    "TestMessageIn": {"to": {"email": "ada@example.com"}, "subject": "A test", "content": "Can you read this?"},
    # Messages
    "MarkIn": {"messageId": [ID], "markAs": "read"},
    "MessagePatch": {
        "subject": "Order 42 is on its way again",
        "body": "The delay is over.",
        "primaryAction": {"label": "Track it", "redirect": {"url": "/orders/42"}},
    },
    "MessageActionIn": {"status": "done", "payload": {"choice": "accept"}},
    "MarkAllIn": {"markAs": "read"},
    "SnoozeIn": {"snoozeUntil": SOON},
    "SeenIn": {"notificationIds": [ID]},
    "ManyIn": _MANY,
    "SuppressionIn": _SUPPRESSION,
    "SuppressionsIn": {"suppressions": [_SUPPRESSION]},
    "AddressesIn": {"suppressions": [{"channel": "email", "address": "grace@example.com"}]},
    "DeadLetterSelection": {"channel": "email", "workflowId": "order-shipped", "limit": 100},
    # Webhooks, environments and members
    "EndpointPatch": {"description": "Billing", "eventTypes": ["message.sent", "message.failed"]},
    "ReplayIn": {"since": "2026-01-31T09:30:00.000Z", "status": "failed"},
    "EnvironmentIn": {"name": "Staging", "type": "dev", "color": "#2f6fed"},
    "EnvironmentPatch": _ENVIRONMENT,
    "VariableIn": {"key": "SUPPORT_URL", "values": [{"_environmentId": ID, "value": "https://help.example.com"}]},
    "VariablePatch": {"values": [{"_environmentId": ID, "value": "https://example.com/help"}]},
    "ApiKeyIn": {
        "name": "Shop",
        "scopes": ["events:write", "subscribers:write"],
        "expiresAt": "2099-12-31T00:00:00.000Z",
    },
    "ApiKeyPatch": {"name": "Shop", "expiresAt": "2099-12-31T00:00:00.000Z"},
    "DiffIn": {"resources": _SELECTED},
    "SyncIn": {"targetEnvironmentId": ID},
    "PublishIn": {"resources": _SELECTED, "dryRun": True},
    "SetUpIn": {"token": TOKEN, "email": "ada@example.com", "name": "Ada Lovelace", "password": PASSWORD},
    "SignInIn": {"email": "ada@example.com", "password": PASSWORD},
    "OwnMemberPatch": {"name": "Ada King"},
    "PasswordChangeIn": {"currentPassword": PASSWORD, "newPassword": "staple in the wood"},
    "InvitationIn": {"email": "grace@example.com", "role": "author", "environmentRoles": {ID: "viewer"}},
    "InvitationTokenIn": {"token": TOKEN},
    "AcceptanceIn": {"token": TOKEN, "name": "Grace Hopper", "password": PASSWORD},
    "MemberPatch": {"role": "admin"},
    "ResetRequestIn": {"email": "grace@example.com"},
    "ResetIn": {"token": TOKEN, "password": PASSWORD},
    # The inbox
    "SessionIn": {
        "applicationIdentifier": APPLICATION,
        "subscriber": {"subscriberId": "ada", "firstName": "Ada", "email": "ada@example.com"},
        "defaultSchedule": _SCHEDULE,
    },
    "OwnSubscriptionIn": {"identifier": "weekly", "name": "Weekly", "preferences": _RULES},
    "SubscriptionPatch": {"name": "Weekly", "preferences": _RULES},
}
"""Shapes that are not here get an example from the names and types of their fields."""
