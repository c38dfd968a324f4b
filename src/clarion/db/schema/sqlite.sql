-- Made by `make docs` from the migrations; a new store begins with it.
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, works_with VARCHAR(32),
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE answers (
	environment_id BLOB NOT NULL,
	notification_id BLOB NOT NULL,
	step_id BLOB NOT NULL,
	subscriber_id BLOB,
	choice TEXT NOT NULL,
	label TEXT NOT NULL,
	way TEXT NOT NULL,
	answered_at BIGINT NOT NULL,
	PRIMARY KEY (environment_id, notification_id, step_id)
);
CREATE TABLE api_keys (
    environment_id BLOB NOT NULL,
    id BLOB NOT NULL,
    hash BLOB NOT NULL,
    name TEXT NOT NULL,
    hint TEXT NOT NULL,
    scopes TEXT NOT NULL,
    sealed TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    last_used_at BIGINT,
    revoked_at BIGINT,
    created_by BLOB,
    PRIMARY KEY (environment_id, id),
    UNIQUE (hash)
);
CREATE TABLE attachments (
    environment_id BLOB NOT NULL,
    hash BLOB NOT NULL,
    used_at BIGINT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (environment_id, hash)
);
CREATE TABLE audit_entries (
    environment_id BLOB NOT NULL,
    id BLOB NOT NULL,
    action TEXT NOT NULL,
    target_type TEXT NOT NULL,
    target_id TEXT NOT NULL,
    target_name TEXT,
    actor_type TEXT NOT NULL,
    actor_id TEXT,
    actor_name TEXT,
    request_id TEXT,
    "before" TEXT,
    "after" TEXT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (environment_id, id)
);
CREATE TABLE awaited_events (
	environment_id BLOB NOT NULL,
	name TEXT NOT NULL,
	PRIMARY KEY (environment_id, name)
);
CREATE TABLE awaited_receipts (
    environment_id BLOB NOT NULL,
    integration_id BLOB NOT NULL,
    ticket TEXT NOT NULL,
    message_id BLOB NOT NULL,
    recipient TEXT NOT NULL,
    is_partial BOOLEAN NOT NULL,
    sent_at BIGINT NOT NULL,
    ask_at BIGINT NOT NULL,
    PRIMARY KEY (environment_id, integration_id, ticket)
);
CREATE TABLE channel_connections (
	environment_id BLOB NOT NULL,
	id BLOB NOT NULL,
	identifier TEXT NOT NULL,
	integration_id BLOB NOT NULL,
	subscriber_id BLOB,
	context_keys TEXT NOT NULL,
	workspace TEXT NOT NULL,
	auth TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL, trouble TEXT, renewing_until BIGINT,
	PRIMARY KEY (environment_id, id)
);
CREATE TABLE channel_endpoints (
	environment_id BLOB NOT NULL,
	id BLOB NOT NULL,
	identifier TEXT NOT NULL,
	integration_id BLOB NOT NULL,
	connection_id BLOB,
	subscriber_id BLOB NOT NULL,
	context_keys TEXT NOT NULL,
	type TEXT NOT NULL,
	endpoint TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL,
	PRIMARY KEY (environment_id, id)
);
CREATE TABLE chat_links (
	environment_id BLOB NOT NULL,
	digest BLOB NOT NULL,
	purpose TEXT NOT NULL,
	integration_id BLOB NOT NULL,
	subscriber_id BLOB,
	context_keys TEXT NOT NULL,
	replaces BOOLEAN NOT NULL,
	expires_at BIGINT NOT NULL,
	PRIMARY KEY (environment_id, digest)
);
CREATE TABLE context_preferences (
	environment_id BLOB NOT NULL,
	subscriber_id BLOB NOT NULL,
	context_keys TEXT NOT NULL,
	workflow_id BLOB NOT NULL,
	channel TEXT NOT NULL,
	enabled BOOLEAN NOT NULL,
	updated_at BIGINT NOT NULL,
	reason TEXT,
	PRIMARY KEY (environment_id, subscriber_id, context_keys, workflow_id, channel)
)
 WITHOUT ROWID;
CREATE TABLE contexts (
	environment_id BLOB NOT NULL,
	id BLOB NOT NULL,
	type TEXT NOT NULL,
	"key" TEXT NOT NULL,
	data TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL,
	PRIMARY KEY (environment_id, id)
);
CREATE TABLE digest_events (
    environment_id BLOB NOT NULL,
    window_id BLOB NOT NULL,
    generation INTEGER NOT NULL,
    job_id BLOB NOT NULL,
    trigger_id BLOB NOT NULL, sort_key BLOB,
    PRIMARY KEY (environment_id, window_id, generation, job_id)
) WITHOUT ROWID;
CREATE TABLE digest_windows (
    environment_id BLOB NOT NULL,
    id BLOB NOT NULL,
    subscriber_id BLOB NOT NULL,
    generation INTEGER NOT NULL,
    leader_id BLOB,
    leader_run_id BLOB,
    closes_at BIGINT,
    last_event_at BIGINT NOT NULL, closes_by BIGINT, items INTEGER,
    PRIMARY KEY (environment_id, id)
);
CREATE TABLE early_reports (
    environment_id BLOB NOT NULL,
    integration_id BLOB NOT NULL,
    digest BLOB NOT NULL,
    report TEXT NOT NULL,
    received_at BIGINT NOT NULL,
    PRIMARY KEY (environment_id, integration_id, digest)
);
CREATE TABLE emitted_events (
	environment_id BLOB NOT NULL,
	id BLOB NOT NULL,
	name TEXT NOT NULL,
	lane SMALLINT NOT NULL,
	subscriber_id BLOB,
	topic_id BLOB,
	source_key BLOB,
	data TEXT NOT NULL,
	pending SMALLINT NOT NULL,
	position BLOB,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (environment_id, id)
);
CREATE TABLE environment_variable_values (
	environment_id BLOB NOT NULL,
	variable_id BLOB NOT NULL,
	value TEXT NOT NULL,
	PRIMARY KEY (environment_id, variable_id)
);
CREATE TABLE environment_variables (
	organization_id BLOB NOT NULL,
	id BLOB NOT NULL,
	"key" TEXT NOT NULL,
	is_secret BOOLEAN NOT NULL,
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL, for_credentials BOOLEAN,
	PRIMARY KEY (organization_id, id)
);
CREATE TABLE environments (
    id BLOB NOT NULL,
    organization_id BLOB NOT NULL,
    parent_id BLOB,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    identifier TEXT NOT NULL,
    timezone TEXT,
    configuration_version INTEGER DEFAULT '0' NOT NULL,
    session_epoch INTEGER DEFAULT '0' NOT NULL,
    options TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT, link_secret TEXT, mail_options TEXT,
    PRIMARY KEY (id),
    CONSTRAINT environments_name UNIQUE (organization_id, name),
    UNIQUE (identifier)
);
CREATE TABLE erasures (
    environment_id BLOB NOT NULL,
    subscriber_id BLOB NOT NULL,
    author TEXT NOT NULL,
    requested_at BIGINT NOT NULL,
    PRIMARY KEY (environment_id, subscriber_id)
) WITHOUT ROWID;
CREATE TABLE event_waits (
	environment_id BLOB NOT NULL,
	job_id BLOB NOT NULL,
	subscriber_id BLOB NOT NULL,
	lane SMALLINT NOT NULL,
	event TEXT NOT NULL,
	rule TEXT NOT NULL,
	since BIGINT NOT NULL,
	until BIGINT NOT NULL,
	matched TEXT,
	missed INTEGER NOT NULL,
	last_missed TEXT,
	PRIMARY KEY (environment_id, job_id)
);
CREATE TABLE http_answers (
	environment_id BLOB NOT NULL,
	trigger_id BLOB NOT NULL,
	step_id BLOB NOT NULL,
	request_id BLOB NOT NULL,
	job_id BLOB NOT NULL,
	wake_at BIGINT NOT NULL,
	outcome TEXT,
	outputs TEXT,
	PRIMARY KEY (environment_id, trigger_id, step_id)
)
 WITHOUT ROWID;
CREATE TABLE http_hosts (
	environment_id BLOB NOT NULL,
	host TEXT NOT NULL,
	failures INTEGER NOT NULL,
	open_until BIGINT,
	paused_until BIGINT,
	changed_at BIGINT NOT NULL,
	PRIMARY KEY (environment_id, host)
);
CREATE TABLE http_requests (
	environment_id BLOB NOT NULL,
	job_id BLOB NOT NULL,
	host TEXT NOT NULL,
	content TEXT NOT NULL,
	PRIMARY KEY (environment_id, job_id)
)
 WITHOUT ROWID;
CREATE TABLE idempotency_keys (
    id BLOB NOT NULL,
    environment_id BLOB NOT NULL,
    digest BLOB NOT NULL,
    fingerprint BLOB NOT NULL,
    status SMALLINT NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (id)
) WITHOUT ROWID;
CREATE TABLE integration_counts (
    environment_id BLOB NOT NULL,
    id BLOB NOT NULL,
    integration_id BLOB NOT NULL,
    slot SMALLINT NOT NULL,
    sent INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    milliseconds BIGINT NOT NULL,
    slowest INTEGER NOT NULL,
    PRIMARY KEY (environment_id, id, integration_id, slot)
) WITHOUT ROWID;
CREATE TABLE integration_health (
    environment_id BLOB NOT NULL,
    integration_id BLOB NOT NULL,
    failures INTEGER DEFAULT '0' NOT NULL,
    open_until BIGINT,
    allowance FLOAT DEFAULT '0' NOT NULL,
    refilled_at BIGINT NOT NULL,
    errors TEXT,
    PRIMARY KEY (environment_id, integration_id)
) WITHOUT ROWID;
CREATE TABLE integrations (
    environment_id BLOB NOT NULL,
    id BLOB NOT NULL,
    provider_id TEXT NOT NULL,
    channel TEXT NOT NULL,
    name TEXT NOT NULL,
    identifier TEXT NOT NULL,
    credentials TEXT NOT NULL,
    conditions TEXT NOT NULL,
    active BOOLEAN NOT NULL,
    is_primary BOOLEAN NOT NULL,
    priority INTEGER NOT NULL,
    weight INTEGER DEFAULT '100' NOT NULL,
    rate_limit FLOAT,
    reports_from TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT,
    deleted_by BLOB,
    PRIMARY KEY (environment_id, id)
);
CREATE TABLE jobs (
    environment_id BLOB NOT NULL,
    id BLOB NOT NULL,
    notification_id BLOB NOT NULL,
    step SMALLINT NOT NULL,
    type TEXT NOT NULL,
    status TEXT NOT NULL,
    provider_id TEXT,
    digest TEXT,
    details TEXT NOT NULL,
    due_at BIGINT,
    attempt INTEGER DEFAULT '0' NOT NULL,
    queue SMALLINT,
    lane SMALLINT DEFAULT '0' NOT NULL,
    priority SMALLINT DEFAULT '2' NOT NULL,
    outputs TEXT,
    put_off_since BIGINT,
    dead_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL, changed_at BIGINT,
    PRIMARY KEY (environment_id, id)
);
CREATE TABLE layout_versions (
	environment_id BLOB NOT NULL,
	id BLOB NOT NULL,
	layout_id BLOB NOT NULL,
	number INTEGER NOT NULL,
	body TEXT,
	editor_type TEXT NOT NULL,
	actor_type TEXT,
	actor_id TEXT,
	actor_name TEXT,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (environment_id, id)
);
CREATE TABLE layouts (
	environment_id BLOB NOT NULL,
	id BLOB NOT NULL,
	"key" TEXT NOT NULL,
	name TEXT NOT NULL,
	is_default BOOLEAN NOT NULL,
	version_id BLOB NOT NULL,
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL,
	deleted_at BIGINT,
	PRIMARY KEY (environment_id, id)
);
CREATE TABLE leases (
    name TEXT NOT NULL,
    owner BLOB NOT NULL,
    until BIGINT NOT NULL,
    PRIMARY KEY (name)
) WITHOUT ROWID;
CREATE TABLE mail_reactions (
	environment_id BLOB NOT NULL,
	id BLOB NOT NULL,
	workflow_id BLOB NOT NULL,
	slot SMALLINT NOT NULL,
	opened INTEGER NOT NULL,
	clicked INTEGER NOT NULL,
	replied INTEGER NOT NULL,
	PRIMARY KEY (environment_id, id, workflow_id, slot)
)
 WITHOUT ROWID;
CREATE TABLE member_links (
    hash BLOB NOT NULL,
    kind TEXT NOT NULL,
    organization_id BLOB NOT NULL,
    email TEXT,
    role TEXT,
    environment_roles TEXT NOT NULL,
    invited_by BLOB,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (hash)
) WITHOUT ROWID;
CREATE TABLE member_sessions (
    hash BLOB NOT NULL,
    member_id BLOB NOT NULL,
    user_agent TEXT,
    address TEXT,
    created_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    PRIMARY KEY (hash)
) WITHOUT ROWID;
CREATE TABLE members (
    id BLOB NOT NULL,
    organization_id BLOB NOT NULL,
    email TEXT NOT NULL,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    environment_roles TEXT NOT NULL,
    password TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (email)
);
CREATE TABLE messages (
    environment_id BLOB NOT NULL,
    id BLOB NOT NULL,
    notification_id BLOB NOT NULL,
    job_id BLOB NOT NULL,
    trigger_id BLOB NOT NULL,
    workflow_id BLOB NOT NULL,
    step_id BLOB NOT NULL,
    subscriber_id BLOB NOT NULL,
    channel TEXT NOT NULL,
    provider_id TEXT,
    integration_id BLOB,
    provider_message_id TEXT,
    delivery TEXT,
    status TEXT NOT NULL,
    content TEXT NOT NULL,
    subject TEXT,
    title TEXT,
    email TEXT,
    email_options TEXT,
    phone TEXT,
    webhook_url TEXT,
    device_tokens TEXT,
    cta TEXT,
    avatar TEXT,
    data TEXT,
    severity TEXT NOT NULL,
    seen BOOLEAN NOT NULL,
    read BOOLEAN NOT NULL,
    archived BOOLEAN NOT NULL,
    seen_at BIGINT,
    read_at BIGINT,
    archived_at BIGINT,
    snoozed_until BIGINT,
    delivered_at TEXT,
    error_id TEXT,
    error_text TEXT,
    retry_at BIGINT,
    given_up_at BIGINT,
    refused_by TEXT,
    context_keys TEXT,
    position BLOB,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL, endpoint_id BLOB, tracking TEXT, unsubscribe_url TEXT, place TEXT, change TEXT, change_reason TEXT, former TEXT, changed_at BIGINT, revision INTEGER,
    PRIMARY KEY (environment_id, id)
);
CREATE TABLE notifications (
    environment_id BLOB NOT NULL,
    id BLOB NOT NULL,
    trigger_id BLOB NOT NULL,
    workflow_id BLOB NOT NULL,
    version_id BLOB NOT NULL,
    subscriber_id BLOB NOT NULL,
    step_types INTEGER NOT NULL,
    recipient TEXT,
    topics TEXT,
    digested_into BLOB,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    status SMALLINT,
    PRIMARY KEY (environment_id, id)
);
CREATE TABLE online_people (
    environment_id BLOB NOT NULL,
    subscriber_id BLOB NOT NULL,
    host_id BLOB NOT NULL,
    PRIMARY KEY (environment_id, subscriber_id, host_id)
) WITHOUT ROWID;
CREATE TABLE organizations (
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL, options TEXT,
    PRIMARY KEY (id)
);
CREATE TABLE preferences (
    environment_id BLOB NOT NULL,
    subscriber_id BLOB NOT NULL,
    workflow_id BLOB NOT NULL,
    channel TEXT NOT NULL,
    enabled BOOLEAN NOT NULL,
    updated_at BIGINT NOT NULL, reason TEXT,
    PRIMARY KEY (environment_id, subscriber_id, workflow_id, channel)
) WITHOUT ROWID;
CREATE TABLE processes (
    id BLOB NOT NULL,
    kind TEXT NOT NULL,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    version TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    clock_at BIGINT NOT NULL,
    report TEXT NOT NULL,
    PRIMARY KEY (id)
);
CREATE TABLE rate_limit_buckets (
    environment_id BLOB NOT NULL,
    category TEXT NOT NULL,
    tokens FLOAT NOT NULL,
    refilled_at BIGINT NOT NULL,
    PRIMARY KEY (environment_id, category)
) WITHOUT ROWID;
CREATE TABLE receipts (
    environment_id BLOB NOT NULL,
    digest BLOB NOT NULL,
    received_at BIGINT NOT NULL,
    PRIMARY KEY (environment_id, digest)
) WITHOUT ROWID;
CREATE TABLE retention_progress (
    environment_id BLOB NOT NULL,
    walk TEXT NOT NULL,
    position BLOB NOT NULL,
    swept_at BIGINT NOT NULL,
    deleted BIGINT NOT NULL,
    PRIMARY KEY (environment_id, walk)
) WITHOUT ROWID;
CREATE TABLE schedule_runs (
	environment_id BLOB NOT NULL,
	schedule_id BLOB NOT NULL,
	moment BIGINT NOT NULL,
	timezone TEXT NOT NULL,
	transaction_key TEXT,
	trouble TEXT,
	at BIGINT NOT NULL,
	PRIMARY KEY (environment_id, schedule_id, moment, timezone)
)
 WITHOUT ROWID;
CREATE TABLE schedules (
	environment_id BLOB NOT NULL,
	id BLOB NOT NULL,
	"key" TEXT NOT NULL,
	name TEXT NOT NULL,
	workflow TEXT NOT NULL,
	recipients TEXT,
	timing TEXT NOT NULL,
	payload TEXT NOT NULL,
	overrides TEXT,
	context TEXT,
	catch_up TEXT NOT NULL,
	paused BOOLEAN DEFAULT FALSE NOT NULL,
	done_until BIGINT NOT NULL,
	next_at BIGINT,
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL,
	PRIMARY KEY (environment_id, id)
);
CREATE TABLE segments (
	environment_id BLOB NOT NULL,
	id BLOB NOT NULL,
	"key" TEXT NOT NULL,
	name TEXT NOT NULL,
	description TEXT,
	condition TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL,
	PRIMARY KEY (environment_id, id)
);
CREATE TABLE socket_hosts (
    id BLOB NOT NULL,
    environment_ids TEXT NOT NULL,
    seen_at BIGINT NOT NULL,
    PRIMARY KEY (id)
);
CREATE TABLE spent_oauth_states (
	environment_id BLOB NOT NULL,
	id BLOB NOT NULL,
	expires_at BIGINT NOT NULL,
	PRIMARY KEY (environment_id, id)
);
CREATE TABLE subscriber_channels (
    environment_id BLOB NOT NULL,
    subscriber_id BLOB NOT NULL,
    integration_id BLOB NOT NULL,
    provider_id TEXT NOT NULL,
    credentials TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (environment_id, subscriber_id, integration_id)
) WITHOUT ROWID;
CREATE VIRTUAL TABLE subscriber_search
    USING fts5(email, phone, full_name, tokenize = 'trigram case_sensitive 1', detail = 'none');
CREATE TABLE subscribers (
    environment_id BLOB NOT NULL,
    id BLOB NOT NULL,
    "key" TEXT NOT NULL,
    first_name TEXT,
    last_name TEXT,
    email TEXT,
    phone TEXT,
    avatar TEXT,
    locale TEXT,
    timezone TEXT,
    data TEXT,
    schedule TEXT,
    is_online BOOLEAN,
    last_online_at BIGINT,
    version INTEGER DEFAULT '0' NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    search_row BIGINT NOT NULL,
    full_name TEXT GENERATED ALWAYS AS (TRIM(COALESCE(first_name, '') || ' ' || COALESCE(last_name, ''))) STORED,
    is_unproven BOOLEAN DEFAULT FALSE NOT NULL,
    PRIMARY KEY (environment_id, id)
);
CREATE TABLE suppressions (
    environment_id BLOB NOT NULL,
    channel TEXT NOT NULL,
    address TEXT NOT NULL,
    reason TEXT NOT NULL,
    provider_id TEXT,
    message_id BLOB,
    detail TEXT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (environment_id, channel, address)
) WITHOUT ROWID;
CREATE TABLE telegram_webhooks (
	environment_id BLOB NOT NULL,
	id BLOB NOT NULL,
	bot_id TEXT NOT NULL,
	bot_username TEXT NOT NULL,
	secret TEXT NOT NULL,
	configured_at BIGINT NOT NULL,
	PRIMARY KEY (environment_id, id)
);
CREATE TABLE throttle_passes (
    environment_id BLOB NOT NULL,
    throttle_id BLOB NOT NULL,
    passed_at BIGINT NOT NULL,
    job_id BLOB NOT NULL,
    subscriber_id BLOB NOT NULL,
    PRIMARY KEY (environment_id, throttle_id, passed_at, job_id)
) WITHOUT ROWID;
CREATE TABLE topic_subscriptions (
    environment_id BLOB NOT NULL,
    id BLOB NOT NULL,
    topic_id BLOB NOT NULL,
    subscriber_id BLOB NOT NULL,
    identifier TEXT DEFAULT '' NOT NULL,
    name TEXT,
    preferences TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT, context_keys TEXT,
    PRIMARY KEY (environment_id, id)
) WITHOUT ROWID;
CREATE TABLE topics (
    environment_id BLOB NOT NULL,
    id BLOB NOT NULL,
    "key" TEXT NOT NULL,
    name TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    is_open BOOLEAN DEFAULT FALSE NOT NULL,
    creator_id BLOB,
    PRIMARY KEY (environment_id, id)
);
CREATE TABLE translation_groups (
	environment_id BLOB NOT NULL,
	resource_type TEXT NOT NULL,
	resource_id BLOB NOT NULL,
	is_enabled BOOLEAN NOT NULL,
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL, disabled_at BIGINT,
	PRIMARY KEY (environment_id, resource_type, resource_id)
)
 WITHOUT ROWID;
CREATE TABLE translations (
	environment_id BLOB NOT NULL,
	resource_type TEXT NOT NULL,
	resource_id BLOB NOT NULL,
	locale TEXT NOT NULL,
	content TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL,
	PRIMARY KEY (environment_id, resource_type, resource_id, locale)
)
 WITHOUT ROWID;
CREATE TABLE trigger_attachments (
    environment_id BLOB NOT NULL,
    trigger_id BLOB NOT NULL,
    hash BLOB NOT NULL,
    check_at BIGINT NOT NULL,
    PRIMARY KEY (environment_id, trigger_id, hash)
) WITHOUT ROWID;
CREATE TABLE trigger_parts (
    environment_id BLOB NOT NULL,
    id BLOB NOT NULL,
    trigger_id BLOB NOT NULL,
    priority SMALLINT NOT NULL,
    lane SMALLINT NOT NULL,
    topic SMALLINT,
    subscriber_ids BLOB NOT NULL,
    PRIMARY KEY (environment_id, id)
);
CREATE TABLE triggers (
    environment_id BLOB NOT NULL,
    id BLOB NOT NULL,
    transaction_key TEXT NOT NULL,
    workflow_id BLOB NOT NULL,
    version_id BLOB NOT NULL,
    payload TEXT NOT NULL,
    overrides TEXT,
    created_at BIGINT NOT NULL,
    state TEXT DEFAULT 'done' NOT NULL,
    priority SMALLINT DEFAULT '1' NOT NULL,
    lane SMALLINT DEFAULT '0' NOT NULL,
    recipients TEXT,
    position TEXT,
    context TEXT,
    trace_context TEXT,
    warnings TEXT,
    repeats INTEGER,
    repeated_at BIGINT,
    runs_deleted_at BIGINT, accepted_at BIGINT, expires_at BIGINT, caused_by BLOB,
    PRIMARY KEY (environment_id, id)
);
CREATE TABLE webhook_deliveries (
    environment_id BLOB NOT NULL,
    id BLOB NOT NULL,
    endpoint_id BLOB NOT NULL,
    event_id BLOB NOT NULL,
    status TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    due_at BIGINT,
    response_status INTEGER,
    error_text TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    attempt_log TEXT,
    PRIMARY KEY (environment_id, id)
);
CREATE TABLE webhook_endpoints (
    environment_id BLOB NOT NULL,
    id BLOB NOT NULL,
    url TEXT NOT NULL,
    description TEXT,
    events TEXT NOT NULL,
    secret TEXT NOT NULL,
    active BOOLEAN NOT NULL,
    disabled_reason TEXT,
    failing_since BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (environment_id, id)
);
CREATE TABLE webhook_event_people (
    environment_id BLOB NOT NULL,
    subscriber_id BLOB NOT NULL,
    event_id BLOB NOT NULL,
    PRIMARY KEY (environment_id, subscriber_id, event_id)
) WITHOUT ROWID;
CREATE TABLE webhook_events (
    environment_id BLOB NOT NULL,
    id BLOB NOT NULL,
    type TEXT NOT NULL,
    payload TEXT NOT NULL,
    created_at BIGINT NOT NULL, url TEXT,
    PRIMARY KEY (environment_id, id)
);
CREATE TABLE workers (
    id BLOB NOT NULL,
    seen_at BIGINT NOT NULL,
    PRIMARY KEY (id)
);
CREATE TABLE workflow_version_notes (
    environment_id BLOB NOT NULL,
    id BLOB NOT NULL,
    kind TEXT NOT NULL,
    source_id BLOB,
    actor_type TEXT,
    actor_id TEXT,
    actor_name TEXT,
    changes TEXT NOT NULL,
    PRIMARY KEY (environment_id, id)
) WITHOUT ROWID;
CREATE TABLE workflow_versions (
    environment_id BLOB NOT NULL,
    id BLOB NOT NULL,
    workflow_id BLOB NOT NULL,
    number INTEGER NOT NULL,
    steps TEXT NOT NULL,
    payload_schema TEXT,
    validate_payload BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL, moved TEXT,
    PRIMARY KEY (environment_id, id)
);
CREATE TABLE workflows (
    environment_id BLOB NOT NULL,
    id BLOB NOT NULL,
    "key" TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT,
    active BOOLEAN NOT NULL,
    tags TEXT NOT NULL,
    severity TEXT NOT NULL,
    default_preference TEXT,
    user_preference TEXT,
    version_id BLOB NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT, tracking TEXT, takes_replies BOOLEAN,
    PRIMARY KEY (environment_id, id)
);
CREATE INDEX answers_subscriber ON answers (environment_id, subscriber_id, notification_id, step_id);
CREATE INDEX audit_entries_actor ON audit_entries (environment_id, actor_id, id);
CREATE INDEX audit_entries_target ON audit_entries (environment_id, target_type, target_id, id);
CREATE INDEX awaited_receipts_due ON awaited_receipts (ask_at);
CREATE INDEX awaited_receipts_message ON awaited_receipts (environment_id, message_id);
CREATE UNIQUE INDEX channel_connections_identifier ON channel_connections (environment_id, identifier);
CREATE INDEX channel_connections_integration ON channel_connections (environment_id, integration_id, subscriber_id);
CREATE INDEX channel_connections_subscriber ON channel_connections (environment_id, subscriber_id);
CREATE INDEX channel_endpoints_connection ON channel_endpoints (environment_id, connection_id);
CREATE UNIQUE INDEX channel_endpoints_identifier ON channel_endpoints (environment_id, identifier);
CREATE INDEX channel_endpoints_integration ON channel_endpoints (environment_id, integration_id);
CREATE INDEX channel_endpoints_subscriber ON channel_endpoints (environment_id, subscriber_id, integration_id);
CREATE INDEX chat_links_expires ON chat_links (environment_id, expires_at);
CREATE INDEX chat_links_integration ON chat_links (environment_id, integration_id, subscriber_id);
CREATE INDEX chat_links_subscriber ON chat_links (environment_id, subscriber_id);
CREATE UNIQUE INDEX contexts_key ON contexts (environment_id, type, "key");
CREATE INDEX contexts_updated ON contexts (environment_id, updated_at, id);
CREATE INDEX digest_events_job ON digest_events (environment_id, job_id);
CREATE INDEX digest_windows_subscriber ON digest_windows (environment_id, subscriber_id);
CREATE INDEX emitted_events_age ON emitted_events (created_at);
CREATE INDEX emitted_events_many ON emitted_events (environment_id, name, created_at) WHERE lane = -1;
CREATE INDEX emitted_events_pending ON emitted_events (environment_id, created_at, id, lane) WHERE pending = 1;
CREATE INDEX emitted_events_person ON emitted_events (environment_id, subscriber_id, name, created_at);
CREATE UNIQUE INDEX emitted_events_source ON emitted_events (environment_id, source_key) WHERE source_key IS NOT NULL;
CREATE UNIQUE INDEX environment_variables_key ON environment_variables (organization_id, "key");
CREATE INDEX event_waits_event ON event_waits (environment_id, event, job_id);
CREATE INDEX event_waits_subscriber ON event_waits (environment_id, subscriber_id);
CREATE INDEX event_waits_until ON event_waits (until);
CREATE UNIQUE INDEX idempotency_keys_digest ON idempotency_keys (digest);
CREATE UNIQUE INDEX integrations_identifier ON integrations (environment_id, identifier) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX integrations_primary ON integrations (environment_id, channel) WHERE is_primary AND deleted_at IS NULL;
CREATE INDEX jobs_dead ON jobs (environment_id, dead_at, id) WHERE dead_at IS NOT NULL;
CREATE INDEX jobs_decide ON jobs (environment_id, due_at, id, lane) WHERE queue = 1;
CREATE INDEX jobs_due ON jobs (due_at, environment_id) WHERE queue = 1;
CREATE INDEX jobs_send ON jobs (environment_id, type, priority, due_at, id) WHERE queue = 2;
CREATE UNIQUE INDEX jobs_step ON jobs (environment_id, notification_id, step);
CREATE UNIQUE INDEX layout_versions_number ON layout_versions (environment_id, layout_id, number);
CREATE UNIQUE INDEX layouts_default ON layouts (environment_id) WHERE is_default AND deleted_at IS NULL;
CREATE UNIQUE INDEX layouts_key ON layouts (environment_id, "key") WHERE deleted_at IS NULL;
CREATE INDEX member_links_email ON member_links (email);
CREATE INDEX member_sessions_member ON member_sessions (member_id);
CREATE INDEX members_organization ON members (organization_id, id);
CREATE INDEX messages_channel ON messages (environment_id, channel, id);
CREATE INDEX messages_job ON messages (environment_id, job_id) WHERE channel <> 'in_app';
CREATE INDEX messages_provider ON messages (environment_id, provider_message_id) WHERE provider_message_id IS NOT NULL;
CREATE INDEX messages_snoozed ON messages (environment_id, subscriber_id, position) WHERE snoozed_until IS NOT NULL;
CREATE INDEX messages_subscriber ON messages (environment_id, subscriber_id, channel, archived, position, seen, read, snoozed_until);
CREATE INDEX messages_trigger ON messages (environment_id, trigger_id, id);
CREATE INDEX messages_unread ON messages (subscriber_id, severity, seen, position, context_keys, environment_id) WHERE channel = 'in_app' AND NOT read AND NOT archived AND snoozed_until IS NULL;
CREATE INDEX messages_wake ON messages (snoozed_until, environment_id, id) WHERE snoozed_until IS NOT NULL;
CREATE INDEX notifications_changed ON notifications (environment_id, updated_at, id) WHERE updated_at <> created_at;
CREATE INDEX notifications_digested ON notifications (environment_id, digested_into) WHERE digested_into IS NOT NULL;
CREATE UNIQUE INDEX notifications_recipient ON notifications (environment_id, trigger_id, subscriber_id);
CREATE INDEX notifications_status ON notifications (environment_id, status, id) WHERE status <> 3;
CREATE INDEX notifications_subscriber ON notifications (environment_id, subscriber_id, id);
CREATE INDEX notifications_trigger ON notifications (environment_id, trigger_id, id);
CREATE INDEX notifications_workflow ON notifications (environment_id, workflow_id, step_types, id);
CREATE INDEX online_people_host ON online_people (host_id);
CREATE INDEX receipts_age ON receipts (received_at);
CREATE INDEX schedules_due ON schedules (next_at, id) WHERE next_at IS NOT NULL;
CREATE UNIQUE INDEX schedules_key ON schedules (environment_id, "key");
CREATE INDEX schedules_updated ON schedules (environment_id, updated_at, id);
CREATE UNIQUE INDEX segments_key ON segments (environment_id, "key");
CREATE INDEX segments_updated ON segments (environment_id, updated_at, id);
CREATE INDEX spent_oauth_states_expires ON spent_oauth_states (environment_id, expires_at);
CREATE INDEX subscriber_channels_integration ON subscriber_channels (environment_id, integration_id);
CREATE INDEX subscribers_email ON subscribers (environment_id, email);
CREATE UNIQUE INDEX subscribers_key ON subscribers (environment_id, "key");
CREATE INDEX subscribers_phone ON subscribers (environment_id, phone) WHERE phone IS NOT NULL;
CREATE INDEX subscribers_search_row ON subscribers (search_row);
CREATE INDEX subscribers_timezone ON subscribers (environment_id, timezone, id) WHERE timezone IS NOT NULL;
CREATE INDEX subscribers_unproven ON subscribers (environment_id) WHERE is_unproven;
CREATE INDEX subscribers_updated ON subscribers (environment_id, updated_at, id);
CREATE INDEX suppressions_recent ON suppressions (environment_id, created_at, address);
CREATE INDEX throttle_passes_subscriber ON throttle_passes (environment_id, subscriber_id);
CREATE INDEX topic_subscriptions_identifier ON topic_subscriptions (environment_id, topic_id, identifier) WHERE identifier <> '';
CREATE UNIQUE INDEX topic_subscriptions_member ON topic_subscriptions (environment_id, topic_id, subscriber_id, identifier);
CREATE INDEX topic_subscriptions_rules ON topic_subscriptions (environment_id, topic_id, subscriber_id) WHERE preferences IS NOT NULL;
CREATE INDEX topic_subscriptions_subscriber ON topic_subscriptions (environment_id, subscriber_id, id);
CREATE INDEX topic_subscriptions_topic ON topic_subscriptions (environment_id, topic_id, id);
CREATE INDEX topics_creator ON topics (environment_id, creator_id) WHERE creator_id IS NOT NULL;
CREATE UNIQUE INDEX topics_key ON topics (environment_id, "key");
CREATE INDEX topics_updated ON topics (environment_id, updated_at, id);
CREATE INDEX trigger_attachments_check ON trigger_attachments (check_at);
CREATE INDEX trigger_attachments_hash ON trigger_attachments (environment_id, hash);
CREATE INDEX trigger_parts_queued ON trigger_parts (environment_id, priority, trigger_id, id, lane);
CREATE INDEX trigger_parts_trigger ON trigger_parts (environment_id, trigger_id);
CREATE INDEX triggers_canceling ON triggers (environment_id, id) WHERE state = 'canceling';
CREATE INDEX triggers_due ON triggers (created_at, id) WHERE state = 'scheduled';
CREATE INDEX triggers_queued ON triggers (environment_id, priority, id, lane) WHERE state = 'queued';
CREATE INDEX triggers_scheduled ON triggers (environment_id, lane) WHERE state = 'scheduled';
CREATE INDEX triggers_splitting ON triggers (environment_id, priority, id) WHERE state = 'splitting';
CREATE UNIQUE INDEX triggers_transaction ON triggers (environment_id, transaction_key);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (environment_id, endpoint_id, due_at, id) WHERE status = 'queued';
CREATE INDEX webhook_deliveries_endpoint ON webhook_deliveries (environment_id, endpoint_id, id);
CREATE INDEX webhook_event_people_event ON webhook_event_people (environment_id, event_id);
CREATE UNIQUE INDEX workflow_versions_number ON workflow_versions (environment_id, workflow_id, number);
CREATE UNIQUE INDEX workflows_key ON workflows (environment_id, "key") WHERE deleted_at IS NULL;
CREATE TRIGGER subscriber_search_delete AFTER DELETE ON subscribers BEGIN
        DELETE FROM subscriber_search WHERE rowid = old.search_row;
    END;
CREATE TRIGGER subscriber_search_insert AFTER INSERT ON subscribers BEGIN
        INSERT INTO subscriber_search (rowid, email, phone, full_name)
        VALUES (new.search_row, lower(new.email), new.phone, new.full_name);
    END;
CREATE TRIGGER subscriber_search_update
    AFTER UPDATE OF email, phone, first_name, last_name ON subscribers BEGIN
        UPDATE subscriber_search SET email = lower(new.email), phone = new.phone, full_name = new.full_name
        WHERE rowid = new.search_row;
    END;
INSERT INTO alembic_version (version_num, works_with) VALUES ('0051', '0033..0051');
