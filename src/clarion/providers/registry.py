"""All providers by id; the built-in ones under the names that the store keeps."""

from collections.abc import Mapping

from clarion.providers.base import Provider
from clarion.providers.catalogue import BUILT_IN, CHAT, EMAIL, PUSH, SMS

PROVIDERS: Mapping[str, Provider] = {one.id: one for one in (*BUILT_IN, *EMAIL, *SMS, *PUSH, *CHAT)}


def find_provider(provider_id: str) -> Provider | None:
    return PROVIDERS.get(provider_id)
