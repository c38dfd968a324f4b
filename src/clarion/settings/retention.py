"""How many days each kind of data is kept: the defaults, what environments may choose, and the form in the settings."""

from collections.abc import Mapping

from clarion.errors import SettingsError

DEFAULT_DAYS = {
    "runs": 30,
    "inAppMessages": 90,
    "outbox": 7,
    "webhooks": 30,
    "receipts": 7,
    "idempotency": 1,
    "audit": 365,
    "workflowVersions": 90,
}
"""How long each kind of data is kept, unless the installation or the environment says otherwise."""
LEAST_DAYS = {"webhooks": 5, "audit": 90}
"""What environments may choose at least, if not one day, unless the installation says otherwise.

Deliveries of webhooks are retried for about four days, and the audit log must outlast what it records.
"""
MOST_DAYS = {
    "runs": 730,
    "inAppMessages": 730,
    "outbox": 90,
    "webhooks": 180,
    "receipts": 730,
    "idempotency": 30,
    "audit": 3_650,
    "workflowVersions": 3_650,
}
"""What environments may choose at most, unless the installation says otherwise."""
_ANY_DAYS = 36_500
_RETRIED_FOR = {"webhooks": 5}


def parse_days(variable: str, text: str, defaults: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """Read `runs=30,audit=365`; kinds that are left out have their default."""
    days_by_kind = dict(defaults)
    for part in filter(None, (one.strip() for one in text.split(","))):
        kind, _, days = (one.strip() for one in part.partition("="))
        if kind not in DEFAULT_DAYS:
            raise SettingsError(
                f"{variable} must be such as runs=30,audit=365, with {', '.join(DEFAULT_DAYS)}; not '{part}'."
            )
        least = _RETRIED_FOR.get(kind, 1)
        if not days.isascii() or not days.isdigit() or not least <= int(days) <= _ANY_DAYS:
            raise SettingsError(f"{variable} must give {kind} {least} to {_ANY_DAYS} whole days, not '{days}'.")
        days_by_kind[kind] = int(days)
    return tuple(days_by_kind.items())
