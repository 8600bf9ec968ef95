/// The tables of schema version 1, in SQLite's words. A released version never changes.
package enum Version01 {
  /// Evidence, facts, customers, events and ownership.
  package static let coreTables = """
    -- In each key the column with the most distinct values comes first, because it decides most comparisons.

    -- Everything that arrived, in order of arrival; append-only.
    CREATE TABLE evidence (
      evidence_id INTEGER PRIMARY KEY,
      app TEXT NOT NULL,
      environment TEXT,             -- NULL: not known
      customer_id TEXT NOT NULL,    -- '': none
      kind TEXT NOT NULL,
      source TEXT NOT NULL,
      received_at INTEGER NOT NULL, -- milliseconds since 1970
      known_at INTEGER,             -- NULL: at received_at; later if the clock was set back before it arrived
      content_hash BLOB NOT NULL,   -- SHA-256
      size INTEGER NOT NULL,        -- bytes
      body BLOB,                    -- NULL: too large, purged, or rejected and stored with other evidence already
      rejection TEXT NOT NULL,      -- '': accepted; otherwise the reason code
      compression INTEGER NOT NULL DEFAULT 0,        -- BodyForm
      is_found_by_content INTEGER NOT NULL DEFAULT 1 -- 0: its notification identifies it
    ) STRICT;

    -- When the latest evidence of each environment became known, so that known_at never goes back.
    CREATE TABLE last_known (
      app TEXT NOT NULL,
      environment TEXT NOT NULL,    -- '': not known
      known_at INTEGER NOT NULL,    -- milliseconds since 1970
      PRIMARY KEY (app, environment)
    ) STRICT, WITHOUT ROWID;

    CREATE UNIQUE INDEX unique_evidence
      ON evidence (content_hash, app, kind, customer_id, rejection) WHERE is_found_by_content = 1;

    -- Rejected bodies, which may be dropped, oldest first.
    CREATE INDEX rejected_body ON evidence (app, received_at) WHERE rejection <> '' AND body IS NOT NULL;

    -- The space of rejected evidence by app and day (UTC, in days since 1970).
    CREATE TABLE rejected_usage (
      app TEXT NOT NULL,
      day INTEGER NOT NULL,
      bytes INTEGER NOT NULL,       -- of stored bodies
      posts INTEGER NOT NULL,       -- by strangers
      PRIMARY KEY (app, day)
    ) STRICT, WITHOUT ROWID;

    -- Certificates and other segments that many evidence bodies share.
    CREATE TABLE shared_segment (
      segment_id INTEGER PRIMARY KEY,
      content_hash BLOB NOT NULL UNIQUE, -- SHA-256
      content BLOB NOT NULL
    ) STRICT;

    -- All rows of one line, next to each other: its next status poll, facts, and the evidence about it.
    CREATE TABLE line_record (
      line_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      kind INTEGER NOT NULL,        -- see the views
      id TEXT NOT NULL,             -- of a transaction; '': of another kind
      number INTEGER NOT NULL,      -- of renewals or evidence, from 0; 0: of another kind
      fact BLOB,
      evidence_id INTEGER REFERENCES evidence,
      product_id TEXT,
      shared_at INTEGER,
      at INTEGER,
      polled_at INTEGER,
      line_item TEXT,               -- webOrderLineItemId of a transaction
      PRIMARY KEY (line_id, app, environment, kind, id, number)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX poll_by_time ON line_record (app, environment, at) WHERE kind = 0;
    CREATE INDEX transaction_by_id ON line_record (id, app, environment) WHERE kind = 2;
    CREATE INDEX transaction_by_shared_at
      ON line_record (shared_at, product_id, app, environment) WHERE shared_at IS NOT NULL;
    CREATE INDEX transaction_by_line_item ON line_record (line_item) WHERE line_item IS NOT NULL;
    CREATE VIEW poll AS
      SELECT line_id, app, environment, at, polled_at FROM line_record WHERE kind = 0 AND id = '' AND number = 0;
    CREATE VIEW renewal_fact AS
      SELECT line_id, app, environment, number AS chunk, fact, evidence_id
      FROM line_record WHERE kind = 1 AND id = '';
    CREATE VIEW transaction_fact AS
      SELECT line_id, app, environment, id AS transaction_id, fact, evidence_id, product_id,
        shared_at
      FROM line_record WHERE kind = 2 AND number = 0;
    CREATE VIEW line_evidence AS
      SELECT line_id, app, environment, number AS evidence_id FROM line_record WHERE kind = 3 AND id = '';

    -- The read model: the facts of a customer in one row, preceded by the precomputed answers, which
    -- then need no second page.
    CREATE TABLE customer (
      customer_number INTEGER PRIMARY KEY, -- a hash of the identity, or the next free number
      identity BLOB NOT NULL,              -- app, environment, customer id
      answers BLOB NOT NULL,
      facts BLOB NOT NULL,
      due_at INTEGER,                      -- milliseconds since 1970, when time alone next changes an answer; NULL: never
      is_contradictory INTEGER             -- 1: the facts had a contradiction when they were last derived; otherwise NULL
    ) STRICT;
    CREATE INDEX contradictory_customer ON customer (is_contradictory, customer_number)
      WHERE is_contradictory IS NOT NULL;
    -- By the clock that decides: the bytes are ``CustomerIdentity/marker(of:)`` of the environment Sandbox.
    CREATE INDEX customer_by_due ON customer (due_at)
      WHERE due_at IS NOT NULL AND NOT (instr(identity, x'ff53616e64626f78ff') > 0);
    CREATE INDEX customer_by_sandbox_due ON customer (due_at)
      WHERE due_at IS NOT NULL AND instr(identity, x'ff53616e64626f78ff') > 0;

    -- The facts of a customer with many transactions, line by line; then customer.facts has only those that
    -- decide the answers of the present and the future.
    CREATE TABLE customer_line (
      -- No foreign key: each write replaces the row of the customer, and would look for all lines.
      customer_number INTEGER NOT NULL,
      line_id TEXT NOT NULL,
      chunk INTEGER NOT NULL,              -- 16 transactions each, if the line is long
      line_facts BLOB NOT NULL,
      PRIMARY KEY (customer_number, line_id, chunk)
    ) STRICT, WITHOUT ROWID;

    -- Written to find out whether writing works again.
    CREATE TABLE health_probe (filler BLOB NOT NULL) STRICT;
    INSERT INTO health_probe VALUES (x'');

    -- Changes in commit order: append-only, except for the ids of an erased customer.
    CREATE TABLE event (
      event_id INTEGER PRIMARY KEY,
      app TEXT NOT NULL,
      sequence INTEGER NOT NULL,      -- among the events of the app, from 1 without gaps
      environment TEXT NOT NULL,
      customer_id TEXT NOT NULL,
      entitlement TEXT NOT NULL,
      type TEXT NOT NULL,
      effective_at INTEGER NOT NULL,  -- milliseconds since 1970
      recorded_at INTEGER NOT NULL,
      evidence_id INTEGER REFERENCES evidence, -- NULL: caused by time
      actor TEXT NOT NULL,            -- '': none
      before BLOB NOT NULL,
      after BLOB NOT NULL,
      subject BLOB NOT NULL,          -- the transaction that it is about; empty: none
      counterparty_role TEXT NOT NULL, -- '': no other customer is involved
      counterparty TEXT NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX event_of_app ON event (app, sequence);
    CREATE INDEX event_of_customer ON event (customer_id, app, environment, sequence);
    CREATE INDEX event_of_counterparty ON event (counterparty, app, environment) WHERE counterparty <> '';
    -- The events that commands caused, for erasures.
    CREATE INDEX event_of_command ON event (evidence_id) WHERE actor <> '';

    -- The owners of each line: one customer, unless it is shared.
    CREATE TABLE line_customer (
      line_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      customer_id TEXT NOT NULL,
      evidence_id INTEGER NOT NULL REFERENCES evidence,
      PRIMARY KEY (line_id, app, environment, customer_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX line_of_customer ON line_customer (customer_id, app, environment);

    -- The history of line_customer.
    CREATE TABLE ownership_change (
      change_id INTEGER PRIMARY KEY,
      customer_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      line_id TEXT NOT NULL,
      gained INTEGER NOT NULL,        -- 1: linked; 0: unlinked
      at INTEGER NOT NULL,
      evidence_id INTEGER NOT NULL REFERENCES evidence
    ) STRICT;
    CREATE INDEX ownership_change_of_customer ON ownership_change (customer_id, app, environment);

    CREATE INDEX ownership_change_of_line ON ownership_change (line_id, app, environment);

    -- The evidence that names a customer.
    CREATE TABLE customer_evidence (
      customer_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,      -- '': not known
      evidence_id INTEGER NOT NULL REFERENCES evidence,
      PRIMARY KEY (customer_id, app, environment, evidence_id)
    ) STRICT, WITHOUT ROWID;

    -- The claim queue: purchases without an owner.
    CREATE TABLE unclaimed_line (
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      line_id TEXT NOT NULL,
      token TEXT NOT NULL,            -- the appAccountToken in lower case; '': none; 'ERASED': the owner was erased
      previous_line_id TEXT NOT NULL, -- the purchase that it replaced; '': none
      PRIMARY KEY (app, environment, line_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX unclaimed_line_by_token ON unclaimed_line (token, app, environment) WHERE token <> '';
    CREATE INDEX unclaimed_line_by_previous ON unclaimed_line (previous_line_id, app, environment)
      WHERE previous_line_id <> '';

    -- The customer of each appAccountToken.
    CREATE TABLE account_token (
      token TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      customer_id TEXT NOT NULL,
      PRIMARY KEY (token, app, environment)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX account_token_of_customer ON account_token (customer_id, app, environment);

    -- The merge target of each merged customer.
    CREATE TABLE merged_customer (
      customer_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      into_customer_id TEXT NOT NULL,
      PRIMARY KEY (customer_id, app, environment)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX merged_customer_by_target ON merged_customer (into_customer_id, app, environment);

    -- Notes of the operator's staff about customers.
    CREATE TABLE note (
      evidence_id INTEGER PRIMARY KEY REFERENCES evidence, -- the command that added it
      customer_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      note TEXT NOT NULL,
      actor TEXT NOT NULL,
      at INTEGER NOT NULL             -- milliseconds since 1970
    ) STRICT;
    CREATE INDEX note_of_customer ON note (customer_id, app, environment);

    -- Names and values that the operator attaches to customers.
    CREATE TABLE customer_attribute (
      customer_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      name TEXT NOT NULL,
      value TEXT NOT NULL,
      evidence_id INTEGER NOT NULL REFERENCES evidence, -- the command that set it
      PRIMARY KEY (customer_id, app, environment, name)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX customer_attribute_by_value ON customer_attribute (value, name);

    -- Completed erasures. The key of the hashes is not in the store.
    CREATE TABLE erasure (
      position INTEGER PRIMARY KEY,   -- in the order of the erasures
      erasure_id TEXT NOT NULL UNIQUE,
      customer_hash TEXT NOT NULL,
      pseudonym TEXT NOT NULL         -- '': the list had it before this store
    ) STRICT;
    CREATE INDEX erasure_of_customer ON erasure (customer_hash);

    -- The ids that receivers of CUSTOMER_ERASED need, for a day. The key is not in the store.
    CREATE TABLE erased_name (
      pseudonym TEXT PRIMARY KEY,
      sealed BLOB NOT NULL,           -- the encrypted id
      erased_at INTEGER NOT NULL      -- by the machine's clock
    ) STRICT, WITHOUT ROWID;

    -- Grants and app transactions, each a line.
    CREATE TABLE grant_fact (
      line_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      fact BLOB NOT NULL,
      source TEXT NOT NULL,           -- another store; '': a grant of the operator
      external_id TEXT NOT NULL,      -- the store's id of the purchase
      evidence_id INTEGER NOT NULL REFERENCES evidence, -- of the newest state
      PRIMARY KEY (line_id, app, environment)
    ) STRICT, WITHOUT ROWID;
    CREATE UNIQUE INDEX grant_of_external_purchase ON grant_fact (external_id, source, app, environment)
      WHERE source <> '';

    CREATE TABLE app_transaction_fact (
      line_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      fact BLOB NOT NULL,
      evidence_id INTEGER NOT NULL REFERENCES evidence,
      PRIMARY KEY (line_id, app, environment)
    ) STRICT, WITHOUT ROWID;

    -- The catalog fingerprints under which the answers of all customers of an app were computed, in order.
    CREATE TABLE catalog_change (
      change_id INTEGER PRIMARY KEY,
      app TEXT NOT NULL,
      fingerprint INTEGER NOT NULL,
      at INTEGER NOT NULL             -- milliseconds since 1970
    ) STRICT;
    CREATE INDEX catalog_change_of_app ON catalog_change (app);

    -- Seats that are or were claimed.
    CREATE TABLE seat (
      line_id TEXT NOT NULL, -- the seat's line id
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      purchase TEXT NOT NULL,                -- the original transaction id of the purchase
      seat_claim_id TEXT NOT NULL,           -- Apple's id of the claim; '': not reported to Apple
      request_identifier TEXT NOT NULL,
      claimed_at INTEGER NOT NULL,           -- milliseconds since 1970
      released_at INTEGER,                   -- NULL: held
      evidence_id INTEGER NOT NULL REFERENCES evidence,
      PRIMARY KEY (line_id, app, environment)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX seat_of_purchase ON seat (purchase, app, environment);
    CREATE INDEX seat_by_claim ON seat (seat_claim_id, app, environment) WHERE seat_claim_id <> '';

    -- Consumable purchases: the units that the customer should have, and those that were delivered.
    CREATE TABLE fulfillment (
      transaction_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      line_id TEXT NOT NULL,
      product_id TEXT NOT NULL,
      quantity INTEGER NOT NULL,
      target INTEGER NOT NULL,               -- quantity less the refunded units
      fulfilled INTEGER NOT NULL,            -- the sum of fulfillment_step.units
      purchased_at INTEGER NOT NULL,         -- milliseconds since 1970
      PRIMARY KEY (transaction_id, app, environment)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX fulfillment_due ON fulfillment (app, environment, transaction_id) WHERE target <> fulfilled;

    -- Acknowledged deliveries and take-backs.
    CREATE TABLE fulfillment_step (
      transaction_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      fulfillment_id TEXT NOT NULL,          -- the operator's
      units INTEGER NOT NULL,                -- negative: taken back
      at INTEGER NOT NULL,
      evidence_id INTEGER NOT NULL REFERENCES evidence,
      PRIMARY KEY (transaction_id, app, environment, fulfillment_id)
    ) STRICT, WITHOUT ROWID;

    -- The latest price of each product and storefront, without an offer.
    CREATE TABLE storefront_price (
      product_id TEXT NOT NULL,
      storefront TEXT NOT NULL,              -- ISO 3166-1 alpha-3
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      billing_plan TEXT NOT NULL,            -- '': none
      reason TEXT NOT NULL,                  -- Apple's transactionReason; '': none
      day INTEGER NOT NULL,                  -- of the purchase, in days since 1970 (UTC)
      milliunits INTEGER NOT NULL,           -- the highest price of the day
      currency TEXT NOT NULL,                -- ISO 4217
      PRIMARY KEY (product_id, storefront, app, environment, billing_plan, reason)
    ) STRICT, WITHOUT ROWID;

    -- The purchases made through each app install.
    CREATE TABLE app_install_line (
      app_transaction_id TEXT NOT NULL,      -- identifies one app install
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      line_id TEXT NOT NULL,
      PRIMARY KEY (app_transaction_id, app, environment, line_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX app_install_line_of_line ON app_install_line (line_id, app, environment);
    """
}

/// The values of `line_record.kind`. Persisted, and used by the views.
enum LineRecordKind {
  /// The time of the next status poll.
  static let poll = 0
  /// Up to 64 renewal infos.
  static let renewal = 1
  /// The transactions of a purchase.
  static let transaction = 2
  /// A piece of evidence about the line.
  static let evidence = 3
}
