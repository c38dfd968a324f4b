"""What callers see of a person in the answers of other features, such as lists of messages."""

from msgspec.structs import replace

from clarion.http.caller import Caller
from clarion.subscribers.model import CONTACT_FIELDS, Subscriber
from clarion.vocabulary import Scope

_NOTHING = dict.fromkeys((*CONTACT_FIELDS, "schedule", "is_online", "last_online_at"))


def shown_to(caller: Caller, subscriber: Subscriber) -> Subscriber:
    """The person as the caller may see them: without the scope that reads subscribers, by their ids alone.

    A session is the person's own.
    """
    if caller.session is not None or caller.has_scope(Scope.SUBSCRIBERS_READ):
        return subscriber
    return replace(subscriber, **_NOTHING)
