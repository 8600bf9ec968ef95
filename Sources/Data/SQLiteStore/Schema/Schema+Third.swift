extension Schema {
  /// Notifications, for those who ask which arrived.
  static let thirdVersion = """
    CREATE TABLE notification (
      evidence_id INTEGER PRIMARY KEY REFERENCES evidence,
      app TEXT NOT NULL,
      environment TEXT,                -- NULL: not known
      version INTEGER NOT NULL,        -- 1 or 2
      uuid TEXT NOT NULL,              -- '': version 1, or not known
      type TEXT NOT NULL,
      subtype TEXT NOT NULL,
      state TEXT NOT NULL,
      reason TEXT NOT NULL,            -- '': none
      meaning TEXT NOT NULL,
      signed_at INTEGER,               -- milliseconds since 1970
      received_at INTEGER NOT NULL,
      original_transaction_id TEXT NOT NULL,
      transaction_id TEXT NOT NULL,
      product_id TEXT NOT NULL
    ) STRICT;
    -- Of what is rejected anybody may have made up the number.
    CREATE UNIQUE INDEX notification_is_kept_once ON notification (uuid, app, environment)
      WHERE uuid <> '' AND state <> 'REJECTED';
    CREATE INDEX notification_of_line ON notification (original_transaction_id, app, environment)
      WHERE original_transaction_id <> '';

    """
}
