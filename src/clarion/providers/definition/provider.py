"""Provider: the description of one provider, and what is wrong with given credentials for it."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from clarion.providers.definition.credentials import (
    Credentials,
    get_format_rules,
    is_blank,
    list_required,
    respell,
)
from clarion.providers.definition.overrides import extras, list_not_passed
from clarion.vocabulary import Channel


class Provider(Struct, frozen=True, kw_only=True):
    """The static description of one provider."""

    id: str
    name: str
    channel: Channel
    credentials: type[Credentials] = Credentials
    documentation: str = ""
    """The URL of the API documentation that the implementation follows, or where its format is described."""
    can_attach_files: bool = False
    idempotency: str = ""
    """Where our message id is sent as an idempotency key; empty if the provider supports none."""
    find_problems: Callable[[Mapping[str, Any]], dict[str, str]] | None = None
    """Finds problems of credentials that depend on each other."""
    note: str = ""
    """What a person who sets up an integration should know."""

    known: frozenset[str] = frozenset()
    """Overrides that our message reads itself."""
    without: frozenset[str] = frozenset()
    """Those of `known` that the provider has no place for."""

    def takes(self, _: str, /) -> bool:
        """Return whether an override that is not `known` is part of the request."""
        return False

    def list_ignored(self, overrides: Mapping[str, Any], /) -> dict[str, str]:
        """Return the overrides that have no effect with this provider, and why, by name."""
        unread = [name for name in extras(overrides, self.known - self.without) if not self.takes(name)]
        return list_not_passed(overrides, self.channel) | dict.fromkeys(unread, f"{self.name} has no such field")

    @property
    def required(self) -> tuple[str, ...]:
        return list_required(self.credentials)


def find_credential_problems(provider: Provider, credentials: Mapping[str, Any]) -> dict[str, str]:
    """Return an error text for each credential that is missing or malformed, by name."""
    given = respell(provider.credentials, credentials)
    problems = {name: f"is required to activate {provider.name}" for name in provider.required if is_blank(given, name)}
    for name, rule in get_format_rules(provider.credentials).items():
        if not is_blank(given, name) and not rule.accepts(given[name]):
            problems[name] = rule.sentence
    if provider.find_problems is not None:
        problems = provider.find_problems(given) | problems
    other = {new: old for old, new in provider.credentials.SPELLINGS.items() if is_blank(credentials, new)}
    return {other.get(name, name) if name in given else name: sentence for name, sentence in problems.items()}
