"""SQL: the time by the clock of the database, so that the clocks of machines do not matter."""

from clarion.db.port import Dialect

POSTGRES_NOW = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"
NOW = {Dialect.SQLITE: "CAST(unixepoch('subsec') * 1000 AS INTEGER)", Dialect.POSTGRES: POSTGRES_NOW}
