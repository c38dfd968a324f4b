"""A key that manages keys grants, changes and revokes no more than it has itself."""

from typing import Any

import pytest

from clarion.clock import DAY, HOUR, ManualClock, Millis, iso_text
from clarion.db.port import Database
from clarion.environments import actions
from clarion.environments.model import Environment
from clarion.ids import id_text
from clarion.vault import Vault
from clarion.vocabulary import Scope
from tests.support import Api, MakeApi, Site

KEYS = "/v1/environments/api-keys"
MANAGER = frozenset({Scope.ENVIRONMENTS_WRITE, Scope.ENVIRONMENTS_READ, Scope.TOPICS_READ})

# The scopes of the key that is asked for or acted on, and those that the manager lacks.
MATRIX = [
    (["topics:read"], []),
    (["environments:write"], []),
    (["environments:write", "environments:read", "topics:read"], []),
    (["topics:write"], ["topics:write"]),
    (["topics:read", "topics:write", "subscribers:read"], ["subscribers:read", "topics:write"]),
    (["all"], ["all"]),
    (["topics:read", "all"], ["all"]),
]


class _Keys:
    """Makes keys as the operator does, and clients that hold them."""

    def __init__(self, api: Api, database: Database, vault: Vault, clock: ManualClock) -> None:
        self._api, self._database, self._vault, self._clock = api, database, vault, clock

    async def make(self, scopes: Any, lives: int | None = None) -> tuple[str, dict[str, str]]:
        """The path of a new key, and the headers that use it."""
        now = self._clock.now()
        request = actions.KeyRequest(
            name="a key",
            scopes=frozenset(map(Scope, scopes)),
            expires_at=None if lives is None else Millis(now + lives),
        )
        environment: Environment = self._api.environment
        made = await self._database.transaction(
            lambda db: actions.create_api_key(db, environment.id, request, vault=self._vault, now=now)
        )
        return f"{KEYS}/{id_text(made.record.id)}", {"Authorization": f"ApiKey {made.text}"}


@pytest.fixture
def keys(api: Api, database: Database, vault: Vault, clock: ManualClock) -> _Keys:
    return _Keys(api, database, vault, clock)


@pytest.mark.parametrize(("scopes", "missing"), MATRIX)
async def test_a_key_grants_changes_and_revokes_only_scopes_that_it_has(
    api: Api, keys: _Keys, scopes: list[str], missing: list[str]
) -> None:
    _, manager = await keys.make(MANAGER)
    target, headers = await keys.make(scopes)

    answers = [
        await api.post(KEYS, json={"name": "more", "scopes": scopes}, headers=manager),
        await api.patch(target, json={"name": "renamed"}, headers=manager),
        await api.patch(target, json={"expiresAt": "2026-01-01T00:00:01Z"}, headers=manager),
        await api.delete(target, headers=manager),
    ]
    still_works = await api.get("/v1/environments/me", headers=headers)

    if missing:
        assert [one.status_code for one in answers] == [403] * 4
        assert [one.json()["ctx"] for one in answers] == [{"missingScopes": missing}] * 4
        assert all(", ".join(missing) in one.json()["message"] for one in answers)
        assert still_works.status_code != 401
    else:
        assert [one.status_code for one in answers] == [201, 200, 200, 204]
        assert still_works.status_code == 401


async def test_a_key_that_may_everything_manages_every_key(api: Api, keys: _Keys) -> None:
    for scopes, _ in MATRIX:
        target, _ = await keys.make(scopes)
        assert (await api.patch(target, json={"name": "renamed"})).status_code == 200
        assert (await api.delete(target)).status_code == 204


@pytest.mark.parametrize("wanted", [None, 2 * DAY, DAY + 1])
async def test_an_expiring_key_lets_no_key_live_longer_than_itself(
    api: Api, keys: _Keys, clock: ManualClock, wanted: int | None
) -> None:
    own, expiring = await keys.make(["all"], DAY)
    other, _ = await keys.make(["topics:read"], HOUR)
    body = {"expiresAt": None if wanted is None else iso_text(Millis(clock.now() + wanted))}

    answers = [
        await api.post(KEYS, json={"name": "more", **body}, headers=expiring),
        await api.patch(own, json=body, headers=expiring),
        await api.patch(other, json=body, headers=expiring),
    ]
    stored = {one["_id"]: one.get("expiresAt") for one in (await api.get(KEYS)).json()}

    ends = iso_text(Millis(clock.now() + DAY))
    assert [one.status_code for one in answers] == [403] * 3
    assert all(ends in one.json()["message"] and one.json()["ctx"] == {"expiresAt": ends} for one in answers)
    assert stored[own.rpartition("/")[2]] == ends
    assert len(stored) == 3


async def test_what_an_expiring_key_makes_expires_with_it_unless_earlier(
    api: Api, keys: _Keys, clock: ManualClock
) -> None:
    own, expiring = await keys.make(["all"], DAY)
    earlier = iso_text(Millis(clock.now() + HOUR))

    silent = await api.post(KEYS, json={"name": "with its maker"}, headers=expiring)
    sooner = await api.post(KEYS, json={"name": "sooner", "expiresAt": earlier}, headers=expiring)
    shortened = await api.patch(own, json={"expiresAt": earlier}, headers=expiring)

    assert silent.json()["apiKey"]["expiresAt"] == iso_text(Millis(clock.now() + DAY))
    assert sooner.json()["apiKey"]["expiresAt"] == shortened.json()["expiresAt"] == earlier


async def test_a_key_that_never_expires_makes_others_like_it(api: Api) -> None:
    for body in ({}, {"expiresAt": None}):
        made = await api.post(KEYS, json={"name": "for ever", **body})
        assert "expiresAt" not in made.json()["apiKey"]


async def test_an_expiring_key_is_not_shown_what_was_answered_to_one_that_lasts(api: Api, keys: _Keys) -> None:
    _, expiring = await keys.make(["all"], DAY)
    again = {"Idempotency-Key": "make-a-key"}
    made = await api.post(KEYS, json={"name": "CI"}, headers=again)

    stolen = await api.post(KEYS, json={"name": "CI"}, headers=expiring | again)

    assert made.status_code == 201
    assert stolen.status_code == 422
    assert made.json()["key"] not in stolen.text


async def test_keys_of_another_environment_stay_unknown_whatever_their_scopes(
    other_api: Api, make_api: MakeApi, site: Site
) -> None:
    made = (await other_api.post(KEYS, json={"name": "theirs"})).json()["apiKey"]
    manager = await make_api(site.development, MANAGER)

    for answer in (
        await manager.patch(f"{KEYS}/{made['_id']}", json={"name": "mine"}),
        await manager.delete(f"{KEYS}/{made['_id']}"),
    ):
        assert answer.status_code == 404
