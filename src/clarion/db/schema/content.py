"""What messages are made of beside their steps: layouts, translations, contexts, and variables of environments."""

from sqlalchemy import Boolean, Column, Index, Integer, Table, text

from clarion.db.schema.columns import flag, id_, metadata, moment, text_

layouts = Table(
    "layouts",
    metadata,
    id_("environment_id", key=True),
    id_("id", key=True),
    text_("key"),  # chosen by the caller
    text_("name"),
    flag("is_default"),
    id_("version_id"),
    moment("created_at"),
    moment("updated_at"),
    moment("deleted_at", optional=True),
    Index(
        "layouts_key",
        "environment_id",
        "key",
        unique=True,
        sqlite_where=text("deleted_at IS NULL"),
        postgresql_where=text("deleted_at IS NULL"),
    ),
    Index(
        "layouts_default",
        "environment_id",
        unique=True,
        sqlite_where=text("is_default AND deleted_at IS NULL"),
        postgresql_where=text("is_default AND deleted_at IS NULL"),
    ),
)

layout_versions = Table(
    "layout_versions",  # they never change: a run uses the one that was current when its trigger was accepted
    metadata,
    id_("environment_id", key=True),
    id_("id", key=True),
    id_("layout_id"),
    Column("number", Integer, nullable=False),
    text_("body", optional=True),  # NULL: nothing was stored, or it was cleared
    text_("editor_type"),
    text_("actor_type", optional=True),  # who saved it
    text_("actor_id", optional=True),
    text_("actor_name", optional=True),
    moment("created_at"),
    Index("layout_versions_number", "environment_id", "layout_id", "number", unique=True),
)

translation_groups = Table(
    "translation_groups",  # the workflows and layouts that have translations
    metadata,
    id_("environment_id", key=True),
    text_("resource_type", key=True),  # workflow or layout
    id_("resource_id", key=True),
    flag("is_enabled"),  # whether they are used; they are kept while they are not
    moment("disabled_at", optional=True),  # when they were last switched off: earlier triggers still use them
    moment("created_at"),
    moment("updated_at"),
    sqlite_with_rowid=False,
)

translations = Table(
    "translations",
    metadata,
    id_("environment_id", key=True),
    text_("resource_type", key=True),  # workflow or layout
    id_("resource_id", key=True),
    text_("locale", key=True),  # such as en_US
    text_("content"),  # JSON object of texts
    moment("created_at"),
    moment("updated_at"),
    sqlite_with_rowid=False,
)

contexts = Table(
    "contexts",
    metadata,
    id_("environment_id", key=True),
    id_("id", key=True),
    text_("type"),
    text_("key"),  # chosen by the caller
    text_("data"),  # JSON object
    moment("created_at"),
    moment("updated_at"),
    Index("contexts_key", "environment_id", "type", "key", unique=True),
    Index("contexts_updated", "environment_id", "updated_at", "id"),
)

environment_variables = Table(
    "environment_variables",
    metadata,
    id_("organization_id", key=True),
    id_("id", key=True),
    text_("key"),
    flag("is_secret"),
    Column("for_credentials", Boolean, nullable=True),  # NULL: no
    moment("created_at"),
    moment("updated_at"),
    Index("environment_variables_key", "organization_id", "key", unique=True),
)

environment_variable_values = Table(
    "environment_variable_values",
    metadata,
    id_("environment_id", key=True),
    id_("variable_id", key=True),
    text_("value"),  # sealed
)
