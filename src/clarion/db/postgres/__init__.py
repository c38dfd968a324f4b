"""PostgreSQL: the database, its connections and notifications."""
