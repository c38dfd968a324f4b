"""How many connections each client address has, of a number that all share."""

from collections import Counter

from clarion.http.attempts import network_of


class AddressCounts:
    """Counts by address. Whoever has less than an equal share may take a place of those who have more."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, address: str) -> None:
        self._counts[network_of(address)] += 1

    def discard(self, address: str) -> None:
        network = network_of(address)
        self._counts[network] -= 1
        if not self._counts[network]:
            del self._counts[network]

    def count(self, address: str) -> int:
        return self._counts.get(network_of(address), 0)

    def share_with(self, address: str, limit: int) -> int:
        """How many of `limit` each address would have if all had the same, with one that wants to have some."""
        return limit // (len(self._counts) + (network_of(address) not in self._counts))
