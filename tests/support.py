"""Types of the fixtures in conftest.py."""

from collections.abc import Callable, Coroutine
from typing import Any

import httpx
from msgspec import Struct

from clarion.environments.model import Environment


class Api(httpx.AsyncClient):
    """An HTTP client of the application with an API key of one environment."""

    environment: Environment
    key: str


class Site(Struct, frozen=True):
    """The organization of one test: two environments that must not see each other."""

    development: Environment
    production: Environment


MakeApi = Callable[..., Coroutine[Any, Any, Api]]
