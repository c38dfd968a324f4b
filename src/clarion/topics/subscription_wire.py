"""Shapes of one subscription to a topic, with its preferences for workflows."""

from collections.abc import Sequence
from typing import Self

from clarion.preferences.wire import SubscriptionPreferenceOut
from clarion.topics.model import Subscription
from clarion.topics.wire import SubscriptionOut
from clarion.workflows.model import Workflow


class DetailedSubscriptionOut(SubscriptionOut):
    preferences: list[SubscriptionPreferenceOut]
    """What holds for each workflow that a rule names."""

    @classmethod
    def with_preferences(cls, subscription: Subscription, workflows: Sequence[Workflow]) -> Self:
        shown = SubscriptionOut.of(subscription)
        return cls(
            **{name: getattr(shown, name) for name in SubscriptionOut.__struct_fields__},
            preferences=[SubscriptionPreferenceOut.of(subscription, workflow) for workflow in workflows],
        )
