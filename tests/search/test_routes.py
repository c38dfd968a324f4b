"""One search over everything: what is found, in which order, and by whom."""

from typing import Any

import pytest

from clarion.clock import Millis
from clarion.db.port import Database
from clarion.ids import id_text, new_id
from clarion.search.model import SCOPES, SearchType
from clarion.subscribers.model import CONTACT_FIELDS
from clarion.subscribers.store import INSERT_SUBSCRIBER
from clarion.vocabulary import Scope
from tests.engine.support import in_app
from tests.records import make_job, make_message, make_notification, make_subscriber, make_trigger, make_workflow
from tests.support import Api, MakeApi, Site

PEOPLE: list[dict[str, Any]] = [
    {"subscriberId": "u1", "firstName": "Ada", "lastName": "Lovelace", "email": "ada@example.com", "phone": "+4412345"},
    {"subscriberId": "u2", "firstName": "ALAN", "lastName": "Turing", "email": "Alan@Example.com"},
    {"subscriberId": "U3", "firstName": "Émile", "lastName": "Borel"},
    {"subscriberId": "love-1", "email": "x@example.org"},
]
WORKFLOW = {"name": "Order Shipped", "workflowId": "order-shipped", "tags": ["Logistics"], "steps": [in_app("Hi")]}


async def search(api: Api, q: str, **query: Any) -> list[tuple[str, str, str, str]]:
    """Type, id, and how it matches: the field and the kind."""
    response = await api.get("/v1/search", params={"q": q, **query})
    assert response.status_code == 200, response.text
    found = response.json()["data"]
    return [(one["type"], one["id"], one["matched"]["field"], one["matched"]["kind"]) for one in found]


@pytest.fixture
async def people(api: Api) -> None:
    await api.post("/v1/subscribers/bulk", json={"subscribers": PEOPLE})


async def fill(database: Database, site: Site, count: int) -> None:
    """Insert people, so that the search uses the index."""
    rows = [
        {
            **dict.fromkeys(CONTACT_FIELDS),
            "environment_id": site.development.id,
            "id": new_id(Millis(1)),
            "key": f"filler-{number}",
            "first_name": "Filler",
            "email": f"filler{number}@example.net",
            "now": 1,
        }
        for number in range(count)
    ]
    await database.transaction(lambda db: db.execute_many(INSERT_SUBSCRIBER, rows))


CASES = [
    ("u1", ("u1", "subscriberId", "exact")),
    ("U1", ("u1", "subscriberId", "exact")),
    ("u3", ("U3", "subscriberId", "exact")),
    ("ADA@EXAMPLE.COM", ("u1", "email", "exact")),
    ("alan@ex", ("u2", "email", "prefix")),
    ("lovel", ("u1", "name", "words")),
    ("LOVELACE ada", ("u1", "name", "words")),
    ("ada love", ("u1", "name", "prefix")),
    ("alan turing", ("u2", "name", "exact")),
    ("+44 (123) 45", ("u1", "phone", "exact")),
    ("émile", ("U3", "name", "prefix")),
    ("ÉMILE", ("U3", "name", "prefix")),
]


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("others", [0, 300], ids=["few people", "many people"])
async def test_people_are_found_in_any_case(api: Api, database: Database, site: Site, others: int) -> None:
    await fill(database, site, others)

    for text, expected in CASES:
        assert ("subscriber", *expected) in await search(api, text), text
    assert await search(api, "nobody") == []
    assert await search(api, "ada nobody") == []


@pytest.mark.usefixtures("people")
async def test_results_are_ranked_exact_first_then_prefix_then_words(api: Api) -> None:
    await api.post("/v2/topics", json={"key": "love", "name": "Letters"})
    await api.post("/v2/topics", json={"key": "letters", "name": "In love"})

    assert await search(api, "love") == [
        ("topic", "love", "key", "exact"),
        ("subscriber", "love-1", "subscriberId", "prefix"),
        ("subscriber", "u1", "name", "words"),
        ("topic", "letters", "name", "words"),
    ]


async def test_a_common_text_finds_some_of_those_who_have_it(api: Api, database: Database, site: Site) -> None:
    await fill(database, site, 300)

    found = await search(api, "example.net", limit=5)

    assert len(found) == 5
    assert {one[2] for one in found} == {"email"}


async def test_workflows_integrations_and_endpoints_are_found_by_their_words(api: Api) -> None:
    made = (await api.post("/v2/workflows", json=WORKFLOW)).json()
    mail = {"providerId": "sendgrid", "channel": "email", "name": "News mail", "identifier": "news"}
    integration = (await api.post("/v1/integrations", json=mail)).json()
    hook = {"url": "http://127.0.0.1:9/billing", "description": "Invoices"}
    endpoint = (await api.post("/v1/webhooks/endpoints", json=hook)).json()

    assert await search(api, "ORDER-") == [("workflow", "order-shipped", "workflowId", "prefix")]
    assert await search(api, "shipped order") == [("workflow", "order-shipped", "workflowId", "words")]
    assert await search(api, "logistics") == [("workflow", "order-shipped", "tags.0", "exact")]
    assert await search(api, made["slug"]) == [("workflow", "order-shipped", "_id", "exact")]
    assert await search(api, "news") == [("integration", integration["_id"], "identifier", "exact")]
    assert await search(api, "sendgrid") == [("integration", integration["_id"], "providerId", "exact")]
    assert await search(api, "billing") == [("webhookEndpoint", endpoint["_id"], "url", "words")]
    assert await search(api, "invoices") == [("webhookEndpoint", endpoint["_id"], "description", "exact")]


async def test_transactions_are_found_whole_and_by_their_beginning(api: Api, database: Database, site: Site) -> None:
    for key in ("order-1", "order-12", "ORDER-2", "other"):
        await make_trigger(database, site.development, transaction=key)

    assert (await search(api, "order-1"))[0] == ("transaction", "order-1", "transactionId", "exact")
    found = await search(api, "order", types="transaction")
    assert {one[1] for one in found} == {"order-1", "order-12", "ORDER-2"}


async def test_an_id_says_what_it_is(api: Api, database: Database, site: Site) -> None:
    environment = site.development
    ada = await make_subscriber(database, environment, key="ada")
    workflow = await make_workflow(database, environment)
    trigger = await make_trigger(database, environment, workflow=workflow)
    notification = await make_notification(database, environment, trigger=trigger, subscriber=ada)
    job = await make_job(database, environment, notification=notification)
    message = await make_message(database, environment, job=job)
    await api.post("/v2/topics", json={"key": "news"})
    subscribed = await api.post("/v2/topics/news/subscriptions", json={"subscriberIds": ["ada"]})
    expected = {
        id_text(ada.id): ("subscriber", "ada"),
        id_text(workflow.id): ("workflow", workflow.key),
        id_text(workflow.version_id): ("workflowVersion", id_text(workflow.version_id)),
        id_text(trigger.id): ("transaction", trigger.transaction),
        id_text(notification.id): ("notification", id_text(notification.id)),
        id_text(job.id): ("job", id_text(job.id)),
        id_text(message.id): ("message", id_text(message.id)),
        subscribed.json()["data"][0]["_id"]: ("subscription", subscribed.json()["data"][0]["_id"]),
        subscribed.json()["data"][0]["topic"]["_id"]: ("topic", "news"),
    }
    for text, (kind, reference) in expected.items():
        assert await search(api, text.upper()) == [(kind, reference, "_id", "exact")]


async def test_what_has_no_page_of_its_own_says_what_it_belongs_to(api: Api, database: Database, site: Site) -> None:
    environment = site.development
    ada = await make_subscriber(database, environment, key="ada")
    workflow = await make_workflow(database, environment)
    trigger = await make_trigger(database, environment, workflow=workflow)
    run = await make_notification(database, environment, trigger=trigger, subscriber=ada)
    job = await make_job(database, environment, notification=run)
    message = await make_message(database, environment, job=job)
    await api.post("/v2/topics", json={"key": "news"})
    subscribed = await api.post("/v2/topics/news/subscriptions", json={"subscriberIds": ["ada"]})
    expected = {
        id_text(job.id): {"type": "notification", "id": id_text(run.id)},
        id_text(message.id): {"type": "notification", "id": id_text(run.id)},
        id_text(workflow.version_id): {"type": "workflow", "id": workflow.key},
        subscribed.json()["data"][0]["_id"]: {"type": "topic", "id": "news"},
        id_text(run.id): None,
    }

    for text, parent in expected.items():
        (found,) = (await api.get("/v1/search", params={"q": text})).json()["data"]
        assert found.get("parent") == parent


async def test_another_environment_finds_nothing(api: Api, other_api: Api, database: Database, site: Site) -> None:
    await api.post("/v1/subscribers/bulk", json={"subscribers": PEOPLE})
    ada = (await api.get("/v2/subscribers/u1")).json()
    await make_trigger(database, site.development, transaction="order-1")
    await api.post("/v2/workflows", json=WORKFLOW)

    for text in ("ada", ada["_id"], "order"):
        assert await search(other_api, text) == []
        assert await search(api, text) != []


@pytest.mark.usefixtures("people")
async def test_only_what_the_scopes_of_the_key_may_read_is_found(api: Api, make_api: MakeApi) -> None:
    await api.post("/v2/topics", json={"key": "ada"})
    reader = await make_api(scopes=frozenset({Scope.SEARCH_READ, Scope.TOPICS_READ}))
    ada = (await api.get("/v2/subscribers/u1")).json()

    response = await reader.get("/v1/search", params={"q": "ada"})
    asked = await reader.get("/v1/search", params={"q": "ada", "types": "subscriber"})

    assert [one["type"] for one in response.json()["data"]] == ["topic"]
    assert response.json()["searched"] == ["topic", "subscription"]
    assert (asked.status_code, "subscribers:read" in asked.json()["message"]) == (403, True)
    assert await search(reader, ada["_id"]) == []
    assert (await (await make_api(scopes=frozenset({Scope.TOPICS_READ}))).get("/v1/search?q=a")).status_code == 403


@pytest.mark.usefixtures("people")
async def test_types_and_limit_narrow_the_search(api: Api) -> None:
    await api.post("/v2/topics", json={"key": "ada"})

    assert [one[0] for one in await search(api, "ada", types=["topic", "workflow"])] == ["topic"]
    assert len(await search(api, "u", limit=1)) == 1


@pytest.mark.parametrize("query", [{"q": " "}, {"q": "x" * 201}, {}, {"q": "a", "limit": 51}, {"q": "a", "types": "x"}])
async def test_a_search_that_makes_no_sense_is_refused(api: Api, query: dict[str, Any]) -> None:
    assert (await api.get("/v1/search", params=query)).status_code == 422


@pytest.mark.parametrize(
    "text", ['"', "%", "_", "\\", "'", "*", "a AND", '"a" OR', "()", "a" * 200, "🙂🙂🙂", "\ud7ff"]
)
async def test_no_text_breaks_the_search(api: Api, database: Database, site: Site, text: str) -> None:
    await fill(database, site, 250)

    assert isinstance(await search(api, text), list)


def test_every_type_has_a_scope() -> None:
    assert SCOPES.keys() == set(SearchType)
