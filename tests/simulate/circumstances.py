"""Random circumstances of a trigger: workflows of all step types, what people want, what is under way, what is broken.

They are made from a seed and not drawn piece by piece: Hypothesis prefers small values, and would seldom come to a
digest that is under way, with a step behind it that reaches someone.
"""

from random import Random
from typing import Any

from hypothesis import strategies as st
from msgspec import Struct

from clarion.clock import DAY, HOUR, MINUTE

TEXTS = (
    "{{payload.n}} for {{subscriber.firstName}}",
    *["{{step.total_count}}: {% for event in step.events %}{{event.n}} {% endfor %}"] * 3,
    "{{steps.wait-for-2.matched}} {{steps.wait-for-3.data.n}} {{steps.wait-for-2.at}}",
    "{{steps.branch-0.path}} {{steps.custom-0.plan}} in {{payload.room}}, {{actor.firstName}}",
)
BROKEN_TEXT = "{{ payload.n | divided_by: payload.zero }}"
LENGTHS = ((10, "minutes"), (2, "hours"), (1, "days"))
CRONS = ("0 9 * * *", "*/30 * * * *", "0 12 * * 1")
GAPS = (0, MINUTE, MINUTE, 5 * MINUTE, 2 * HOUR, DAY)
CHANNELS = ("in_app", "email", "email", "sms", "chat", "push")
DELAYS = ("regular", "timed", "scheduled", "dynamic")
MOMENTS = (0, MINUTE, 2 * HOUR, 3 * HOUR, DAY, 2 * DAY)
UNTIL = 9 * DAY


class Circumstances(Struct, frozen=True, kw_only=True):
    steps: list[dict[str, Any]]
    person: dict[str, Any]
    wants: dict[str, bool]
    wants_of_workflow: dict[str, bool]
    defaults: dict[str, bool]
    schedule: tuple[str, str] | None
    is_critical: bool
    suppressed: bool
    has_tokens: bool
    first_mail: str
    """working, off, resting (its circuit is open) or slow (its rate limit is used up)."""
    history: list[tuple[dict[str, Any], int]]
    """Earlier triggers, and the time after each."""
    payload: dict[str, Any]
    overrides: dict[str, Any] | None
    later: int
    """How long after now the trigger comes."""
    events: list[tuple[int, dict[str, Any]]]
    """What happens after the trigger: when, and with which data."""


def make_circumstances(seed: int) -> Circumstances:
    random = Random(seed)
    key = random.choice((None, None, "payload.room"))
    return Circumstances(
        steps=_make_steps(random, key),
        person=_make_person(random),
        wants=_make_switches(random),
        wants_of_workflow=_make_switches(random),
        defaults=_make_switches(random),
        schedule=random.choice((None, None, None, ("09:00 AM", "05:00 PM"), ("10:00 PM", "11:00 PM"))),
        is_critical=random.random() < 0.2,
        suppressed=random.random() < 0.2,
        has_tokens=random.random() < 0.6,
        first_mail=random.choice(("working", "off", "resting", "slow")),
        history=[(_make_payload(random), random.choice(GAPS)) for _ in range(random.randrange(4))],
        payload=_make_payload(random),
        overrides=_make_overrides(random) if random.random() < 0.2 else None,
        later=random.choice((0, 0, 7 * MINUTE, 3 * HOUR)),
        events=[(random.choice(MOMENTS), {"n": random.randrange(3)}) for _ in range(random.randrange(3))],
    )


def _make_steps(random: Random, key: str | None) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    kinds = [random.choice(("digest", "digest", "throttle", "delay", "custom", "content")) for _ in range(2)]
    kinds += [
        random.choice(("digest", "throttle", "delay", "custom", "content", "wait")) for _ in range(random.randrange(4))
    ]
    for place, kind in enumerate([*kinds, "content"]):
        made = _CONTROLS[kind](random, key)
        made |= {"name": f"{made['type']} {place}", "shouldStopOnFail": random.random() < 0.2}
        made["active"] = place == 0 or random.random() < 0.9
        if random.random() < 0.2:
            made["controlValues"]["skip"] = _make_rule(random)
        earlier = [
            one["name"].replace("_", "-").replace(" ", "-") for one in steps if one["type"] in ("in_app", "email")
        ]
        if earlier and random.random() < 0.3:
            child = {
                "on": "previousStep",
                "step": random.choice(earlier),
                "stepType": random.choice(("unread", "read")),
            }
            made["filters"] = [{"type": "GROUP", "value": "AND", "isNegated": False, "children": [child]}]
        steps.append(made)
    for number in range(random.randrange(3)):
        steps = _nest(random, steps, number)
    return steps


def _nest(random: Random, steps: list[dict[str, Any]], number: int) -> list[dict[str, Any]]:
    """Put some of the steps on the paths of a branch."""
    begin = random.randrange(len(steps))
    end = random.randrange(begin, len(steps)) + 1
    middle = random.randrange(begin, end + 1)
    first, second = steps[begin:middle], [_without_filters(one) for one in steps[middle:end]]
    if random.random() < 0.2:
        first = [*first, {"name": f"exit {number}", "type": "exit", "controlValues": {"reason": _text(random)}}]
    controls: dict[str, Any] = {"paths": [{"name": "first", "steps": first}, {"name": "second", "steps": second}]}
    if random.random() < 0.3:
        controls["paths"][0]["weight"], controls["paths"][1]["weight"] = random.randint(1, 3), 1
    else:
        controls["paths"][0]["condition"] = _make_rule(random)
        controls["paths"][1]["condition"] = _make_rule(random)
        if random.random() < 0.5:
            controls["otherwise"] = {"steps": controls["paths"].pop()["steps"]}
    branch = {"name": f"branch {number}", "type": "branch", "controlValues": controls}
    return [*steps[:begin], branch, *map(_without_filters, steps[end:])]


def _without_filters(step: dict[str, Any]) -> dict[str, Any]:
    """A step that asks for none of the steps before, which may be on another path; nor do those within it."""
    bare = {name: value for name, value in step.items() if name != "filters"}
    if bare["type"] == "branch":
        controls = dict(bare["controlValues"])
        controls["paths"] = [{**path, "steps": [*map(_without_filters, path["steps"])]} for path in controls["paths"]]
        if "otherwise" in controls:
            controls["otherwise"] = {"steps": [*map(_without_filters, controls["otherwise"]["steps"])]}
        bare["controlValues"] = controls
    return bare


def _text(random: Random) -> str:
    return BROKEN_TEXT if random.random() < 0.05 else random.choice(TEXTS)


def _length(random: Random) -> dict[str, Any]:
    amount, unit = random.choice(LENGTHS)
    return {"amount": amount, "unit": unit}


def _make_content(random: Random, _: str | None) -> dict[str, Any]:
    channel = random.choice(CHANNELS)
    controls = {"body": _text(random)}
    if channel in ("in_app", "email", "push"):
        controls["subject"] = _text(random)
    if channel == "email" and random.random() < 0.2:
        controls["from"] = random.choice(("x@example.com", "{{payload.room}}"))
    return {"type": channel, "controlValues": controls}


def _make_digest(random: Random, key: str | None) -> dict[str, Any]:
    kind = random.choice(("regular", "regular", "backoff", "timed"))
    controls: dict[str, Any] = {"type": "timed", "cron": random.choice(CRONS)}
    if kind != "timed":
        controls = {"type": "regular", **_length(random)}
    if kind == "backoff":
        controls["lookBackWindow"] = _length(random)
    controls |= _make_limits(random, kind)
    if random.random() < 0.2:
        controls["extendToSchedule"] = True
    return {"type": "digest", "controlValues": controls | ({"digestKey": key} if key else {})}


def _make_limits(random: Random, kind: str) -> dict[str, Any]:
    controls: dict[str, Any] = {}
    if kind != "timed" and random.random() < 0.3:
        controls["slideUpTo"] = {"amount": random.choice((1, 3)), "unit": "days"}
    if kind == "regular" and random.random() < 0.3:
        controls["dynamicKey"] = "payload.wait"
        controls |= {"amount": None, "unit": None} if random.random() < 0.5 else {}
    if random.random() < 0.3:
        controls["retain"] = {"by": random.choice(("time", "payload.n")), "order": "desc", "count": 2}
    if random.random() < 0.3:
        controls["maxItems"] = random.choice((2, 3))
    return controls


def _make_throttle(random: Random, key: str | None) -> dict[str, Any]:
    controls: dict[str, Any] = {"threshold": random.choice((1, 2)), **_length(random)}
    if random.random() < 0.2:
        controls = {"threshold": 1, "type": "dynamic", "dynamicKey": "payload.wait"}
    return {"type": "throttle", "controlValues": controls | ({"throttleKey": key} if key else {})}


def _make_delay(random: Random, _: str | None) -> dict[str, Any]:
    kind = random.choice(DELAYS)
    controls: dict[str, Any] = {
        "regular": _length(random) | {"extendToSchedule": random.random() < 0.3},
        "timed": {"cron": random.choice(CRONS)},
        "scheduled": {"delayPath": "payload.due"},
        "dynamic": {"dynamicKey": "payload.wait"},
    }[kind]
    return {"type": "delay", "controlValues": {"type": kind, **controls}}


def _make_custom(random: Random, _: str | None) -> dict[str, Any]:
    return {"type": "custom", "controlValues": {"plan": random.choice(("pro", "{{payload.room}}"))}}


def _make_wait(random: Random, _: str | None) -> dict[str, Any]:
    controls: dict[str, Any] = {"event": "order.paid", "timeout": _length(random)}
    if random.random() < 0.5:
        controls["match"] = [{"path": "n", "value": random.choice((0, 1, "{{payload.n}}"))}]
    if random.random() < 0.3:
        controls["onTimeout"] = "exit"
    if random.random() < 0.5:
        controls["since"] = "trigger"
    return {"type": "wait_for", "controlValues": controls}


_CONTROLS = {
    "content": _make_content,
    "digest": _make_digest,
    "throttle": _make_throttle,
    "delay": _make_delay,
    "custom": _make_custom,
    "wait": _make_wait,
}


def _make_rule(random: Random) -> dict[str, Any]:
    return random.choice(
        (
            {"==": [{"var": "payload.room"}, "x"]},
            {">": [{"var": "payload.n"}, 1]},
            {"==": [{"var": "subscriber.data.plan"}, "pro"]},
        )
    )


def _make_payload(random: Random) -> dict[str, Any]:
    return {
        "n": random.randrange(10),
        "room": random.choice(("x", "x", "y")),
        "due": random.choice(("2036-01-01T00:00:00Z", "2020-01-01T00:00:00Z", "soon")),
        "wait": random.choice(({"amount": 3, "unit": "hours"}, {"amount": 1, "unit": "days"}, None)),
    }


def _make_switches(random: Random) -> dict[str, bool]:
    if random.random() < 0.6:
        return {}
    return {random.choice(CHANNELS): random.random() < 0.4 for _ in range(2)}


def _make_person(random: Random) -> dict[str, Any]:
    return {
        "firstName": "Ada",
        "email": "{key}@example.com" if random.random() < 0.9 else None,
        "phone": "+442079460000" if random.random() < 0.8 else None,
        "timezone": random.choice((None, "Europe/Athens", "America/New_York")),
        "data": random.choice((None, {"plan": "pro"})),
    }


def _make_overrides(random: Random) -> dict[str, Any]:
    return random.choice(
        (
            {"email": {"integrationIdentifier": "second"}},
            {"email": {"integrationIdentifier": "nowhere"}},
            {"email": {"from": "nobody"}},
            {"providers": {"email-webhook": {"from": "nobody"}}},
            {"email": {"toRecipient": "other@example.com"}},
            {"delay": {"amount": 1, "unit": "hours"}},
            {"sms": {"to": "+442079460001"}},
        )
    )


circumstances = st.integers(min_value=0, max_value=2**32 - 1).map(make_circumstances)
