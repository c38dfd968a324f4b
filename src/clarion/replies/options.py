"""Where replies to e-mails of an environment go."""

from msgspec import Struct


class ReplyOptions(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whether e-mails ask for replies, and where those go."""

    enabled: bool = False
    domain: str | None = None
    """Whose mail comes in by the hook of an integration."""
