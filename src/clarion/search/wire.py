"""Shapes of a search."""

from typing import Annotated, Self

from msgspec import UNSET, Meta, UnsetType, field

from clarion.http.wire import CheckedText, Wire, given
from clarion.ids import id_text
from clarion.search.model import Hit, MatchKind, SearchType


class SearchedText(CheckedText):
    __slots__ = ()
    RULE = "must have 1 to 200 characters besides white space"
    EXAMPLE = "ada"

    @classmethod
    def accepts(cls, text: str) -> bool:
        return len(text.strip()) >= 1 and len(text) <= 200 and "\0" not in text


class SearchQuery(Wire):
    q: SearchedText
    """What to look for: a name, an address, an id, or the beginning of one."""
    types: tuple[SearchType, ...] = ()
    """What to search; by default everything that the caller may read."""
    limit: Annotated[int, Meta(ge=1, le=50)] = 20


class MatchOut(Wire):
    """Why something was found."""

    field: str
    """The field that matched, such as `email`."""
    kind: MatchKind
    """How it matched."""


class SearchParentOut(Wire):
    """The run of a job or message, the workflow of a version, the topic of a subscription, and so on."""

    type: SearchType
    """What kind of thing it is."""
    id: str
    """How paths of the API name it."""


class SearchResultOut(Wire):
    type: SearchType
    """What kind of thing was found."""
    own_id: str = field(name="_id")
    id: str
    """How paths of the API name it: a subscriberId, a topic's key, a transactionId, else the same as `_id`."""
    title: str
    """What people call it."""
    subtitle: str | UnsetType = UNSET
    """What tells it from others of the same name."""
    matched: MatchOut
    """Why it was found."""
    parent: SearchParentOut | UnsetType = UNSET
    """What it belongs to; absent if it stands alone."""

    @classmethod
    def of(cls, hit: Hit) -> Self:
        return cls(
            type=hit.type,
            own_id=id_text(hit.id),
            id=hit.reference,
            title=hit.title,
            subtitle=given(hit.subtitle),
            matched=MatchOut(field=hit.match.field, kind=hit.match.kind),
            parent=UNSET if hit.parent is None else SearchParentOut(type=hit.parent.type, id=hit.parent.reference),
        )


class SearchOut(Wire):
    """The best results first: exact ones, then what begins with the text, then what contains its words."""

    data: list[SearchResultOut]
    searched: list[SearchType]
    """What the caller may read of what was asked for."""
