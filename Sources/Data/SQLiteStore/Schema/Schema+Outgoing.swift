extension Schema {
  /// What goes out: how far each receiver got, and what did not arrive.
  static let outgoingVersion = """
    CREATE TABLE outlet (
      app TEXT NOT NULL,
      kind TEXT NOT NULL,              -- EVENTS or NOTIFICATIONS
      name TEXT NOT NULL,              -- the operator's
      position INTEGER NOT NULL,       -- all up to here was sent, or stands in delivery
      gone_at INTEGER,                 -- NULL: it takes messages
      PRIMARY KEY (app, kind, name)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE delivery (
      app TEXT NOT NULL,
      kind TEXT NOT NULL,
      name TEXT NOT NULL,
      position INTEGER NOT NULL,       -- event.sequence, or evidence_id of a notification
      environment TEXT NOT NULL,       -- '': not known
      subject TEXT NOT NULL,           -- customer_id, or original_transaction_id
      type TEXT NOT NULL,
      happened_at INTEGER NOT NULL,    -- milliseconds since 1970
      state TEXT NOT NULL,
      attempts INTEGER NOT NULL,
      first_attempt_at INTEGER,        -- NULL: never tried
      due_at INTEGER,                  -- NULL: dead, or behind another one of its subject
      outcome TEXT NOT NULL,           -- of the last attempt
      PRIMARY KEY (app, kind, name, position)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX delivery_due ON delivery (app, kind, name, due_at) WHERE due_at IS NOT NULL;
    CREATE INDEX delivery_of_subject ON delivery (subject, app, kind, name, environment, state, position);

    """
}
