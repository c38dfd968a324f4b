"""SQLite: the database, its file, its log, its backups."""
