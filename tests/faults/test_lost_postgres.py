"""PostgreSQL is lost, takes no writes or has no connection left: 503, and recovery without a restart."""

import asyncio

import asyncpg
import httpx

from clarion.db.postgres.pulse import SLOW_SECONDS
from tests.faults.conftest import Accepted, Cluster, wait_for_status

END_SESSIONS = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


def check_refusal(response: httpx.Response) -> None:
    assert response.status_code == 503, response.text
    assert int(response.headers["retry-after"]) >= 1
    assert response.json()["error"] == "Service Unavailable"


async def test_a_lost_postgresql_is_a_503_until_it_is_back(cluster: Cluster) -> None:
    async with cluster.client() as client:
        triggers = Accepted(client, "lost")
        assert (await triggers.trigger("before")).status_code == 201

        await cluster.proxy.close()
        refused = await asyncio.gather(*(triggers.trigger(f"during-{n}") for n in range(20)))
        reading = await client.get("/v2/subscribers")
        await cluster.proxy.open()
        await wait_for_status(201, lambda: triggers.trigger("after"))
        # Each can be sent again: none was written.
        again = [await triggers.trigger(f"during-{n}") for n in range(20)]
        await triggers.wait_until_done()

    for one in (*refused, reading):
        check_refusal(one)
    assert {one.status_code for one in again} == {201}
    assert cluster.is_running()


async def test_a_postgresql_that_takes_no_writes_is_a_503_and_is_still_read(cluster: Cluster) -> None:
    async with cluster.client() as client:
        triggers = Accepted(client, "read-only")
        name = cluster.url.partition("?")[0].rpartition("/")[2]
        await cluster.run_sql(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
        await cluster.run_sql(END_SESSIONS)
        await wait_for_status(200, lambda: client.get("/v2/subscribers"))
        refused = await triggers.trigger("during")
        person = await client.post("/v2/subscribers", json={"subscriberId": "never"})

        # Sessions that have begun stay as they are.
        await cluster.run_sql(f"ALTER DATABASE {name} RESET default_transaction_read_only")
        await wait_for_status(201, lambda: triggers.trigger("after"))
        await triggers.wait_until_done()
        missing = await client.get("/v2/subscribers/never")

    check_refusal(refused)
    check_refusal(person)
    assert missing.status_code == 404
    assert cluster.is_running()


async def test_requests_that_find_no_connection_in_the_pool_get_a_503(cluster: Cluster) -> None:
    blocking = await asyncpg.connect(cluster.url)
    async with cluster.client() as client:
        async with blocking.transaction():
            await blocking.execute("LOCK TABLE topics IN ACCESS EXCLUSIVE MODE")
            stuck = [asyncio.create_task(client.get("/v2/topics")) for _ in range(2)]
            refused = await wait_for_status(503, lambda: client.get("/v2/subscribers"))
        done = await asyncio.gather(*stuck)
        after = await client.get("/v2/subscribers")
    await blocking.close()

    check_refusal(refused)
    assert [one.status_code for one in (*done, after)] == [200, 200, 200]


async def test_a_postgresql_that_does_not_answer_is_a_503_within_seconds_until_it_does(cluster: Cluster) -> None:
    """As when its process is stopped, or the network drops packets: no connection is closed."""
    async with cluster.client() as client:
        triggers = Accepted(client, "hanging")
        assert (await triggers.trigger("before")).status_code == 201
        await triggers.wait_until_done()

        cluster.proxy.freeze()
        # Without a limit of its own a statement waits for a minute.
        async with asyncio.timeout(15):
            refused = await asyncio.gather(
                *(triggers.trigger(f"during-{n}") for n in range(20)), client.get("/v2/subscribers")
            )
            unready = await client.get("/ready")
            at_once = await client.get("/v2/topics")
        cluster.proxy.thaw()
        await wait_for_status(200, lambda: client.get("/ready"))
        await wait_for_status(201, lambda: triggers.trigger("after"))
        again = [await triggers.trigger(f"during-{n}") for n in range(20)]
        await triggers.wait_until_done()

    for one in (*refused, at_once):
        check_refusal(one)
    assert unready.status_code == 503
    assert {one.status_code for one in again} == {201}
    assert cluster.is_running()


async def test_a_slow_statement_is_waited_for_while_postgresql_answers(cluster: Cluster) -> None:
    blocking = await asyncpg.connect(cluster.url)
    async with cluster.client() as client:
        async with blocking.transaction():
            await blocking.execute("LOCK TABLE topics IN ACCESS EXCLUSIVE MODE")
            stuck = asyncio.create_task(client.get("/v2/topics"))
            await asyncio.sleep(3 * SLOW_SECONDS)
            beside = await client.get("/v2/subscribers")
        waited = await stuck
    await blocking.close()

    assert (beside.status_code, waited.status_code) == (200, 200)
