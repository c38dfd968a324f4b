"""All providers by id: each module in the folder of a channel that declares a PROVIDER, and the built-in ones."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules

from clarion.providers import chat, email, push, sms, tool
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.provider import BuiltinProvider, Provider
from clarion.vocabulary import Channel


class InboxCredentials(Credentials):
    """Settings of the inbox."""

    hmac: bool = False


# The inbox, and an outbox that stores e-mails and SMS without sending them.
_BUILTIN = (
    BuiltinProvider(id="svc", name="In-App", channel=Channel.IN_APP, credentials=InboxCredentials),
    BuiltinProvider(id="svc-email", name="Built-in Email", channel=Channel.EMAIL),
    BuiltinProvider(id="svc-sms", name="Built-in SMS", channel=Channel.SMS),
)


def _import_providers() -> Iterator[Provider]:
    for channel in (email, sms, push, chat, tool):
        for module in iter_modules(channel.__path__, f"{channel.__name__}."):
            provider: Provider | None = getattr(import_module(module.name), "PROVIDER", None)
            if provider is not None:
                yield provider


PROVIDERS: Mapping[str, Provider] = {provider.id: provider for provider in (*_BUILTIN, *_import_providers())}


def find_provider(provider_id: str) -> Provider | None:
    return PROVIDERS.get(provider_id)
