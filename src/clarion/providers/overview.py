"""Generates docs/providers.md, and the tables of overrides in docs/coming-from-novu.md.

`python -m clarion.providers.overview docs/providers.md docs/coming-from-novu.md`
"""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from clarion.providers.definition.fields import list_fields
from clarion.providers.definition.overrides import CUSTOM_DATA
from clarion.providers.definition.provider import BuiltinProvider, HttpProvider, Provider, SmtpProvider
from clarion.providers.email.message import KNOWN as EMAIL_OVERRIDES
from clarion.providers.registry import PROVIDERS
from clarion.vocabulary import Channel

_HEAD = """\
# Providers

Every provider, what its integration has to be given, and what it can do. Made from the providers themselves by
`python -m clarion.providers.overview docs/providers.md docs/coming-from-novu.md`; a test compares.

An integration is made by `POST /v1/integrations` with the `providerId`, the `channel` and the `credentials` of a row
below. `"check": true` tries the credentials out first and writes nothing when they do not work, and
`POST /v1/integrations/{integrationId}/test` sends a test message and shows the answer.

- **Credentials** in bold are required; the others are optional.
- **Check** is how `check` tries them: by a call that sends nothing, by fetching an access token, or by logging in.
  Where it says –, the provider offers nothing of the kind, and `check` sees only whether they are complete; send a test
  message instead.
- **Receipts** is how reports of deliveries, bounces and the rest are known to be the provider's: by a signature, or,
  where it signs nothing, by the token in the address that it is given. Where it says "asked for", the provider is asked
  for them some time after the send; where it says –, no reports are read.
- **Repeated sends** is where the id of the message goes, so that the provider recognises a second try after an answer
  that was lost. Where it says –, such a message may arrive twice.
- **Described at** is the page that the implementation follows.
"""
_OVERRIDES_START = "<!-- overrides -->"
_OVERRIDES_END = "<!-- end of overrides -->"
_TITLES = {
    Channel.IN_APP: "Inbox",
    Channel.EMAIL: "E-mail",
    Channel.SMS: "SMS",
    Channel.PUSH: "Push",
    Channel.CHAT: "Chat",
    Channel.TOOL: "Tools",
}
_ADDRESSES = {
    Channel.IN_APP: "Nothing leaves Clarion: the inbox reads it from there.",
    Channel.EMAIL: "Goes to the subscriber's `email`; copies, headers and attachments are overrides of the trigger. "
    "Files are also taken from `attachments` of its payload.",
    Channel.SMS: "Goes to the subscriber's `phone`, best in international form. A number without a country code is "
    "completed from the region of the subscriber's `locale` or from `defaultRegion`, such as GB, and else refused.",
    Channel.PUSH: "Goes to the `deviceTokens` of the subscriber's credentials for the integration.",
    Channel.CHAT: "Goes to the `webhookUrl` of the subscriber's credentials, unless the last column says otherwise.",
    Channel.TOOL: "Goes to the subscriber's channel endpoints (`POST /v1/channel-endpoints`), which have the keys.",
}


def describe_providers() -> str:
    sections = [_HEAD, *(_section(channel) for channel in _TITLES)]
    return "\n".join(sections)


def _section(channel: Channel) -> str:
    rows = [_row(one) for _, one in sorted(PROVIDERS.items()) if one.channel is channel]
    head = [f"## {_TITLES[channel]}", "", _ADDRESSES[channel], "", _line(rows[0]), _line(["---"] * len(rows[0]))]
    return "\n".join([*head, *(_line(row.values()) for row in rows), ""])


def _row(provider: Provider) -> dict[str, str]:
    """Return the table cells of a provider by column name."""
    attachments = (
        {"Attachments": "yes" if provider.can_attach_files else "–"} if provider.channel is Channel.EMAIL else {}
    )
    return {
        "Provider": f"`{provider.id}` {provider.name}",
        "Credentials": _credentials(provider),
        "Check": describe_check(provider) or "–",
        **attachments,
        "Receipts": describe_receipts(provider) or "–",
        "Repeated sends": provider.idempotency or "–",
        "Described at": f"<{provider.documentation}>"
        if provider.documentation.startswith("https://")
        else provider.documentation or "–",
        "Good to know": provider.note,
    }


def _credentials(provider: Provider) -> str:
    return ", ".join(f"**{one.name}**" if one.required else one.name for one in list_fields(provider)) or "–"


def describe_check(provider: Provider) -> str:
    """Return how credentials are tried out; empty if the provider offers nothing for it."""
    if isinstance(provider, SmtpProvider):
        return "log-in"
    if not isinstance(provider, HttpProvider):
        return ""
    return "call" if provider.check else "token" if provider.token else ""


def describe_receipts(provider: Provider) -> str:
    """Return how reports of deliveries are known to be the provider's; empty if none are read."""
    if isinstance(provider, HttpProvider) and provider.receipt_query is not None:
        return "asked for"
    if not isinstance(provider, HttpProvider) or provider.receipts is None:
        return ""
    return provider.receipts.signed_with or "token in the address"


class Overrides(NamedTuple):
    """Overrides of triggers that a provider honours."""

    names: list[str]
    other_fields: bool
    passthrough: bool


def list_overrides(provider: Provider) -> Overrides:
    if isinstance(provider, HttpProvider):
        names = {*(provider.known - provider.without), *([CUSTOM_DATA] if provider.custom_data else ())}
        has_fields = provider.casing is not None or provider.reads is not None
        return Overrides(sorted(names), other_fields=has_fields, passthrough=True)
    return Overrides(
        sorted(EMAIL_OVERRIDES) if isinstance(provider, SmtpProvider) else [], other_fields=False, passthrough=False
    )


def with_overrides(page: str) -> str:
    """Return the page with current tables of overrides between its marks."""
    before, _, rest = page.partition(_OVERRIDES_START)
    _, _, after = rest.partition(_OVERRIDES_END)
    return f"{before}{_OVERRIDES_START}\n{describe_overrides()}{_OVERRIDES_END}{after}"


def describe_overrides() -> str:
    """Return one table for each channel; providers that honour the same are in one row."""
    tables = []
    for channel in (Channel.EMAIL, Channel.SMS, Channel.PUSH, Channel.CHAT, Channel.TOOL):
        rows: dict[str, list[str]] = {}
        for provider in PROVIDERS.values():
            if provider.channel is channel and not isinstance(provider, BuiltinProvider):
                rows.setdefault(_overrides(provider), []).append(f"`{provider.id}`")
        cells = [[", ".join(sorted(ids)), honoured] for honoured, ids in rows.items()]
        lines = [["Provider", "Honours"], ["---", "---"], *sorted(cells)]
        tables.append("\n".join([f"**{_TITLES[channel]}**", "", *map(_line, lines), ""]))
    return "\n".join(tables)


def _overrides(provider: Provider) -> str:
    overrides = list_overrides(provider)
    more = [
        *(["other fields"] if overrides.other_fields else []),
        *(["`_passthrough`"] if overrides.passthrough else []),
    ]
    return ", ".join([*(f"`{name}`" for name in overrides.names), *more])


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(describe_providers())
    novu_page = Path(sys.argv[2])
    novu_page.write_text(with_overrides(novu_page.read_text()))
