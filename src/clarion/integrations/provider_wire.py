"""Shapes of providers, as a form for an integration needs them."""

from typing import Self

from msgspec import UNSET, UnsetType

from clarion.http.wire import Wire
from clarion.providers.definition.fields import CredentialField, FieldKind, list_fields
from clarion.providers.definition.provider import Provider
from clarion.providers.overview import describe_check, describe_receipts, list_overrides
from clarion.vocabulary import Channel


class CredentialFieldOut(Wire):
    """One credential: its name in `credentials`, and how a form asks for it."""

    name: str
    """The name of the credential in `credentials`."""
    label: str
    """What a form calls it."""
    kind: FieldKind
    """How it is typed in."""
    required: bool
    """Whether an active integration needs it."""
    secret: bool
    """Whether it is masked in responses."""
    help: str | UnsetType = UNSET
    """What it is, in a sentence."""

    @classmethod
    def of(cls, credential: CredentialField) -> Self:
        return cls(
            name=credential.name,
            label=credential.label,
            kind=credential.kind,
            required=credential.required,
            secret=credential.secret,
            help=credential.help or UNSET,
        )


class OverridesOut(Wire):
    """Overrides of triggers that the provider honours."""

    names: list[str]
    """By the names of this API."""
    other_fields: bool
    """Whether other names are fields of the provider's own request."""
    passthrough: bool
    """Whether `_passthrough` adds to the provider's request as it is."""


class ProviderOut(Wire):
    """A provider, and what an integration of it needs and can do."""

    id: str
    """The `providerId` of its integrations."""
    name: str
    """What the provider calls itself."""
    channel: Channel
    """The channel that it sends through."""
    credentials: list[CredentialFieldOut]
    """The credentials that an integration needs or may have."""
    overrides: OverridesOut
    """Which overrides of triggers it honours."""
    attachments: bool
    """Whether it sends files."""
    check: str | UnsetType = UNSET
    """How `check` tries credentials out; absent if the provider offers nothing for it."""
    receipts: str | UnsetType = UNSET
    """How reports of deliveries are known to be the provider's; absent if none are read."""
    idempotency: str | UnsetType = UNSET
    """Where the provider finds the id of a message, by which it knows a second try; absent if it does not."""
    documentation: str | UnsetType = UNSET
    """The URL of the provider's own documentation."""
    note: str | UnsetType = UNSET
    """What else one has to know."""

    @classmethod
    def of(cls, provider: Provider, provider_id: str) -> Self:
        overrides = list_overrides(provider)
        return cls(
            id=provider_id,
            name=provider.name,
            channel=provider.channel,
            credentials=[CredentialFieldOut.of(one) for one in list_fields(provider)],
            overrides=OverridesOut(
                names=overrides.names, other_fields=overrides.other_fields, passthrough=overrides.passthrough
            ),
            attachments=provider.can_attach_files,
            check=describe_check(provider) or UNSET,
            receipts=describe_receipts(provider) or UNSET,
            idempotency=provider.idempotency or UNSET,
            documentation=provider.documentation or UNSET,
            note=provider.note or UNSET,
        )
