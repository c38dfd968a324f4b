"""Tokens of links prove what they are about: any other purpose, environment, secret or byte makes them worthless."""

from hypothesis import given
from hypothesis import strategies as st

from clarion.content.links import LinkPurpose, LinkSecret, read_environment_id, read_link, sign_link
from clarion.ids import EnvironmentId

ids = st.binary(min_size=16, max_size=16).map(EnvironmentId)
secrets = st.builds(LinkSecret, ids, st.binary(min_size=32, max_size=32))
purposes = st.sampled_from(LinkPurpose)


@given(secret=secrets, purpose=purposes, data=st.binary(max_size=200))
def test_a_token_gives_its_data_and_environment_back(secret: LinkSecret, purpose: LinkPurpose, data: bytes) -> None:
    token = sign_link(secret, purpose, data)

    assert read_link(secret, purpose, token) == data
    assert read_environment_id(token) == secret.environment_id
    assert token.replace("-", "").replace("_", "").isalnum()
    assert token.isascii()


@given(secret=secrets, other=secrets, purpose=purposes, data=st.binary(max_size=40))
def test_a_token_is_of_one_purpose_and_one_secret(
    secret: LinkSecret, other: LinkSecret, purpose: LinkPurpose, data: bytes
) -> None:
    token = sign_link(secret, purpose, data)

    assert all((read_link(secret, one, token) is None) == (one is not purpose) for one in LinkPurpose)
    assert (read_link(other, purpose, token) is None) == (other != secret)


@given(secret=secrets, environment_id=ids, data=st.binary(max_size=40))
def test_a_token_is_of_one_environment(secret: LinkSecret, environment_id: EnvironmentId, data: bytes) -> None:
    token = sign_link(secret, LinkPurpose.CLICK, data)
    neighbour = LinkSecret(environment_id, secret.key)

    assert (read_link(neighbour, LinkPurpose.CLICK, token) is None) == (neighbour != secret)


@given(secret=secrets, data=st.binary(max_size=40), draw=st.data())
def test_no_other_text_is_taken_for_a_token(secret: LinkSecret, data: bytes, draw: st.DataObject) -> None:
    token = sign_link(secret, LinkPurpose.UNSUBSCRIBE, data)
    position = draw.draw(st.integers(0, len(token) - 1))
    changed = draw.draw(
        st.one_of(
            st.characters().map(lambda one: token[:position] + one + token[position + 1 :]),
            st.just(token[:position]),
            st.text(min_size=1, max_size=5).map(lambda one: token + one),
            st.text(max_size=150),
        )
    )

    assert read_link(secret, LinkPurpose.UNSUBSCRIBE, changed) is None or changed == token


@given(text=st.text(max_size=100))
def test_any_text_is_read_without_an_error(text: str) -> None:
    found = read_environment_id(text)

    assert found is None or len(found) == 16


def test_a_secret_does_not_print_itself() -> None:
    secret = LinkSecret(EnvironmentId(bytes(16)), b"very secret")

    assert "secret'" not in f"{secret} {secret!r} {[secret]}"


def test_a_token_that_was_sent_once_is_valid_in_all_versions() -> None:
    secret = LinkSecret(EnvironmentId(bytes(range(16))), bytes(32))

    assert read_link(secret, LinkPurpose.UNSUBSCRIBE, "AAECAwQFBgcICQoLDA0ODwFhYmMlrJzhXOW17AgyUOCw-VCn") == b"abc"
