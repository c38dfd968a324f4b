"""Members who are signed in, as browsers."""

from collections.abc import Callable, Coroutine
from typing import Any

import httpx

from clarion.members.model import Member

ORIGIN = "https://clarion.test"
PASSWORD = "correct horse battery"


class Browser(httpx.AsyncClient):
    """A browser that shows a page of the dashboard: it has a session, and headers as browsers send them."""

    member: Member
    token: str

    def entering(self, environment: Any) -> "Browser":
        """Name the environment in requests from now on."""
        self.headers["Clarion-Environment"] = environment.identifier
        return self


SignIn = Callable[..., Coroutine[Any, Any, Browser]]
