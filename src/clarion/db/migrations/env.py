"""Alembic's entry: run the migrations on the connection that `clarion.db.migrate` opened."""

from alembic import context

from clarion.db.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, transactional_ddl=True)
with context.begin_transaction():
    context.run_migrations()
