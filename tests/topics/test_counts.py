"""Topics with the number of their members, if it is asked for."""

from clarion.db.port import Connection, Database
from clarion.ids import TopicId, find_id
from clarion.topics.model import MemberCount
from clarion.topics.store import count_members
from tests.support import Api, Site


async def test_members_are_counted_if_asked_for(api: Api) -> None:
    people = [{"subscriberId": key} for key in ("ada", "alan", "grace")]
    await api.post("/v1/subscribers/bulk", json={"subscribers": people})
    await api.post("/v2/topics/news/subscriptions", json={"subscriberIds": ["ada", "alan", "grace"]})
    await api.post("/v2/topics", json={"key": "empty"})

    counted = (await api.get("/v2/topics", params={"includeCounts": "true"})).json()["data"]
    plain = (await api.get("/v2/topics")).json()["data"]
    one = (await api.get("/v2/topics/news", params={"includeCounts": "true"})).json()

    assert {topic["key"]: topic["memberCount"] for topic in counted} == {"news": 3, "empty": 0}
    assert not any(topic["memberCountCapped"] for topic in counted)
    assert all("memberCount" not in topic for topic in plain)
    assert (one["memberCount"], one["memberCountCapped"]) == (3, False)
    assert "memberCount" not in (await api.get("/v2/topics/news")).json()


async def test_counting_ends_at_its_limit(api: Api, database: Database, site: Site) -> None:
    await api.post("/v1/subscribers/bulk", json={"subscribers": [{"subscriberId": f"p{n}"} for n in range(5)]})
    made = await api.post("/v2/topics/news/subscriptions", json={"subscriberIds": [f"p{n}" for n in range(5)]})
    topic_id = TopicId(find_id(made.json()["data"][0]["topic"]["_id"]) or b"")

    async def count(db: Connection) -> dict[TopicId, MemberCount]:
        return await count_members(db, site.development.id, [topic_id], limit=3)

    assert await database.read(count) == {topic_id: MemberCount(3, True)}
