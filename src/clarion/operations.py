"""All operations of the API, in the order of its description."""

import clarion.answers.routes
import clarion.audit.routes
import clarion.content.layouts.preview_routes
import clarion.content.layouts.routes
import clarion.content.translations.environment_routes
import clarion.content.translations.routes
import clarion.content.translations.settings_routes
import clarion.content.translations.upload_routes
import clarion.contexts.routes
import clarion.environments.lifecycle_routes
import clarion.environments.promotion.routes
import clarion.environments.routes
import clarion.environments.variables.routes
import clarion.explain.routes
import clarion.inbox.chat_routes
import clarion.inbox.preference_routes
import clarion.inbox.routes
import clarion.inbox.server_routes
import clarion.inbox.sessions.routes
import clarion.inbox.topic_routes
import clarion.integrations.auto_configuration
import clarion.integrations.health_routes
import clarion.integrations.routes
import clarion.members.links.routes
import clarion.members.oidc.routes
import clarion.members.sessions.routes
import clarion.members.team.routes
import clarion.messages.change_routes
import clarion.messages.routes
import clarion.monitoring.routes
import clarion.preferences.routes
import clarion.preferences.unsubscribe.routes
import clarion.receipts.routes
import clarion.replies.routes
import clarion.runs.activity.routes
import clarion.runs.digest_routes
import clarion.runs.move_routes
import clarion.runs.notifications.routes
import clarion.runs.routes
import clarion.schedules.routes
import clarion.search.routes
import clarion.segments.routes
import clarion.sending.dead_letters.routes
import clarion.sending.suppressions.routes
import clarion.simulate.impact_routes
import clarion.simulate.routes
import clarion.subscribers.addresses.connection_routes
import clarion.subscribers.addresses.endpoint_routes
import clarion.subscribers.addresses.oauth.routes
import clarion.subscribers.addresses.telegram.routes
import clarion.subscribers.personal_data.routes
import clarion.subscribers.routes
import clarion.topics.member_routes
import clarion.topics.routes
import clarion.topics.subscription_routes
import clarion.tracking.routes
import clarion.tracking.usage_routes
import clarion.triggers.routes
import clarion.waits.routes
import clarion.web.routes
import clarion.webhooks.routes
import clarion.workflows.history_routes
import clarion.workflows.preview_routes
import clarion.workflows.routes
from clarion.http.operation import Operation, operations_of

OPERATIONS: list[Operation] = operations_of(
    clarion.subscribers.routes,
    clarion.preferences.routes,
    clarion.preferences.unsubscribe.routes,
    clarion.topics.routes,
    clarion.topics.member_routes,
    clarion.topics.subscription_routes,
    clarion.segments.routes,
    clarion.schedules.routes,
    clarion.contexts.routes,
    clarion.workflows.routes,
    clarion.workflows.preview_routes,
    clarion.workflows.history_routes,
    clarion.content.translations.routes,
    clarion.content.translations.upload_routes,
    clarion.content.translations.environment_routes,
    clarion.content.translations.settings_routes,
    clarion.content.layouts.routes,
    clarion.content.layouts.preview_routes,
    clarion.triggers.routes,
    clarion.waits.routes,
    clarion.answers.routes,
    clarion.simulate.routes,
    clarion.simulate.impact_routes,
    clarion.integrations.health_routes,
    clarion.tracking.usage_routes,
    clarion.subscribers.addresses.connection_routes,
    clarion.subscribers.addresses.endpoint_routes,
    clarion.subscribers.addresses.oauth.routes,
    clarion.subscribers.addresses.telegram.routes,
    clarion.subscribers.personal_data.routes,
    clarion.integrations.routes,
    clarion.integrations.auto_configuration,
    clarion.messages.routes,
    clarion.messages.change_routes,
    clarion.inbox.server_routes,
    clarion.receipts.routes,
    clarion.replies.routes,
    clarion.tracking.routes,
    clarion.sending.suppressions.routes,
    clarion.runs.notifications.routes,
    clarion.explain.routes,
    clarion.runs.routes,
    clarion.runs.digest_routes,
    clarion.runs.move_routes,
    clarion.runs.activity.routes,
    clarion.sending.dead_letters.routes,
    clarion.webhooks.routes,
    clarion.environments.routes,
    clarion.audit.routes,
    clarion.environments.lifecycle_routes,
    clarion.environments.promotion.routes,
    clarion.environments.variables.routes,
    clarion.members.sessions.routes,
    clarion.members.links.routes,
    clarion.members.oidc.routes,
    clarion.members.team.routes,
    clarion.search.routes,
    clarion.monitoring.routes,
    clarion.inbox.sessions.routes,
    clarion.inbox.preference_routes,
    clarion.inbox.routes,
    clarion.inbox.topic_routes,
    clarion.inbox.chat_routes,
)

DEMO_OPERATIONS = operations_of(clarion.web.routes)
"""Of the demo page; not a part of the API."""
