"""An environment of its own for a test of the dashboard, and people of each role who look at it."""

import itertools
import re
from typing import Any

import httpx
from playwright.async_api import Page

from tests.browser.service import Service

PASSWORD = "correct horse battery"
COOKIE = "clarion-session"
ROLES = ("viewer", "author", "admin", "owner")

_numbers = itertools.count(1)


class Team:
    """The members of the service of the tests, one of each role; they sign in once."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.made: list[str] = []
        """The ids of environments that tests made: an organization has a limited number of them."""
        self._cookies: dict[str, str] = {}

    async def cookie_of(self, role: str) -> str:
        if not self._cookies:
            self._cookies["owner"] = await self._set_up()
        if role not in self._cookies:
            self._cookies[role] = await self._invite(role)
        return self._cookies[role]

    async def client(self, role: str, environment: str | None = None) -> httpx.AsyncClient:
        """The API as a member of the role uses it."""
        cookie = await self.cookie_of(role)
        return self.stranger(**({} if environment is None else {"Clarion-Environment": environment}), Cookie=cookie)

    def stranger(self, **headers: str) -> httpx.AsyncClient:
        """The API as somebody uses it who is not signed in."""
        address = self.service.address
        return httpx.AsyncClient(base_url=address, headers={"Origin": address, "X-Clarion": "1", **headers}, timeout=30)

    async def clear(self) -> None:
        """Delete the environments of a test that ended."""
        made, self.made = self.made, []
        async with await self.client("owner", self.service.application) as owner:
            for environment_id in made:
                await owner.delete(f"/v1/environments/{environment_id}")

    async def _set_up(self) -> str:
        found = re.search(r"/dashboard/setup#(\S+)", self.service.process.output)
        assert found, self.service.process.output
        body = {"token": found[1], "email": "owner@example.com", "name": "Olive Owner", "password": PASSWORD}
        async with self.stranger() as api:
            return _read_cookie(await api.post("/v1/auth/setup", json=body))

    async def _invite(self, role: str) -> str:
        async with await self.client("owner", self.service.application) as owner:
            answer = await owner.post("/v1/members/invitations", json={"email": f"{role}@example.com", "role": role})
        assert answer.is_success, answer.text
        token = answer.json()["link"].rpartition("#")[2]
        async with self.stranger() as api:
            body = {"token": token, "name": f"{role.title()} {role.title()}son", "password": PASSWORD}
            return _read_cookie(await api.post("/v1/auth/invitation/accept", json=body))


class Desk:
    """A new environment with its API, and its pages as members see them."""

    def __init__(self, team: Team, environment: dict[str, Any]) -> None:
        self.team = team
        self.service = team.service
        self.environment = environment
        self.identifier: str = environment["identifier"]
        self.key: str = environment["apiKeys"][0]["key"]

    def api(self) -> httpx.AsyncClient:
        """The API with a key of the environment, to prepare what a page shows."""
        headers = {"Authorization": f"ApiKey {self.key}"}
        return httpx.AsyncClient(base_url=self.service.address, headers=headers, timeout=30)

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        """The answer of the API, which must be a success."""
        async with self.api() as api:
            answer = await api.request(method, path, json=body)
        assert answer.is_success, f"{method} {path}: {answer.text}"
        return answer.json() if answer.content else None

    def address_of(self, path: str) -> str:
        return f"{self.service.address}/dashboard/e/{self.identifier}{path}"

    async def open(self, page: Page, path: str = "/", *, role: str = "owner") -> Page:
        """Show a page of the environment to a member of the role."""
        name, _, value = (await self.team.cookie_of(role)).partition("=")
        await page.context.add_cookies([{"name": name, "value": value, "url": self.service.address}])
        await page.goto(self.address_of(path))
        return page


async def make_desk(team: Team, **fields: Any) -> Desk:
    async with await team.client("owner", team.service.application) as owner:
        answer = await owner.post("/v1/environments", json={"name": f"Desk {next(_numbers)}", "type": "dev", **fields})
    assert answer.is_success, answer.text
    team.made.append(answer.json()["_id"])
    return Desk(team, answer.json())


def _read_cookie(answer: httpx.Response) -> str:
    assert answer.is_success, answer.text
    return f"{COOKIE}={answer.cookies[COOKIE]}"
