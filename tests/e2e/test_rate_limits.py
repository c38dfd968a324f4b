"""Rate limits over several API processes that share a store."""

from pathlib import Path

from tests.processes import Start

BURST = 20


async def test_two_processes_accept_together_what_one_may(
    start: Start, fresh_postgres_url: str, tmp_path: Path
) -> None:
    store = ["--database-url", fresh_postgres_url, "--data-dir", str(tmp_path / "data")]
    # So slow that nothing is refilled during the test.
    limits = f"global=0.001/s burst {BURST}"
    first = start("serve", *store, CLARION_RATE_LIMITS=limits)
    second = start("api", *store, CLARION_RATE_LIMITS=limits)
    key = first.keys["Development"]

    async with first.client(key) as one, second.client(key) as other:
        statuses = [(await client.get("/v2/subscribers")).status_code for client in (one, other, other) * BURST]

    assert statuses == [200] * BURST + [429] * (2 * BURST)
