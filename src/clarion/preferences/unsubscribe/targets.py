"""What the links of a message are about: a person, a workflow and a channel. They have the address of this service."""

from typing import Final

from msgspec import Struct

from clarion.content.links import LinkPurpose, LinkSecret, read_link, sign_link
from clarion.contexts.model import stored_keys
from clarion.ids import SubscriberId, WorkflowId
from clarion.jsontext import json_value
from clarion.vocabulary import Channel

UNSUBSCRIBE_PATH: Final = "/unsubscribe"
PREFERENCES_PATH: Final = "/preferences"
SAMPLE: Final = "sample"
"""In the place of a token, where nothing is sent: its pages say that they change nothing."""

# In links that were sent: a number keeps its meaning.
_NUMBERS: Final = {
    Channel.IN_APP: 1,
    Channel.EMAIL: 2,
    Channel.SMS: 3,
    Channel.CHAT: 4,
    Channel.PUSH: 5,
    Channel.TOOL: 6,
}
_CHANNELS: Final = {number: channel for channel, number in _NUMBERS.items()}
_LENGTH: Final = 16 + 16 + 1
"""Without contexts, which follow."""
_MAX_CONTEXTS: Final = 500
"""Bytes: a link is one line of a header, which has at most 998. With longer ones, it is about all contexts."""
_ALL_CONTEXTS: Final = b"[]"
"""In the place of contexts. Processes that do not know it read a link without contexts."""


class LinkTarget(Struct, frozen=True):
    """Whose messages of which workflow, channel and contexts a link is about."""

    subscriber_id: SubscriberId
    workflow_id: WorkflowId
    channel: Channel
    context_keys: tuple[str, ...] = ()
    is_for_all_contexts: bool = False
    """Whether the link is about what has no context, and about all contexts of the person."""


def sign_target(secret: LinkSecret, target: LinkTarget) -> str:
    data = target.subscriber_id + target.workflow_id + bytes((_NUMBERS[target.channel],))
    contexts = stored_keys(target.context_keys).encode() if target.context_keys else b""
    data += contexts if len(contexts) <= _MAX_CONTEXTS else _ALL_CONTEXTS
    return sign_link(secret, LinkPurpose.UNSUBSCRIBE, data)


def read_target(secret: LinkSecret, token: str) -> LinkTarget | None:
    """Return what a token is about; None if it is not of this environment, or not for this purpose."""
    data = read_link(secret, LinkPurpose.UNSUBSCRIBE, token)
    if data is None or len(data) < _LENGTH or data[32] not in _CHANNELS:
        return None
    given = data[_LENGTH:]
    return LinkTarget(
        SubscriberId(data[:16]),
        WorkflowId(data[16:32]),
        _CHANNELS[data[32]],
        tuple(json_value(given.decode()) if given else ()),
        is_for_all_contexts=given == _ALL_CONTEXTS,
    )


def make_sample_links(public_url: str | None, *, is_critical: bool) -> dict[str, str]:
    """Return what texts of messages see as links where nothing is sent."""
    if public_url is None:
        return {}
    base_url = public_url.rstrip("/")
    unsubscribe_url = "" if is_critical else f"{base_url}{UNSUBSCRIBE_PATH}?token={SAMPLE}"
    return {"unsubscribe_url": unsubscribe_url, "preferences_url": f"{base_url}{PREFERENCES_PATH}?token={SAMPLE}"}


class PersonalLinks(Struct, frozen=True):
    """Makes the links of an environment's messages."""

    base_url: str
    """Of this service, without a slash at the end."""
    secret: LinkSecret | None
    """None: all links are samples."""

    def unsubscribe_url(self, target: LinkTarget) -> str:
        return self._make(UNSUBSCRIBE_PATH, target)

    def preferences_url(self, target: LinkTarget) -> str:
        return self._make(PREFERENCES_PATH, target)

    def _make(self, path: str, target: LinkTarget) -> str:
        token = SAMPLE if self.secret is None else sign_target(self.secret, target)
        return f"{self.base_url}{path}?token={token}"
