"""Alembic's entry: run the migrations on the connection that `clarion.db.migrations.upgrade` opened."""

from alembic import context

from clarion.db.migrations import online
from clarion.db.schema import metadata

__all__ = ["online"]  # imported because it tells Alembic how to build indexes on PostgreSQL

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
    steps=context.config.attributes["steps"],
    script=context.config.attributes["script"],
)
with context.begin_transaction():
    context.run_migrations()
