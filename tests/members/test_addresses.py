"""Addresses of members are compared by one strict rule, wherever they come from."""

import pytest

from clarion.db.port import Database
from clarion.db.query import sql
from clarion.errors import Invalid
from clarion.members.model import find_address, read_address
from clarion.vocabulary import Role
from tests.cli.support import run_here
from tests.members.support import PASSWORD, SignIn
from tests.support import Site

KELVIN = "\u212a"
STRANGE = [
    f"{KELVIN}im@example.com",
    f"kim@example.com{KELVIN}",
    "kim@example.com\n",
    "kim\n@example.com",
    "kim@example.com\r\nBcc: eve@example.com",
    " kim@example.com",
    "kim@example.com\u00a0",
    "k\u0456m@example.com",
    "\uff4bim@example.com",
    "kim@ex\u00e4mple.com",
    "kim\u0000@example.com",
    "kim",
    "",
]


@pytest.mark.parametrize("text", STRANGE, ids=ascii)
def test_an_address_that_could_be_taken_for_another_is_none(text: str) -> None:
    assert find_address(text) is None
    with pytest.raises(Invalid):
        read_address(text)


def test_addresses_differ_neither_in_case_nor_in_anything_else() -> None:
    assert find_address("Kim.O'Hara+x@Example.COM") == "kim.o'hara+x@example.com"


async def test_a_sign_that_folds_to_a_letter_does_not_sign_in(
    make_browser: SignIn, open_browser: SignIn, database: Database
) -> None:
    member = (await make_browser(Role.VIEWER)).member
    await database.transaction(
        lambda db: db.execute(sql("UPDATE members SET email = 'kim@example.com' WHERE id = :id"), id=member.id)
    )
    browser = await open_browser()

    async def sign_in(email: str) -> int:
        return (await browser.post("/v1/auth/sign-in", json={"email": email, "password": PASSWORD})).status_code

    answers = [await sign_in(one) for one in (f"{KELVIN}im@example.com", "kim@example.com\n", "KIM@example.com")]
    await database.transaction(lambda db: db.execute(sql("DELETE FROM members WHERE id = :id"), id=member.id))

    assert answers == [401, 401, 200]


@pytest.mark.parametrize("email", [f"{KELVIN}im@example.com", "kim@example.com\n"], ids=ascii)
async def test_nobody_with_such_an_address_is_invited_or_asks_for_a_password(
    make_browser: SignIn, site: Site, email: str
) -> None:
    owner = await make_browser(Role.OWNER, site.development)

    invited = await owner.post("/v1/members/invitations", json={"email": email, "role": "viewer"})
    asked = await owner.post("/v1/auth/reset-request", json={"email": email})

    for answer in (invited, asked):
        assert (answer.status_code, list(answer.json()["errors"])) == (422, ["email"])


def test_the_command_line_has_the_same_rule() -> None:
    for command in (["create", "--no-password"], ["invite"]):
        refused = run_here("members", *command, f"{KELVIN}im@example.com")
        assert "ASCII" in str(refused.exception)
