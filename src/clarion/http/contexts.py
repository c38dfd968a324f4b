"""The shape of contexts in requests; `read_contexts` checks them."""

from typing import Annotated, Any

from clarion.http.wire import Wire, one_of


class ContextIn(Wire):
    """One thing that messages belong to, such as a tenant; `data` is for templates."""

    id: str
    """The id of the thing, such as `acme`."""
    data: dict[str, Any] | None = None
    """Values for templates, which see them as `context.<type>.data`."""


ContextsIn = dict[str, Annotated[Any, one_of(str, ContextIn)]]
"""By type: an id such as "acme", or an object."""
