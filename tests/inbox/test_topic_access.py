"""Which topics people may subscribe to themselves, and which they may make."""

import asyncio

from clarion.topics.model import MAX_TOPICS_PER_PERSON
from tests.inbox.conftest import MakePerson, Person
from tests.inbox.topic_support import DEFAULT, OWN, make_workflow, problems, subscribe
from tests.support import Api


async def topic_keys(api: Api) -> list[str]:
    return [one["key"] for one in (await api.get("/v2/topics?limit=100")).json()["data"]]


async def forbid_new_topics(api: Api) -> None:
    environment = (await api.get("/v1/environments/me")).json()
    changed = await api.patch(f"/v1/environments/{environment['_id']}", json={"subscribersCreateTopics": False})
    assert changed.json()["subscribersCreateTopics"] is False, changed.text


async def test_a_topic_of_the_application_is_closed_to_people_until_it_is_marked_open(ada: Person, api: Api) -> None:
    created = (await api.post("/v2/topics", json={"key": "news", "name": "Secret news"})).json()
    refused = await ada.post(OWN, json={})

    assert created["isOpen"] is False
    assert problems(refused) == ["topicKey"]
    assert "Secret" not in refused.text
    assert (await ada.get(OWN)).json() == {"data": []}
    opened = await api.patch("/v2/topics/news", json={"isOpen": True})
    assert (opened.json()["isOpen"], opened.json()["name"]) == (True, "Secret news")
    assert (await ada.post(OWN, json={})).status_code == 201
    assert (await api.patch("/v2/topics/news", json={"isOpen": False})).json()["isOpen"] is False
    assert (await ada.get(f"{OWN}/{DEFAULT}")).status_code == 200


async def test_a_topic_that_the_application_makes_by_subscribing_people_is_closed(
    ada: Person, api: Api, make_person: MakePerson
) -> None:
    await make_person("bob")
    await api.post("/v2/topics/news/subscriptions", json={"subscriberIds": ["bob"]})

    assert problems(await ada.post(OWN, json={})) == ["topicKey"]


async def test_who_was_subscribed_by_the_application_may_change_and_leave_a_closed_topic(ada: Person, api: Api) -> None:
    await make_workflow(api, "digest")
    await api.post("/v2/topics/news/subscriptions", json={"subscriberIds": ["ada"]})

    changed = await ada.post(OWN, json={"name": "Mine", "preferences": [{"workflowId": "digest", "enabled": False}]})
    patched = await ada.patch(f"{OWN}/{DEFAULT}", json={"name": "Still mine"})
    left = await ada.delete(f"{OWN}/{DEFAULT}")

    assert (changed.status_code, patched.status_code, left.status_code) == (201, 200, 200)
    assert changed.json()["data"]["name"] == "Mine"
    assert problems(await ada.post(OWN, json={})) == ["topicKey"]
    assert await topic_keys(api) == ["news"]


async def test_a_topic_that_a_person_makes_is_open_to_others(ada: Person, api: Api, make_person: MakePerson) -> None:
    await subscribe(ada, topic="project-1")
    bob = await make_person("bob")

    assert (await api.get("/v2/topics/project-1")).json()["isOpen"] is True
    assert (await subscribe(bob, topic="project-1"))["identifier"] == "tk_project-1:si_bob"


async def test_a_person_makes_at_most_ten_topics(ada: Person, api: Api, make_person: MakePerson) -> None:
    for number in range(MAX_TOPICS_PER_PERSON):
        await subscribe(ada, topic=f"own-{number}")
    await subscribe(await make_person("bob"), topic="other")

    refused = await ada.post("/v1/inbox/topics/one-more/subscriptions", json={})

    assert problems(refused) == ["topicKey"]
    assert "one-more" not in await topic_keys(api)
    assert (await ada.post("/v1/inbox/topics/other/subscriptions", json={})).status_code == 201
    assert (await ada.post("/v1/inbox/topics/own-3/subscriptions", json={"name": "x"})).status_code == 201
    await ada.delete("/v1/inbox/topics/own-3/subscriptions/tk_own-3:si_ada")
    assert (await ada.post("/v1/inbox/topics/one-more/subscriptions", json={})).status_code == 201


async def test_topics_made_at_the_same_time_are_counted(ada: Person, api: Api) -> None:
    paths = [f"/v1/inbox/topics/own-{number}/subscriptions" for number in range(MAX_TOPICS_PER_PERSON + 4)]

    answers = await asyncio.gather(*[ada.post(path, json={}) for path in paths])

    assert sorted(one.status_code for one in answers) == [201] * MAX_TOPICS_PER_PERSON + [422] * 4
    assert len(await topic_keys(api)) == MAX_TOPICS_PER_PERSON


async def test_a_topic_of_people_goes_with_its_last_subscription(
    ada: Person, api: Api, make_person: MakePerson
) -> None:
    bob = await make_person("bob")
    for person in (ada, bob):
        await subscribe(person)

    await ada.delete(f"{OWN}/{DEFAULT}")
    assert await topic_keys(api) == ["news"]
    await bob.delete(f"{OWN}/tk_news:si_bob")
    assert await topic_keys(api) == []


async def test_making_topics_can_be_forbidden_and_closed_ones_are_not_told_from_unknown_ones(
    ada: Person, api: Api
) -> None:
    await subscribe(ada, topic="mine")
    await api.post("/v2/topics", json={"key": "open", "isOpen": True})
    await api.post("/v2/topics", json={"key": "closed"})
    await forbid_new_topics(api)

    closed, unknown = [
        await ada.post(f"/v1/inbox/topics/{key}/subscriptions", json={}) for key in ("closed", "unknown")
    ]

    assert problems(closed) == problems(unknown) == ["topicKey"]
    assert closed.json()["message"] == unknown.json()["message"]
    assert closed.text.split("errors")[1].replace("closed", "") == unknown.text.split("errors")[1].replace(
        "unknown", ""
    )
    assert sorted(await topic_keys(api)) == ["closed", "mine", "open"]
    for key in ("mine", "open"):
        assert (await ada.post(f"/v1/inbox/topics/{key}/subscriptions", json={})).status_code == 201


async def test_what_an_erased_person_made_stays_for_the_others(ada: Person, api: Api, make_person: MakePerson) -> None:
    await subscribe(ada)
    bob = await make_person("bob")
    await subscribe(bob)

    erased = await api.delete("/v2/subscribers/ada")

    assert erased.status_code == 200
    assert await topic_keys(api) == ["news"]
    assert (await bob.get(OWN)).json()["data"][0]["identifier"] == "tk_news:si_bob"
