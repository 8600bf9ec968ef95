extension Schema {
  /// About which lines Apple is still to be asked, and when it was last asked about each.
  static let refreshVersion = """
    CREATE TABLE refresh (
      original_transaction_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      asked_at INTEGER,               -- milliseconds since 1970; NULL: never
      due_at INTEGER,                 -- NULL: nothing is to be asked
      attempts INTEGER NOT NULL,      -- in vain, since it was last settled
      reason TEXT NOT NULL,           -- why it is still to be asked; '': it is not
      PRIMARY KEY (original_transaction_id, app, environment)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX refresh_by_time ON refresh (due_at) WHERE due_at IS NOT NULL;

    """
}
