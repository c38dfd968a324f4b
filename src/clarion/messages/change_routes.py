"""Messages are changed after they were made, and withdrawn."""

from collections.abc import Sequence
from typing import Any

from clarion.bus import Signal
from clarion.errors import Invalid, Problem
from clarion.http.operation import Call, operation
from clarion.ids import MessageId, TransactionKey, WorkflowKey, id_text
from clarion.inbox.sockets.announcements import announce_new_contents
from clarion.jsontext import encode_json
from clarion.messages import changes_store as store
from clarion.messages.change_wire import (
    MessageButtonIn,
    MessageLinkIn,
    MessagePatch,
    WithdrawnMessageOut,
    WithdrawQuery,
    WithdrawResultOut,
)
from clarion.messages.changes import REFUSED, ChangeState
from clarion.messages.changing import Changed, list_shown, update_messages, withdraw_messages
from clarion.messages.content import FIELDS, NewContent, make_columns
from clarion.messages.deletion import describe_caller
from clarion.messages.history import get_message
from clarion.messages.model import Message
from clarion.messages.store import list_origins
from clarion.messages.wire import MessageOut, MessageView
from clarion.providers.definition.changes import ChangeKind
from clarion.subscribers.model import shown_to
from clarion.subscribers.store import list_subscribers_by_id
from clarion.templates import TemplateProblem, is_script_link, sanitize_text
from clarion.vocabulary import Channel, Scope
from clarion.workflows.controls import Action, Redirect

MAX_DATA = 16 * 1024
MAX_SCANNED = 5_000
"""How many messages are looked at for those of a workflow, in one call."""
_START = bytes(16)


@operation("PATCH", "/v1/messages/{messageId}", scope=Scope.MESSAGES_WRITE, body=MessagePatch)
async def update_message(call: Call, message_id: MessageId, body: MessagePatch) -> MessageOut:
    """Change the content of an in-app, chat or push message, also after it was sent where its provider can."""
    message = await get_message(call.db, call.environment_id, message_id)
    content = _read_content(body, message)
    (changed,) = await update_messages(
        call.db,
        call.environment_id,
        [message_id],
        lambda one: make_columns(one, content),
        by=describe_caller(call),
        now=call.now,
    )
    if changed.verdict.state is REFUSED[ChangeKind.UPDATE]:
        raise Invalid.field("messageId", f"names a message that cannot be changed: {changed.verdict.reason}")
    _announce(call, [changed])
    return await _show(call, await get_message(call.db, call.environment_id, message_id))


@operation("DELETE", "/v1/messages", scope=Scope.MESSAGES_WRITE, query=WithdrawQuery)
async def withdraw_messages_of(call: Call, query: WithdrawQuery) -> WithdrawResultOut:
    """Withdraw messages of a trigger or a workflow: inboxes lose them, and providers are asked to take them back.

    Their records stay, and say what became of them. One call does at most 500, and says how to go on.
    """
    if query.transaction_id is None and query.workflow is None:
        raise Invalid.field("transactionId", "or workflow is required: it says which messages are meant")
    ids, last = await _list_ids(call, query)
    changed = await withdraw_messages(call.db, call.environment_id, ids, by=describe_caller(call), now=call.now)
    _announce(call, changed)
    shown = [WithdrawnMessageOut.of(one) for one in changed]
    states = [one.state for one in shown]
    return WithdrawResultOut(
        withdrawn=states.count(ChangeState.WITHDRAWN),
        pending=states.count(ChangeState.WITHDRAWING),
        not_withdrawn=states.count(ChangeState.NOT_WITHDRAWN),
        messages=shown,
        next=None if last is None else id_text(last),
    )


async def _list_ids(call: Call, query: WithdrawQuery) -> tuple[list[MessageId], MessageId | None]:
    """Return the messages of this call, and the last one that was looked at if there may be more."""
    after = _START if query.after is None else query.after.id
    workflow = None if query.workflow is None else WorkflowKey(query.workflow)
    if query.transaction_id is None:
        limit = MAX_SCANNED
        listed = await store.list_of_environment(call.db, call.environment_id, after=after, limit=limit)
    else:
        limit, key = query.limit, TransactionKey(query.transaction_id)
        listed = await store.list_of_transaction(call.db, call.environment_id, key, after=after, limit=limit)
    fitting = [message_id for message_id, own in listed if workflow in (None, own)]
    if len(fitting) > query.limit:
        return fitting[: query.limit], fitting[query.limit - 1]
    return fitting, listed[-1][0] if len(listed) == limit else None


def _read_content(body: MessagePatch, message: Message) -> NewContent:
    """The new content; raises Invalid with every field that the message cannot have, or that cannot be shown."""
    given, fields = body.given, FIELDS.get(message.channel, frozenset())
    if not given:
        raise Invalid.field("body", "must have a field that is to be different")
    if not fields:
        raise Invalid.field("messageId", f"names a message of the channel {message.channel}, which cannot be changed")
    names = {name: type(body).__struct_encode_fields__[place] for place, name in enumerate(body.__struct_fields__)}
    wrong = sorted(names[one] for one in given.keys() - fields)
    rule = f"is no field of {message.channel} messages, which have {', '.join(sorted(names[one] for one in fields))}"
    problems = {name: [Problem(rule)] for name in wrong}
    if isinstance(body.data, dict) and len(encode_json(body.data)) > MAX_DATA:
        problems["data"] = [Problem(f"must have at most {MAX_DATA} bytes of JSON")]
    problems |= {path: [Problem("must not run code in the page")] for path in _list_script_links(given, names)}
    if problems:
        raise Invalid(problems)
    return NewContent(**{name: _read_field(name, value, message) for name, value in given.items()})


def _read_field(name: str, value: Any, message: Message) -> Any:
    if isinstance(value, MessageButtonIn):
        link = None if value.redirect is None else _read_link(value.redirect)
        return Action(label=_sanitized(f"{name}.label", value.label), redirect=link)
    if isinstance(value, MessageLinkIn):
        return _read_link(value)
    if message.channel == Channel.IN_APP and name in ("subject", "body") and value is not None:
        return _sanitized(name, value)
    return value


def _read_link(link: MessageLinkIn) -> Redirect:
    return Redirect(url=link.url, target=link.target)


def _sanitized(path: str, text: str) -> str:
    """The text as in-app steps show theirs; raises Invalid for one that cannot be shown."""
    try:
        return sanitize_text(text)
    except TemplateProblem as problem:
        raise Invalid.field(path, f"cannot be shown: {problem}") from None


def _list_script_links(given: dict[str, Any], names: dict[str, str]) -> list[str]:
    links = {}
    for name, value in given.items():
        if isinstance(value, MessageLinkIn):
            links[f"{names[name]}.url"] = value.url
        elif isinstance(value, MessageButtonIn) and value.redirect is not None:
            links[f"{names[name]}.redirect.url"] = value.redirect.url
    return [path for path, url in links.items() if is_script_link(url)]


def _announce(call: Call, changed: Sequence[Changed]) -> None:
    announce_new_contents(call, [(one.subscriber_id, one.id) for one in list_shown(changed)])
    if any(one.verdict.calls_provider for one in changed):
        call.after_commit.append(lambda: call.services.bus.publish(Signal.WORK))


async def _show(call: Call, message: Message) -> MessageOut:
    origins = await list_origins(call.db, call.environment_id, [message.trigger_id])
    people = await list_subscribers_by_id(call.db, call.environment_id, [message.subscriber_id])
    view = MessageView(
        message=message,
        origin=origins[message.trigger_id],
        organization_id=call.organization_id,
        names=call.services.names,
    )
    return MessageOut.of(view, shown_to(call.caller, people[message.subscriber_id]))
