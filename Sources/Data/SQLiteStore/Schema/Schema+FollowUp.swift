extension Schema {
  /// What Apple is still to be asked, and what was done where its word did not arrive.
  ///
  /// Every line that was known before is due at once (moment 0): the first look works out when.
  static let followUpVersion = """
    -- When Apple is asked how a subscription stands, because nobody may tell.
    CREATE TABLE poll (
      original_transaction_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      at INTEGER NOT NULL,            -- milliseconds since 1970
      asked_at INTEGER,               -- NULL: never
      PRIMARY KEY (original_transaction_id, app, environment)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX poll_by_time ON poll (app, environment, at);
    INSERT INTO poll
      SELECT DISTINCT original_transaction_id, app, environment, 0, NULL FROM transaction_fact;

    -- Until when the notifications of each app are accounted for.
    CREATE TABLE delivery_mark (
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      complete_until INTEGER NOT NULL,
      swept_until INTEGER NOT NULL,
      last_delivery INTEGER,          -- NULL: none yet
      usual_distance INTEGER,         -- milliseconds; NULL: not known
      PRIMARY KEY (app, environment)
    ) STRICT, WITHOUT ROWID;

    -- Fillings of gaps, and how far each came.
    CREATE TABLE repair (
      repair_id INTEGER PRIMARY KEY,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      reason TEXT NOT NULL,
      since INTEGER NOT NULL,
      until INTEGER NOT NULL,
      only_failures INTEGER NOT NULL,
      started_at INTEGER NOT NULL,
      finished_at INTEGER,            -- NULL: it goes on
      phase TEXT NOT NULL,
      page_token TEXT,                -- NULL: at the beginning
      received INTEGER NOT NULL,
      already_known INTEGER NOT NULL,
      asked INTEGER NOT NULL,
      problem TEXT NOT NULL           -- '': none
    ) STRICT;
    CREATE INDEX open_repair ON repair (app, environment) WHERE finished_at IS NULL;

    -- The lines about which Apple is still to be asked in the course of a repair.
    CREATE TABLE repair_line (
      repair_id INTEGER NOT NULL REFERENCES repair,
      original_transaction_id TEXT NOT NULL,
      PRIMARY KEY (repair_id, original_transaction_id)
    ) STRICT, WITHOUT ROWID;

    -- What was believed before a repair, and what Apple's word turned out to be.
    CREATE TABLE drift (
      repair_id INTEGER NOT NULL REFERENCES repair,
      customer_id TEXT NOT NULL,
      entitlement TEXT NOT NULL,
      noticed_at INTEGER NOT NULL,    -- the moment that both are about
      believed BLOB NOT NULL,
      found BLOB,                     -- NULL: not compared yet
      PRIMARY KEY (repair_id, customer_id, entitlement)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX drift_of_customer ON drift (customer_id);

    """
}
