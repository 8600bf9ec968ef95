extension Schema {
  /// All that is kept of a purchase line in one place: a document about it changes one page and not four.
  ///
  /// What was a table is a view of it, for those who read.
  static let linesVersion = """
    CREATE TABLE line_record (
      original_transaction_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      kind INTEGER NOT NULL,        -- what it is: see the views
      id ANY NOT NULL,              -- what tells it from others of its kind; '': there is one
      fact BLOB,
      evidence_id INTEGER REFERENCES evidence,
      product_id TEXT,
      shared_moment INTEGER,
      at INTEGER,
      asked_at INTEGER,
      PRIMARY KEY (original_transaction_id, app, environment, kind, id)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO line_record (original_transaction_id, app, environment, kind, id, at, asked_at)
      SELECT original_transaction_id, app, environment, 0, '', at, asked_at FROM poll ORDER BY 1, 2, 3;
    INSERT INTO line_record (original_transaction_id, app, environment, kind, id, fact, evidence_id)
      SELECT original_transaction_id, app, environment, 1, '', fact, evidence_id
      FROM renewal_fact ORDER BY 1, 2, 3;
    INSERT INTO line_record (
      original_transaction_id, app, environment, kind, id, fact, evidence_id, product_id, shared_moment)
      SELECT original_transaction_id, app, environment, 2, transaction_id, fact, evidence_id, product_id,
        shared_moment
      FROM transaction_fact ORDER BY 1, 2, 3, 5;
    INSERT INTO line_record (original_transaction_id, app, environment, kind, id, evidence_id)
      SELECT original_transaction_id, app, environment, 3, evidence_id, evidence_id
      FROM line_evidence ORDER BY 1, 2, 3, 5;
    DROP TABLE poll;
    DROP TABLE renewal_fact;
    DROP TABLE transaction_fact;
    DROP TABLE line_evidence;

    -- When Apple is asked how a subscription stands, because nobody may tell.
    CREATE VIEW poll AS
      SELECT original_transaction_id, app, environment, at, asked_at FROM line_record WHERE kind = 0;
    CREATE INDEX poll_by_time ON line_record (app, environment, at) WHERE kind = 0;
    -- The newest that a signed renewal info says of the line, and each signed transaction.
    CREATE VIEW renewal_fact AS
      SELECT original_transaction_id, app, environment, fact, evidence_id FROM line_record WHERE kind = 1;
    CREATE VIEW transaction_fact AS
      SELECT original_transaction_id, app, environment, id AS transaction_id, fact, evidence_id, product_id,
        shared_moment
      FROM line_record WHERE kind = 2;
    CREATE INDEX transaction_by_id ON line_record (id, app, environment) WHERE kind = 2;
    CREATE INDEX transaction_by_shared_moment
      ON line_record (shared_moment, product_id, app, environment) WHERE shared_moment IS NOT NULL;
    -- Which evidence is about which line.
    CREATE VIEW line_evidence AS
      SELECT original_transaction_id, app, environment, id AS evidence_id FROM line_record WHERE kind = 3;

    """
}

/// What a row of `line_record` is, as the views have it.
enum LineRecordKind {
  static let poll = 0
  static let renewal = 1
  static let transaction = 2
  static let evidence = 3
}
