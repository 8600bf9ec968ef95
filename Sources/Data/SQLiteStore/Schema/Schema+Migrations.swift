extension Schema {
  /// Migration jobs, and how far they are.
  static let migrationsVersion = """
    CREATE TABLE migration (
      migration_id INTEGER PRIMARY KEY,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      input_path TEXT NOT NULL,
      format TEXT NOT NULL,
      concurrency INTEGER NOT NULL,
      dry_run INTEGER NOT NULL,
      idempotency_key TEXT NOT NULL,  -- '': none
      actor TEXT NOT NULL,
      links_numbers INTEGER NOT NULL,
      owns_input INTEGER NOT NULL,
      state TEXT NOT NULL,
      problem TEXT NOT NULL,
      started_at INTEGER NOT NULL,    -- milliseconds since 1970
      finished_at INTEGER,            -- NULL: it goes on
      done_lines INTEGER NOT NULL,    -- all up to this one
      position INTEGER NOT NULL,      -- bytes before the next one
      duplicates INTEGER NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX migration_by_key ON migration (app, idempotency_key) WHERE idempotency_key <> '';
    CREATE INDEX migration_running ON migration (state) WHERE state = 'RUNNING';

    -- Lines that are done before one ahead of them is: never more than are worked on at a time.
    CREATE TABLE migration_line (
      migration_id INTEGER NOT NULL REFERENCES migration,
      line INTEGER NOT NULL,
      PRIMARY KEY (migration_id, line)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE migration_count (
      migration_id INTEGER NOT NULL REFERENCES migration,
      outcome TEXT NOT NULL,
      reason TEXT NOT NULL,           -- '': none
      count INTEGER NOT NULL,
      PRIMARY KEY (migration_id, outcome, reason)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE migration_failure (
      migration_id INTEGER NOT NULL REFERENCES migration,
      line INTEGER NOT NULL,
      position INTEGER NOT NULL,
      length INTEGER NOT NULL,
      customer_id TEXT NOT NULL,
      outcome TEXT NOT NULL,
      reason TEXT NOT NULL,
      explanation TEXT NOT NULL,
      PRIMARY KEY (migration_id, line)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX migration_failure_of_customer ON migration_failure (customer_id);

    """
}
