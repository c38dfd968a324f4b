"""The receipts URL: one for each integration, with a token that cannot be guessed."""

import base64

from clarion.ids import EnvironmentId, IntegrationId, id_text
from clarion.integrations.callbacks import receipts_tokens, receipts_url
from clarion.vault import Vault

ENVIRONMENT = EnvironmentId(bytes(16))
ONE, OTHER = IntegrationId(bytes([1] * 16)), IntegrationId(bytes([2] * 16))


def key(number: int) -> str:
    return f"k{number}:{base64.b64encode(bytes([number] * 32)).decode()}"


def test_the_address_names_the_integration_and_holds_its_token() -> None:
    vault = Vault.parse(key(1))
    url = receipts_url("https://api.example.com/clarion/", vault, ENVIRONMENT, ONE)
    (token,) = receipts_tokens(vault, ENVIRONMENT, ONE)

    path = f"/v2/inbound-webhooks/delivery-providers/{id_text(ENVIRONMENT)}/{id_text(ONE)}"
    assert url == f"https://api.example.com/clarion{path}?token={token}"
    assert len(token) == 22


def test_tokens_differ_by_integration_and_by_installation() -> None:
    first, second = Vault.parse(key(1)), Vault.parse(key(2))

    assert receipts_tokens(first, ENVIRONMENT, ONE) == receipts_tokens(first, ENVIRONMENT, ONE)
    assert receipts_tokens(first, ENVIRONMENT, ONE) != receipts_tokens(first, ENVIRONMENT, OTHER)
    assert receipts_tokens(first, ENVIRONMENT, ONE) != receipts_tokens(second, ENVIRONMENT, ONE)


def test_addresses_that_were_given_out_stay_right_after_a_new_key_and_as_long_as_the_old_one_is_there() -> None:
    (before,) = receipts_tokens(Vault.parse(key(1)), ENVIRONMENT, ONE)
    after = receipts_tokens(Vault.parse(f"{key(2)},{key(1)}"), ENVIRONMENT, ONE)

    assert after[0] != before
    assert after[1] == before
