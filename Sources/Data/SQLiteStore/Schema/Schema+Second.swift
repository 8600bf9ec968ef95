extension Schema {
  /// Identity, events, grants and time. A purchase line may now belong to several customers, grants and app
  /// transactions are kept like lines, and what happened to each is remembered.
  ///
  /// Who was known before is due at once (moment 0): the first look works out when the next one is.
  static let secondVersion = """
    -- What changed, in the order in which it was committed: consecutive, appended, never changed but for
    -- the customer's name when the person is erased.
    CREATE TABLE event (
      sequence INTEGER PRIMARY KEY,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      customer_id TEXT NOT NULL,
      entitlement TEXT NOT NULL,
      type TEXT NOT NULL,
      effective_at INTEGER NOT NULL,  -- milliseconds since 1970
      recorded_at INTEGER NOT NULL,
      evidence_id INTEGER REFERENCES evidence, -- NULL: time alone
      actor TEXT NOT NULL,            -- '': nobody of the operator's
      before BLOB NOT NULL,
      after BLOB NOT NULL
    ) STRICT;
    CREATE INDEX event_of_customer ON event (customer_id, app, environment);

    -- To whom each line belongs: to one customer, unless it is shared.
    CREATE TABLE line_customer (
      original_transaction_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      customer_id TEXT NOT NULL,
      evidence_id INTEGER NOT NULL REFERENCES evidence,
      PRIMARY KEY (original_transaction_id, app, environment, customer_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX line_of_customer ON line_customer (customer_id, app, environment);
    INSERT INTO line_customer SELECT * FROM line_owner;

    -- How it came to that.
    CREATE TABLE ownership_change (
      change_id INTEGER PRIMARY KEY,
      customer_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      original_transaction_id TEXT NOT NULL,
      gained INTEGER NOT NULL,        -- 1: from here on the customer's; 0: no more
      at INTEGER NOT NULL,
      evidence_id INTEGER NOT NULL REFERENCES evidence
    ) STRICT;
    CREATE INDEX ownership_change_of_customer ON ownership_change (customer_id, app, environment);
    INSERT INTO ownership_change (
      customer_id, app, environment, original_transaction_id, gained, at, evidence_id)
      SELECT o.customer_id, o.app, o.environment, o.original_transaction_id, 1, e.received_at, e.evidence_id
      FROM line_owner o JOIN evidence e USING (evidence_id);
    DROP TABLE line_owner;

    -- Which evidence is about which line, and which names which customer.
    CREATE TABLE line_evidence (
      original_transaction_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      evidence_id INTEGER NOT NULL REFERENCES evidence,
      PRIMARY KEY (original_transaction_id, app, environment, evidence_id)
    ) STRICT, WITHOUT ROWID;
    INSERT OR IGNORE INTO line_evidence
      SELECT original_transaction_id, app, environment, evidence_id FROM transaction_fact;
    INSERT OR IGNORE INTO line_evidence
      SELECT original_transaction_id, app, environment, evidence_id FROM renewal_fact;
    CREATE TABLE customer_evidence (
      customer_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,      -- '': not known
      evidence_id INTEGER NOT NULL REFERENCES evidence,
      PRIMARY KEY (customer_id, app, environment, evidence_id)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO customer_evidence
      SELECT customer_id, app, ifnull(environment, ''), evidence_id FROM evidence WHERE customer_id <> '';

    -- Lines that belong to nobody yet.
    CREATE TABLE unclaimed_line (
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      original_transaction_id TEXT NOT NULL,
      token TEXT NOT NULL,            -- the appAccountToken in lower case; '': none
      PRIMARY KEY (app, environment, original_transaction_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX unclaimed_line_by_token ON unclaimed_line (token, app, environment) WHERE token <> '';

    -- Which customer buys with which appAccountToken, and who became who.
    CREATE TABLE account_token (
      token TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      customer_id TEXT NOT NULL,
      PRIMARY KEY (token, app, environment)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX account_token_of_customer ON account_token (customer_id, app, environment);
    CREATE TABLE merged_customer (
      customer_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      into_customer_id TEXT NOT NULL,
      PRIMARY KEY (customer_id, app, environment)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX merged_customer_by_survivor ON merged_customer (into_customer_id, app, environment);

    -- What the operator gave, and app transactions, each as a line of its own.
    CREATE TABLE grant_fact (
      original_transaction_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      fact BLOB NOT NULL,
      idempotency_key TEXT NOT NULL,  -- '': none
      evidence_id INTEGER NOT NULL REFERENCES evidence,
      PRIMARY KEY (original_transaction_id, app, environment)
    ) STRICT, WITHOUT ROWID;
    CREATE UNIQUE INDEX grant_by_key ON grant_fact (idempotency_key, app, environment)
      WHERE idempotency_key <> '';
    CREATE TABLE app_transaction_fact (
      original_transaction_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      fact BLOB NOT NULL,
      evidence_id INTEGER NOT NULL REFERENCES evidence,
      PRIMARY KEY (original_transaction_id, app, environment)
    ) STRICT, WITHOUT ROWID;

    -- When time alone next changes an answer of a customer.
    CREATE TABLE due (
      customer_number INTEGER PRIMARY KEY,
      at INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX due_by_time ON due (at);
    INSERT INTO due SELECT customer_number, 0 FROM customer;

    -- Under which catalog (AppDefinition.fingerprint) all customers of an app were last told their answers.
    CREATE TABLE told_under (
      app TEXT PRIMARY KEY,
      fingerprint INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    """
}
