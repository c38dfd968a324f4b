"""The shape of contexts in requests; `read_contexts` checks them."""

from typing import Annotated, Any

from clarion.http.wire import Wire, one_of


class ContextIn(Wire):
    """One thing that messages belong to, such as a tenant; `data` is for templates."""

    id: str
    data: dict[str, Any] | None = None


ContextsIn = dict[str, Annotated[Any, one_of(str, ContextIn)]]
"""By type: an id such as "acme", or an object."""
