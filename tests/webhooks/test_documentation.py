"""The examples and claims of the user documentation hold."""

import re
import time
from pathlib import Path
from typing import Any

from clarion.webhooks.model import EventType, new_secret
from clarion.webhooks.posting import sign

PAGE = (Path(__file__).parents[2] / "docs" / "webhooks.md").read_text()


def test_the_example_tells_genuine_events_from_others() -> None:
    names: dict[str, Any] = {}
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(example, names)
    secret, body = new_secret(), b'{"type":"message.sent"}'
    named = {"webhook-id": "evt", "webhook-timestamp": str(int(time.time()))}
    headers = named | {"webhook-signature": sign(named, body, [new_secret().key, secret.key])}
    old = named | {"webhook-timestamp": "1600000000"}

    assert names["is_genuine"](secret.text, headers, body)
    assert not names["is_genuine"](secret.text, headers, body + b" ")
    assert not names["is_genuine"](new_secret().text, headers, body)
    assert not names["is_genuine"](secret.text, old | {"webhook-signature": sign(old, body, [secret.key])}, body)


def test_every_event_type_is_on_the_page() -> None:
    assert [one for one in EventType if f"`{one}`" not in PAGE] == []
