"""Provider: the description of one provider, and what is wrong with given credentials for it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clarion.providers.definition.credentials import Credentials, is_blank, required_of, rules_of
from clarion.vocabulary import Channel


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One provider of the registry, and what is known of it without talking to it."""

    id: str
    name: str
    channel: Channel
    credentials: type[Credentials] = Credentials
    page: str = ""
    """Where its maker describes what is spoken here."""
    attachments: bool = False
    idempotency: str = ""
    """Where our message id goes so that a repeated send is recognised; empty where the provider takes none."""
    note: str = ""
    """What whoever sets up an integration should know."""

    @property
    def required(self) -> tuple[str, ...]:
        return required_of(self.credentials)


def find_credential_problems(provider: Provider, credentials: Mapping[str, Any]) -> dict[str, str]:
    """What keeps the provider from working with these credentials, by name: missing ones and ill-formed ones."""
    problems = {
        name: f"is required to activate {provider.name}" for name in provider.required if is_blank(credentials, name)
    }
    for name, rule in rules_of(provider.credentials).items():
        if not is_blank(credentials, name) and not rule.accepts(credentials[name]):
            problems[name] = rule.sentence
    return problems
