"""Topics with very many members, written directly into the store, because over HTTP that takes minutes.

The API creates the first member. All others are copies of its rows with new ids, keys and addresses.
"""

from collections.abc import Iterator, Sequence

from bench.content import ensure_topic
from bench.systems import System
from bench.writers import Row, Writer, open_writer

_FIRST = "member-0"


async def make_crowd(system: System, count: int, topics: dict[str, int]) -> None:
    """Create `count` subscribers; the first ones become members of the topics, up to the size of each topic."""
    person = {"subscriberId": _FIRST, "firstName": "Ada", "lastName": "Lovelace", "email": "member-0@example.com"}
    await system.request("POST", "/v2/subscribers", person)
    for topic in topics:
        await ensure_topic(system, topic, [_FIRST])
    async with open_writer(system) as store:
        first = await store.find("SELECT * FROM subscribers WHERE key = {}", _FIRST)
        people = list(_copies(first, count - 1, store))
        await store.insert("subscribers", people)
        for topic, size in topics.items():
            member = await store.find(
                "SELECT * FROM topic_subscriptions WHERE topic_id = (SELECT id FROM topics WHERE key = {})", topic
            )
            await store.insert("topic_subscriptions", _memberships(member, people[: size - 1], store))


def _copies(first: Row, count: int, store: Writer) -> Iterator[Row]:
    for number in range(1, count + 1):
        key = f"member-{number}"
        changed = {"id": store.make_id(), "key": key, "email": f"{key}@example.com"}
        # Row numbers of the text index, far above those in use.
        yield first | changed | {"search_row": first["search_row"] + 1_000_000 + number}


def _memberships(member: Row, people: Sequence[Row], store: Writer) -> list[Row]:
    return [member | {"id": store.make_id(), "subscriber_id": person["id"]} for person in people]
