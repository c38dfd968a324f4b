"""Database access: one interface, implemented for SQLite and PostgreSQL."""
