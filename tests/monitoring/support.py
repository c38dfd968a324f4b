"""Reading metrics in tests."""

import httpx
from prometheus_client.parser import text_string_to_metric_families

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


class Metrics:
    """The samples of one scrape."""

    def __init__(self, text: str) -> None:
        self._samples: Samples = {
            (one.name, tuple(sorted(one.labels.items()))): one.value
            for family in text_string_to_metric_families(text)
            for one in family.samples
        }

    def get(self, name: str, /, **labels: str) -> float:
        """The value of one series."""
        return self._samples[name, tuple(sorted(labels.items()))]

    def find(self, name: str, /, **labels: str) -> float | None:
        return self._samples.get((name, tuple(sorted(labels.items()))))

    @property
    def names(self) -> set[str]:
        return {name for name, _ in self._samples}

    @property
    def labels(self) -> set[str]:
        return {value for _, labels in self._samples for _, value in labels}


async def scrape(client: httpx.AsyncClient, token: str) -> Metrics:
    response = await client.get("/metrics", headers={"Authorization": f"Bearer {token}"})
    assert response.status_code == 200, response.text
    return Metrics(response.text)
