"""Passwords are hashed with Argon2id; somebody who is no member costs the same work."""

from clarion.members.sessions.passwords import Passwords


async def test_only_the_right_password_has_the_hash() -> None:
    passwords = Passwords()
    stored = await passwords.hash("correct horse battery")

    assert stored.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert await passwords.check("correct horse battery", stored)
    assert not await passwords.check("correct horse batterx", stored)
    assert not await passwords.check("correct horse battery", None)


async def test_the_same_password_has_another_hash_each_time() -> None:
    passwords = Passwords()

    assert await passwords.hash("correct horse battery") != await passwords.hash("correct horse battery")
