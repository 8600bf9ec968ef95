extension Schema {
  /// Seats that were claimed, and transactions by their number and by what a family has in common.
  static let seatsVersion = """
    CREATE TABLE seat (
      original_transaction_id TEXT NOT NULL, -- of the seat's own line
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      purchase TEXT NOT NULL,                -- Apple's number of the line that has the seat
      seat_claim_id TEXT NOT NULL,           -- Apple's number of the claim; '': Apple was not told
      request_identifier TEXT NOT NULL,
      claimed_at INTEGER NOT NULL,           -- milliseconds since 1970
      released_at INTEGER,                   -- NULL: held
      evidence_id INTEGER NOT NULL REFERENCES evidence,
      PRIMARY KEY (original_transaction_id, app, environment)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX seat_of_purchase ON seat (purchase, app, environment);
    CREATE INDEX seat_by_claim ON seat (seat_claim_id, app, environment) WHERE seat_claim_id <> '';

    -- NULL: not shared in families, or kept before there was this column; replaying fills it.
    ALTER TABLE transaction_fact ADD COLUMN product_id TEXT;
    ALTER TABLE transaction_fact ADD COLUMN shared_moment INTEGER;
    CREATE INDEX transaction_by_shared_moment ON transaction_fact (shared_moment, product_id, app, environment)
      WHERE shared_moment IS NOT NULL;
    CREATE INDEX transaction_by_id ON transaction_fact (transaction_id, app, environment);

    """
}
