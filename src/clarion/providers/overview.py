"""The page about all providers; `python -m clarion.providers.overview docs/providers.md` writes it."""

import sys
from pathlib import Path

from msgspec.structs import fields

from clarion.providers.base import Provider
from clarion.providers.definition import WebProvider
from clarion.providers.registry import PROVIDERS
from clarion.vocabulary import Channel

_HEAD = """\
# Providers

Every provider, what its integration has to be given, and what it can do. Made from the providers themselves by
`python -m clarion.providers.overview docs/providers.md`; a test compares.

Credentials in **bold** are required. *Receipts* says how reports of deliveries, bounces and the rest are known to be
the provider's: by a signature, or, where the provider signs nothing, by the token in the address that it is given.
*Repeated sends* says where the id of the message goes so that the provider recognises a second try; most take none.
*Described at* is the page that the implementation follows.
"""
_COLUMNS = ("Provider", "Credentials", "Attachments", "Receipts", "Repeated sends", "Described at", "Good to know")
_TITLES = {
    Channel.IN_APP: "Inbox",
    Channel.EMAIL: "E-mail",
    Channel.SMS: "SMS",
    Channel.PUSH: "Push",
    Channel.CHAT: "Chat",
}


def describe_providers() -> str:
    sections = [_HEAD, *(_section(channel) for channel in _TITLES)]
    return "\n".join(sections)


def _section(channel: Channel) -> str:
    rows = [_row(one) for _, one in sorted(PROVIDERS.items()) if one.channel is channel]
    lines = [f"## {_TITLES[channel]}", "", _line(_COLUMNS), _line(["---"] * len(_COLUMNS)), *map(_line, rows), ""]
    return "\n".join(lines)


def _row(provider: Provider) -> list[str]:
    return [
        f"`{provider.id}` {provider.name}",
        _credentials(provider),
        "yes" if provider.attachments else "–",
        _receipts(provider),
        provider.idempotency or "–",
        f"<{provider.page}>" if provider.page.startswith("https://") else provider.page or "–",
        provider.note,
    ]


def _credentials(provider: Provider) -> str:
    known = sorted(fields(provider.credentials), key=lambda one: not one.required)
    return ", ".join(f"**{one.encode_name}**" if one.required else one.encode_name for one in known) or "–"


def _receipts(provider: Provider) -> str:
    if not isinstance(provider, WebProvider) or provider.receipts is None:
        return "–"
    return provider.receipts.signed_with or "token in the address"


def _line(cells: list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(describe_providers())
