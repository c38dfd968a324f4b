"""Email, SMS, chat, push and tools: the message is rendered here and sent by the sender."""

from collections.abc import Iterator
from typing import Any

from clarion.content.layouts.model import PinnedLayout
from clarion.engine.layouts import choose_layout
from clarion.engine.records import NewMessage, make_unsubscribe_url
from clarion.engine.steps.decision import Failed, Sending, StepContext, StepOutcome
from clarion.engine.texts import make_layout_variables
from clarion.ids import EndpointId, MessageId, new_id
from clarion.jobs.details import DetailCode
from clarion.providers.definition.overrides import provider_overrides
from clarion.providers.definition.provider import PushProvider
from clarion.providers.email.addresses import find_address_problem
from clarion.providers.registry import find_provider
from clarion.replies.model import make_reply_address
from clarion.subscribers.addresses.targets import EndpointPlace
from clarion.subscribers.model import ChannelEntry
from clarion.templates import render_text, render_value
from clarion.tracking.model import Tracking, decide_tracking
from clarion.vocabulary import Channel, MessageStatus
from clarion.workflows.content import ContentProblem, render_body, render_options, render_subject
from clarion.workflows.controls import EmailControls, PushControls, TextControls

_BY_PHONE = "whatsapp-business"
_OPEN_CHATS = frozenset({"chat-webhook", _BY_PHONE})
"""Chats that need no credentials of the subscriber."""
_FILE = frozenset({"file", "fileHash"})
_ATTACHMENT = (*sorted(_FILE), "fileLength", "name", "mime", "cid")
_MISSING = {
    Channel.EMAIL: DetailCode.EMAIL_MISSING,
    Channel.SMS: DetailCode.PHONE_MISSING,
    Channel.CHAT: DetailCode.CHAT_MISSING,
    Channel.PUSH: DetailCode.TOKENS_MISSING,
    Channel.TOOL: DetailCode.TOOL_MISSING,
}


async def decide_email(context: StepContext) -> StepOutcome:
    controls = context.read_controls(EmailControls)
    name = choose_layout(context.run, context.step, controls)
    layout = None if name is None else context.run.layouts.get(name)
    if name is not None and not _note_layout(context, name, layout):
        return Failed()
    source = None if layout is None else layout.version.source
    subject = render_subject(controls, context.variables)
    body = render_body(controls, context.variables, source, make_layout_variables(context, layout), title=subject)
    message = _message(context, Channel.EMAIL, body)
    message.subject = subject
    message.email_options = render_options(controls, context.variables)
    if "attachments" in context.run.trigger.payload:
        message.email_options = (message.email_options or {}) | {"attachments": _list_attachments(context)}
    _add_reply_address(context, message)
    message.unsubscribe_url = make_unsubscribe_url(context.run, Channel.EMAIL)
    message.email = _wanted_recipient(context) or context.run.subscriber.email
    message.tracking = _decide_tracking(context)
    return _send(context, Channel.EMAIL, message, is_addressed=bool(message.email))


def _add_reply_address(context: StepContext, message: NewMessage) -> None:
    """Let replies come in, unless the step says where they go; what a trigger says wins in any case."""
    content, options = context.run.content, message.email_options or {}
    if "replyTo" in options or not _wants_replies(context):
        return
    if content.replies.domain is None or content.link_secret is None:
        context.note(DetailCode.REPLY_DOMAIN_MISSING, raw={"wayOut": "set `replies.domain` of the environment"})
        return
    address = make_reply_address(content.link_secret, message.id, content.replies.domain)
    message.email_options = options | {"replyTo": [address]}


def _wants_replies(context: StepContext) -> bool:
    """A step that posts replies wants them; else the workflow decides, and where it says nothing the environment."""
    callback, own = context.step.reply_callback, context.run.workflow.takes_replies
    if callback is not None and callback.active:
        return True
    return context.run.content.replies.enabled if own is None else own


def _decide_tracking(context: StepContext) -> Tracking | None:
    run = context.run
    return decide_tracking(
        run.content.tracking, run.workflow.tracking, run.subscriber.data, is_critical=run.workflow.is_critical
    )


def _note_layout(context: StepContext, name: str, layout: PinnedLayout | None) -> bool:
    """Note which layout is used; returns False if it does not exist."""
    if layout is None:
        raw = {"layoutId": name, "error": f"Layout '{name}' did not exist in this environment"}
        context.note(DetailCode.LAYOUT_MISSING, raw=raw)
        return False
    shown = {"name": layout.name, "layoutId": layout.key, "version": layout.version.number}
    context.note(DetailCode.LAYOUT_SELECTED, raw=shown)
    return True


def _list_attachments(context: StepContext) -> list[dict[str, Any]]:
    """The files of the payload; what has no file cannot be attached, and is named."""
    given = context.run.trigger.payload["attachments"]
    entries = dict(enumerate(given)) if isinstance(given, list) else {}
    files = {index: one for index, one in entries.items() if isinstance(one, dict) and not _FILE.isdisjoint(one)}
    if len(files) < len(entries) or not isinstance(given, list):
        paths = [f"payload.attachments.{index}" for index in entries if index not in files]
        raw = {
            "leftOut": paths or ["payload.attachments"],
            "wayOut": "give each a file: base64, a list of bytes or a Buffer",
        }
        context.note(DetailCode.ATTACHMENTS_LEFT_OUT, raw=raw)
    return [
        {name: file[name] for name in _ATTACHMENT if name in file}
        for file in files.values()
        if Channel.EMAIL in (file.get("channels") or (Channel.EMAIL,))
    ]


def _wanted_recipient(context: StepContext) -> str | None:
    """The address that the trigger names instead of the person's own."""
    overrides = (context.run.trigger.overrides or {}).get("email")
    wanted = overrides.get("toRecipient") if isinstance(overrides, dict) else None
    if not wanted:
        return None
    problem = find_address_problem(wanted) if isinstance(wanted, str) else "must be an e-mail address"
    if problem is not None:
        raise ContentProblem("overrides.email.toRecipient", problem)
    return str(wanted)


async def decide_sms(context: StepContext) -> StepOutcome:
    controls = context.read_controls(TextControls)
    message = _message(context, Channel.SMS, render_text(controls.body or "", context.variables))
    message.phone = _wanted_phone(context) or context.run.subscriber.phone
    return _send(context, Channel.SMS, message, is_addressed=bool(message.phone))


def _wanted_phone(context: StepContext) -> str | None:
    """The number that the trigger names instead of the person's own; suppressions are looked up for it."""
    overrides = (context.run.trigger.overrides or {}).get("sms")
    wanted = overrides.get("to") if isinstance(overrides, dict) else None
    if not wanted:
        return None
    if not isinstance(wanted, str):
        raise ContentProblem("overrides.sms.to", "must be one phone number such as +442079460000")
    return wanted


async def decide_chat(context: StepContext) -> StepOutcome:
    controls = context.read_controls(TextControls)
    text = render_text(controls.body or "", context.variables)
    messages = [
        _chat(context, text, one.provider_id, endpoint_id=one.id) for one in _list_endpoints(context, Channel.CHAT)
    ]
    messages += [
        _chat(context, text, entry.provider_id, webhook_url=entry.credentials.get("webhookUrl"))
        for entry in _entries(context, Channel.CHAT)
    ]
    taken = {str(one.provider_id) for one in messages}
    messages += [_chat(context, text, provider_id) for provider_id in _list_open_chats(context, taken)]
    return _send_all(context, Channel.CHAT, messages)


def _chat(
    context: StepContext,
    text: str,
    provider_id: str,
    *,
    webhook_url: str | None = None,
    endpoint_id: EndpointId | None = None,
) -> NewMessage:
    message = _message(context, Channel.CHAT, text)
    message.provider_id, message.webhook_url, message.endpoint_id = provider_id, webhook_url, endpoint_id
    message.email_options = _render_overrides(context, provider_id)
    # That of an endpoint is read when the message is sent.
    message.phone = context.run.subscriber.phone if endpoint_id is None else None
    return message


def _list_open_chats(context: StepContext, taken: set[str]) -> list[str]:
    """The chats that reach the person without credentials: those of the account, and those by phone."""
    found = sorted((_OPEN_CHATS & context.open_providers) - taken)
    return [one for one in found if one != _BY_PHONE or context.run.subscriber.phone]


async def decide_tool(context: StepContext) -> StepOutcome:
    controls = context.read_controls(TextControls)
    text = render_text(controls.body or "", context.variables)
    messages = []
    for place in _list_endpoints(context, Channel.TOOL):
        message = _message(context, Channel.TOOL, text)
        message.provider_id, message.endpoint_id = place.provider_id, place.id
        message.email_options = _render_overrides(context, place.provider_id)
        messages.append(message)
    return _send_all(context, Channel.TOOL, messages)


def _list_endpoints(context: StepContext, channel: Channel) -> Iterator[EndpointPlace]:
    return (one for one in context.run.endpoints if one.channel is channel)


def _render_overrides(context: StepContext, provider_id: str) -> dict[str, Any] | None:
    """What the step wants of the provider; overrides of the trigger win over it."""
    wanted = (context.step.provider_overrides or {}).get(provider_id)
    return render_value(wanted, context.variables) if wanted else None


async def decide_push(context: StepContext) -> StepOutcome:
    controls = context.read_controls(PushControls)
    title = render_text(controls.subject or "", context.variables)
    text = render_text(controls.body or "", context.variables)
    data = render_value(controls.data, context.variables) if controls.data else None
    messages = []
    for provider_id, tokens in _list_push_targets(context):
        message = _message(context, Channel.PUSH, text)
        message.title, message.data = title, data
        message.provider_id, message.device_tokens = provider_id, tokens
        messages.append(message)
    return _send_all(context, Channel.PUSH, messages)


def _list_push_targets(context: StepContext) -> Iterator[tuple[str, list[str]]]:
    """Yield the provider and the device tokens of each message; where a trigger addresses others, there are none."""
    own: dict[str, list[ChannelEntry]] = {}
    for entry in _entries(context, Channel.PUSH):
        own.setdefault(entry.provider_id, []).append(entry)
    overrides = context.run.trigger.overrides
    if overrides:
        # What a trigger wants of a provider also reaches people who have no credentials for it.
        own |= {one: [] for one in sorted(context.open_providers - own.keys()) if _is_push(one)}
    for provider_id, entries in own.items():
        wanted = _push_overrides(context, provider_id, has_entry=bool(entries)) if overrides else {}
        yield from ((provider_id, tokens) for tokens in _group_tokens(provider_id, entries, wanted))


def _push_overrides(context: StepContext, provider_id: str, *, has_entry: bool) -> dict[str, object]:
    """What the trigger wants of the provider; what it wants of the channel is for providers that the person has."""
    overrides = context.run.trigger.overrides or {}
    if not has_entry:
        overrides = {name: value for name, value in overrides.items() if name != Channel.PUSH}
    return provider_overrides(overrides, Channel.PUSH, provider_id, context.step.step_id)


def _group_tokens(provider_id: str, entries: list[ChannelEntry], wanted: dict[str, object]) -> list[list[str]]:
    """The device tokens of each message: one where the provider is called for each token, else all of an entry."""
    provider = find_provider(provider_id)
    if not isinstance(provider, PushProvider):
        return []
    if provider.has_target(wanted):
        return [[]]
    instead = wanted.get("deviceTokens") or wanted.get("tokens")
    given = [instead] if isinstance(instead, list) else [one.credentials.get("deviceTokens") or [] for one in entries]
    groups = [list(dict.fromkeys(t.strip() for t in one if isinstance(t, str) and t.strip())) for one in given]
    if provider.is_called_per_token:
        return [[token] for tokens in groups for token in tokens]
    return [tokens for tokens in groups if tokens]


def _is_push(provider_id: str) -> bool:
    return isinstance(find_provider(provider_id), PushProvider)


def _entries(context: StepContext, channel: Channel) -> Iterator[ChannelEntry]:
    for entry in context.run.channels:
        provider = find_provider(entry.provider_id)
        if provider is not None and provider.channel is channel:
            yield entry


def _message(context: StepContext, channel: Channel, content: str) -> NewMessage:
    return NewMessage(
        id=MessageId(new_id(context.now)),
        job_id=context.job.id,
        step_id=context.step.id_bytes,
        channel=channel,
        content=content,
        severity=context.run.workflow.severity,
    )


def _send(context: StepContext, channel: Channel, message: NewMessage, *, is_addressed: bool) -> StepOutcome:
    if is_addressed:
        return _send_all(context, channel, [message])
    message.status, message.error_text = MessageStatus.WARNING, _MISSING[channel].text
    context.note(_MISSING[channel], raw={"subscriberId": context.run.subscriber.key})
    return Failed([message])


def _send_all(context: StepContext, channel: Channel, messages: list[NewMessage]) -> StepOutcome:
    if not messages and channel not in context.defaults.channels:
        context.note_no_integration(channel)
        return Failed()
    if not messages:
        raw = {"subscriberId": context.run.subscriber.key, "missing": _MISSING[channel].text}
        context.note(DetailCode.CHANNEL_MISSING, raw=raw)
        return Failed()
    context.note(DetailCode.MESSAGE_CREATED, raw={"messages": len(messages)})
    return Sending(messages)
