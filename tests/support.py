"""What tests are handed: clients, environments and the makers of data."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import httpx

from clarion.environments.model import Environment


class Api(httpx.AsyncClient):
    """A client of the application for one environment, with the environment at hand."""

    environment: Environment
    key: str


@dataclass(frozen=True, slots=True)
class Site:
    """An organization of its own: two environments that must not see each other."""

    development: Environment
    production: Environment


MakeApi = Callable[..., Coroutine[Any, Any, Api]]
