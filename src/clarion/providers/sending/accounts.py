"""What is derived from the credentials of integrations: derived once, not for every message."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from clarion.cache import BoundedCache
from clarion.providers.definition.credentials import Credentials, read_credentials
from clarion.providers.definition.kinds import SmtpProvider
from clarion.providers.definition.smtp_account import SmtpAccount
from clarion.providers.sending.redaction import SecretText, list_account_secrets

A = TypeVar("A", bound=Credentials)
V = TypeVar("V")

MAX_CACHED = 4096


class Accounts:
    """Finds by the identity of the credentials: a changed integration has new ones.

    The cache holds the credentials, so that no others get their identity.
    """

    def __init__(self) -> None:
        self._derived: BoundedCache[tuple[int, object], tuple[Mapping[str, Any], Any]] = BoundedCache(limit=MAX_CACHED)

    def read(self, kind: type[A], given: Mapping[str, Any]) -> A:
        """Decode credentials; raises SendFailure if some are missing or of the wrong type."""
        return self._get(given, kind, lambda: read_credentials(kind, given))

    def read_smtp(self, provider: SmtpProvider[A], given: Mapping[str, Any]) -> tuple[A, SmtpAccount]:
        """Decode credentials, and say how to reach their server; raises SendFailure."""
        account = self.read(provider.credentials, given)
        return account, self._get(given, SmtpAccount, lambda: provider.account(account))

    def list_secrets(self, given: Mapping[str, Any]) -> frozenset[SecretText]:
        return self._get(given, list_account_secrets, lambda: list_account_secrets(given))

    def _get(self, given: Mapping[str, Any], purpose: object, derive: Callable[[], V]) -> V:
        key = (id(given), purpose)
        found = self._derived.get(key)
        if found is None:
            found = (given, derive())
            self._derived.put(key, found)
        value: V = found[1]
        return value
