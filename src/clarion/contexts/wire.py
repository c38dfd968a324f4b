"""Shapes of contexts: in requests that name some, which `read_contexts` checks, and as a resource."""

from enum import StrEnum
from typing import Annotated, Any, Self

from msgspec import UNSET, Meta, UnsetType

from clarion.clock import iso_text
from clarion.contexts.model import ID_RULE, MAX_CONTEXTS, TYPE_RULE, Context, is_context_id, is_type
from clarion.http.pages import CursorQuery
from clarion.http.wire import CheckedText, DateTimeText, Wire, one_of


class ContextIn(Wire):
    """One thing that messages belong to, such as a tenant; `data` is for templates."""

    id: str
    """The id of the thing, such as `acme`."""
    data: dict[str, Any] | None = None
    """Values for templates, which see them as `context.<type>.data`; stored if the context does not exist yet."""


ContextsIn = dict[str, Annotated[Any, one_of(str, ContextIn)]]
"""By type: an id such as "acme", or an object."""


class ContextTypeText(CheckedText):
    __slots__ = ()
    RULE = TYPE_RULE
    EXAMPLE = "tenant"

    @classmethod
    def accepts(cls, text: str) -> bool:
        return is_type(text)


class ContextIdText(CheckedText):
    __slots__ = ()
    RULE = ID_RULE
    EXAMPLE = "acme"

    @classmethod
    def accepts(cls, text: str) -> bool:
        return is_context_id(text)


class ContextKeyText(CheckedText):
    """A context in a filter; an empty text stands for no context at all."""

    __slots__ = ()
    RULE = "must be a context as 'type:id', such as tenant:acme, or empty for none"
    EXAMPLE = "tenant:acme"

    @classmethod
    def accepts(cls, text: str) -> bool:
        kind, colon, key = text.partition(":")
        return not text or (bool(colon) and is_type(kind) and is_context_id(key))


ContextKeysFilter = Annotated[list[ContextKeyText], Meta(max_length=MAX_CONTEXTS)]


def read_keys(given: ContextKeysFilter | None) -> tuple[str, ...] | None:
    """The keys of a filter, sorted; empty if it is for what has no context, and None without a filter."""
    return None if given is None else tuple(sorted({str(key) for key in given if key}))


class NewContextIn(Wire):
    """A context to be stored; triggers make those that do not exist, too."""

    type: ContextTypeText
    """What kind of thing it is, such as `tenant`."""
    id: ContextIdText
    """Your own id of the thing, such as `acme`."""
    data: dict[str, Any] | UnsetType | None = UNSET
    """Values for templates, which see them as `context.<type>.data`: at most 64 KB of JSON."""


class ContextPatch(Wire):
    data: dict[str, Any]
    """Replaces all values for templates: at most 64 KB of JSON."""


class ContextOrder(StrEnum):
    ID = "_id"
    CREATED_AT = "createdAt"
    """The same as `_id`."""
    UPDATED_AT = "updatedAt"


class ContextsQuery(CursorQuery):
    order_by: ContextOrder = ContextOrder.ID  # type: ignore[assignment]
    """What the list is sorted by; keep it while you page."""
    type: str | None = None
    """Only contexts of exactly this type."""
    id: str | None = None
    """Only contexts with exactly this id, of any type."""
    search: str | None = None
    """Only contexts with this text in `type:id`, in any case."""


class ContextOut(Wire):
    type: str
    """What kind of thing it is, such as `tenant`."""
    id: str
    """Your own id of the thing."""
    data: dict[str, Any]
    """Values for templates, which see them as `context.<type>.data`."""
    created_at: DateTimeText
    updated_at: DateTimeText

    @classmethod
    def of(cls, context: Context) -> Self:
        return cls(
            type=context.type,
            id=context.key,
            data=context.data,
            created_at=iso_text(context.created_at),
            updated_at=iso_text(context.updated_at),
        )
