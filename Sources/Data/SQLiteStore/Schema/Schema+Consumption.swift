extension Schema {
  /// Apple's questions about purchases whose customers want the money back, and who agreed to an answer.
  static let consumptionVersion = """
    CREATE TABLE consumption_inquiry (
      evidence_id INTEGER PRIMARY KEY,  -- the notification
      original_transaction_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      transaction_id TEXT NOT NULL,
      product_id TEXT NOT NULL,
      reason TEXT NOT NULL,             -- the customer's, in Apple's words
      requested_at INTEGER NOT NULL,    -- milliseconds since 1970
      state TEXT NOT NULL,
      problem TEXT NOT NULL,            -- why it waits, or was never answered
      attempts INTEGER NOT NULL,
      due_at INTEGER,                   -- NULL: settled
      settled_at INTEGER
    ) STRICT;
    CREATE INDEX consumption_inquiry_due ON consumption_inquiry (due_at) WHERE due_at IS NOT NULL;
    CREATE INDEX consumption_inquiry_of_line
      ON consumption_inquiry (original_transaction_id, app, environment);
    CREATE TABLE consumption_consent (
      customer_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      given INTEGER NOT NULL,           -- 0: withdrawn
      since INTEGER NOT NULL,
      evidence_id INTEGER NOT NULL REFERENCES evidence,
      PRIMARY KEY (customer_id, app, environment)
    ) STRICT, WITHOUT ROWID;

    """
}
