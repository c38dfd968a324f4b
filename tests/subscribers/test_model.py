"""How credentials merge."""

from hypothesis import given
from hypothesis import strategies as st

from clarion.subscribers.model import append_credentials, replace_credentials

tokens = st.lists(st.sampled_from("abcdef"), max_size=6)


def test_omitted_members_are_kept_and_others_overlaid() -> None:
    stored = {"webhookUrl": "https://a", "title": "old", "deviceTokens": ["t1"]}

    assert append_credentials(stored, {"title": "new"}) == {**stored, "title": "new"}
    assert append_credentials(stored, {"deviceTokens": []}) == stored


@given(tokens, tokens)
def test_appending_unites_tokens_in_order(stored: list[str], supplied: list[str]) -> None:
    merged = append_credentials({"deviceTokens": stored}, {"deviceTokens": supplied})["deviceTokens"]

    assert merged == list(dict.fromkeys(stored + supplied))
    assert append_credentials({"deviceTokens": merged}, {"deviceTokens": supplied})["deviceTokens"] == merged


@given(tokens, tokens)
def test_replacing_keeps_nothing(stored: list[str], supplied: list[str]) -> None:
    replaced = replace_credentials({"deviceTokens": stored, "title": "old"}, {"deviceTokens": supplied})

    assert replaced == {"deviceTokens": list(dict.fromkeys(supplied))}
