extension Version01 {
  /// Notifications, reconciliation, consumption requests, migration jobs, webhooks and reports.
  package static let operationTables = """
    -- Apple's notifications.
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
      line_id TEXT NOT NULL,
      transaction_id TEXT NOT NULL,
      product_id TEXT NOT NULL
    ) STRICT;
    -- A rejected notification may carry a made-up UUID.
    CREATE UNIQUE INDEX unique_notification ON notification (uuid, app, environment)
      WHERE uuid <> '' AND state <> 'REJECTED';
    -- The lists of notifications that had no effect.
    CREATE INDEX notification_by_state ON notification (state, evidence_id)
      WHERE state NOT IN ('APPLIED', 'SUPERSEDED');
    -- line_evidence finds those of version 2.
    CREATE INDEX notification_of_line ON notification (line_id, app, environment)
      WHERE version = 1;

    -- Pending calls to Apple about single lines, and the time of the last call.
    CREATE TABLE refresh (
      line_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      queried_at INTEGER,               -- milliseconds since 1970; NULL: never
      due_at INTEGER,                 -- NULL: no refresh is pending
      attempts INTEGER NOT NULL,      -- failed ones since the last success
      reason TEXT NOT NULL,           -- why it is pending; '': it is not
      revision TEXT,                  -- Apple's token of the next page; NULL: the first one
      PRIMARY KEY (line_id, app, environment)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX refresh_by_time ON refresh (due_at) WHERE due_at IS NOT NULL;

    -- Per app environment: until when Apple's deliveries are known to be complete.
    CREATE TABLE delivery_watermark (
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      complete_until INTEGER NOT NULL,
      searched_until INTEGER NOT NULL,
      last_delivery INTEGER,          -- NULL: none yet
      typical_interval INTEGER,       -- milliseconds; NULL: not known
      full_poll_at INTEGER,           -- NULL: never
      unread_since INTEGER,           -- the time whose history must be read before the watermark advances
      unread_until INTEGER,           -- NULL: none
      PRIMARY KEY (app, environment)
    ) STRICT, WITHOUT ROWID;

    -- Gap repairs, their queued lines and their reports.
    CREATE TABLE repair (
      repair_id INTEGER PRIMARY KEY,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      reason TEXT NOT NULL,
      since INTEGER NOT NULL,
      until INTEGER NOT NULL,
      only_failures INTEGER NOT NULL,
      started_at INTEGER NOT NULL,
      finished_at INTEGER,            -- NULL: unfinished
      phase TEXT NOT NULL,
      page_token TEXT,                -- NULL: at the beginning
      received INTEGER NOT NULL,
      already_known INTEGER NOT NULL,
      queried_purchases INTEGER NOT NULL,
      error TEXT NOT NULL,            -- '': none
      partial_error TEXT NOT NULL     -- '': no part was left out
    ) STRICT;
    CREATE INDEX open_repair ON repair (app, environment) WHERE finished_at IS NULL;

    CREATE TABLE repair_line (
      repair_id INTEGER NOT NULL REFERENCES repair,
      line_id TEXT NOT NULL,
      PRIMARY KEY (repair_id, line_id)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE drift (
      repair_id INTEGER NOT NULL REFERENCES repair,
      customer_id TEXT NOT NULL,
      entitlement TEXT NOT NULL,
      detected_at INTEGER NOT NULL,   -- the instant of both statuses
      before BLOB NOT NULL,
      after BLOB,                     -- NULL: not compared yet
      PRIMARY KEY (repair_id, customer_id, entitlement)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX drift_of_customer ON drift (customer_id);

    -- Apple's consumption requests.
    CREATE TABLE consumption_request (
      evidence_id INTEGER PRIMARY KEY,  -- the notification
      line_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      transaction_id TEXT NOT NULL,
      product_id TEXT NOT NULL,
      reason TEXT NOT NULL,             -- Apple's code for the customer's reason
      requested_at INTEGER NOT NULL,    -- milliseconds since 1970
      state TEXT NOT NULL,
      error TEXT NOT NULL,            -- why it is pending or expired
      attempts INTEGER NOT NULL,
      due_at INTEGER,                   -- NULL: closed
      settled_at INTEGER
    ) STRICT;
    CREATE INDEX consumption_request_due ON consumption_request (due_at) WHERE due_at IS NOT NULL;
    CREATE INDEX missed_consumption_request ON consumption_request (settled_at) WHERE state = 'MISSED';
    CREATE INDEX consumption_request_of_line
      ON consumption_request (line_id, app, environment);

    -- External purchase tokens, which the operator reports to Apple.
    CREATE TABLE external_token (
      external_purchase_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      token_type TEXT NOT NULL,         -- Apple's tokenType; '': none
      created_at INTEGER NOT NULL,      -- milliseconds since 1970
      expires_at INTEGER,               -- NULL: it does not
      report_by INTEGER NOT NULL,       -- Apple's deadline
      evidence_id INTEGER NOT NULL REFERENCES evidence,
      notified_at INTEGER,              -- NULL: Apple sent nothing about it
      complained_at INTEGER,            -- NULL: Apple did not complain
      reported_at INTEGER,              -- NULL: no report
      report_status TEXT NOT NULL,      -- '': no report
      request_identifier TEXT NOT NULL, -- '': no report
      is_reported INTEGER NOT NULL,     -- 0: Apple expects a report
      PRIMARY KEY (external_purchase_id, app, environment)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX external_token_by_deadline ON external_token (report_by, external_purchase_id);
    CREATE INDEX external_token_unreported ON external_token (report_by, external_purchase_id)
      WHERE is_reported = 0;

    -- Apple's requests for retention messages, with their answers and outcomes.
    CREATE TABLE retention_request (
      request_id TEXT NOT NULL,         -- Apple's requestIdentifier
      line_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      product_id TEXT NOT NULL,
      renewal_product_id TEXT NOT NULL, -- '': not known
      locale TEXT NOT NULL,
      asked_at INTEGER NOT NULL,        -- milliseconds since 1970
      received_at INTEGER NOT NULL,
      answer TEXT NOT NULL,
      reason TEXT NOT NULL,
      rule TEXT NOT NULL,               -- '': none
      message_id TEXT NOT NULL,         -- '': none
      offered_product_id TEXT NOT NULL, -- '': none
      offer_id TEXT NOT NULL,           -- '': none
      microseconds INTEGER NOT NULL,    -- from the arrival to the answer
      outcome TEXT NOT NULL,
      evaluated_at INTEGER,             -- NULL: not yet
      due_at INTEGER,                   -- NULL: the outcome is final
      PRIMARY KEY (request_id, app, environment)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX retention_request_by_time ON retention_request (app, received_at, request_id);
    CREATE INDEX retention_request_by_age ON retention_request (received_at);
    CREATE INDEX retention_request_due ON retention_request (due_at) WHERE due_at IS NOT NULL;

    -- Consents of parents or guardians that were withdrawn, of app installs.
    CREATE TABLE consent_withdrawal (
      app_transaction_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      withdrawn_at INTEGER NOT NULL,    -- milliseconds since 1970
      evidence_id INTEGER NOT NULL REFERENCES evidence,
      settled_at INTEGER,               -- NULL: never
      settlement_id INTEGER,            -- evidence of the settlement; NULL: none
      is_settled INTEGER NOT NULL,      -- 0: the operator has to act
      PRIMARY KEY (app_transaction_id, app, environment)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX consent_withdrawal_by_time ON consent_withdrawal (withdrawn_at, app_transaction_id);
    CREATE INDEX consent_withdrawal_open ON consent_withdrawal (withdrawn_at, app_transaction_id)
      WHERE is_settled = 0;

    -- Events of RevenueCat's webhooks, as they arrived.
    CREATE TABLE imported_event (
      event_id TEXT NOT NULL,           -- RevenueCat's
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      type TEXT NOT NULL,
      occurred_at INTEGER NOT NULL,     -- milliseconds since 1970
      received_at INTEGER NOT NULL,
      purchase TEXT,                    -- the store and its id of the purchase; NULL: the event names none
      body BLOB NOT NULL,
      PRIMARY KEY (event_id, app, environment)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX imported_event_by_time ON imported_event (app, received_at);
    CREATE INDEX imported_event_by_purchase ON imported_event (purchase, app, environment, occurred_at, event_id)
      WHERE purchase IS NOT NULL;

    -- The customers that these events name.
    CREATE TABLE imported_event_customer (
      customer_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      occurred_at INTEGER NOT NULL,     -- of the event
      event_id TEXT NOT NULL,
      PRIMARY KEY (customer_id, app, environment, occurred_at, event_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX imported_event_customer_by_event ON imported_event_customer (event_id, app, environment);

    -- The next comparison of each customer whose events they are with the answers here.
    CREATE TABLE access_comparison (
      customer_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      due_at INTEGER NOT NULL,          -- milliseconds since 1970; 0: at once
      events INTEGER NOT NULL,          -- the number of events so far
      PRIMARY KEY (customer_id, app, environment)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX access_comparison_due ON access_comparison (due_at);

    -- Open disagreements, with both sides at the last comparison.
    CREATE TABLE access_disagreement (
      customer_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      entitlement TEXT NOT NULL,
      kind TEXT NOT NULL,
      detected_at INTEGER NOT NULL,     -- milliseconds since 1970
      checked_at INTEGER NOT NULL,
      stated_until INTEGER,             -- NULL: no end
      event_id TEXT NOT NULL,           -- the deciding event
      reason TEXT NOT NULL,
      until INTEGER,                    -- NULL: no end, or no access
      evidence_id INTEGER,              -- of the answer here; NULL: none
      PRIMARY KEY (customer_id, app, environment, entitlement)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX access_disagreement_by_time
      ON access_disagreement (app, environment, detected_at, customer_id, entitlement);

    -- Calls that looked at or changed customers.
    CREATE TABLE audit_entry (
      entry_id INTEGER PRIMARY KEY AUTOINCREMENT,
      at INTEGER NOT NULL,            -- milliseconds since 1970
      caller TEXT NOT NULL,           -- '': callers are not authenticated
      actor TEXT NOT NULL,
      method TEXT NOT NULL,
      app TEXT NOT NULL,              -- '': the request names none
      subject TEXT NOT NULL,
      note TEXT NOT NULL,
      outcome TEXT NOT NULL,
      request_id TEXT NOT NULL,
      address TEXT NOT NULL,          -- of the peer; '': not known
      as_of INTEGER,                  -- milliseconds since 1970, as the request states it; NULL: the present
      known_at INTEGER                -- likewise
    ) STRICT;
    CREATE INDEX audit_entry_by_time ON audit_entry (at);
    CREATE TABLE audit_customer (
      customer_id TEXT NOT NULL,
      app TEXT NOT NULL,
      entry_id INTEGER NOT NULL REFERENCES audit_entry,
      position INTEGER NOT NULL,      -- among the customers of the entry
      PRIMARY KEY (customer_id, app, entry_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX audit_customer_of_entry ON audit_customer (entry_id);

    -- The installations that exchanged a purchase's documents for a token, of each day.
    CREATE TABLE installation (
      line_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      day INTEGER NOT NULL,           -- UTC, in days since 1970
      installation BLOB NOT NULL,     -- 16 bytes of a hash
      PRIMARY KEY (line_id, app, environment, day, installation)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX installation_by_day ON installation (app, environment, day);

    -- Customers who consented to sharing their consumption with Apple.
    CREATE TABLE consumption_consent (
      customer_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      given INTEGER NOT NULL,           -- 0: withdrawn
      since INTEGER NOT NULL,
      evidence_id INTEGER NOT NULL REFERENCES evidence,
      PRIMARY KEY (customer_id, app, environment)
    ) STRICT, WITHOUT ROWID;

    -- Migration jobs, their progress and their failures.
    CREATE TABLE migration (
      migration_id INTEGER PRIMARY KEY,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      input_path TEXT NOT NULL,
      format TEXT NOT NULL,
      concurrency INTEGER NOT NULL,
      dry_run INTEGER NOT NULL,
      actor TEXT NOT NULL,
      links_unverified_ids INTEGER NOT NULL,
      owns_input INTEGER NOT NULL,
      state TEXT NOT NULL,
      error TEXT NOT NULL,
      started_at INTEGER NOT NULL,    -- milliseconds since 1970
      finished_at INTEGER,            -- NULL: unfinished
      done_lines INTEGER NOT NULL,    -- every line up to this one is done
      position INTEGER NOT NULL,      -- byte offset of the next line
      duplicates INTEGER NOT NULL,
      purged INTEGER NOT NULL         -- 1: lines that finish later leave no result
    ) STRICT;
    CREATE INDEX migration_running ON migration (state) WHERE state = 'RUNNING';

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

    -- Requests with idempotency keys of the last 30 days. The key of the hashes is not in the store.
    CREATE TABLE idempotency (
      key_hash BLOB PRIMARY KEY,      -- of the key and its caller
      request_hash BLOB NOT NULL,     -- of the request without the key
      state TEXT NOT NULL,
      response BLOB NOT NULL,
      recorded_at INTEGER NOT NULL    -- milliseconds since 1970
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX idempotency_by_time ON idempotency (recorded_at);

    -- The customers that these requests and their responses name.
    CREATE TABLE idempotency_customer (
      customer_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      key_hash BLOB NOT NULL REFERENCES idempotency,
      PRIMARY KEY (customer_id, app, environment, key_hash)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX idempotency_customer_by_key ON idempotency_customer (key_hash);

    -- The position of each webhook.
    CREATE TABLE webhook_cursor (
      app TEXT NOT NULL,
      kind TEXT NOT NULL,              -- EVENTS or NOTIFICATIONS
      name TEXT NOT NULL,              -- the operator's
      position INTEGER NOT NULL,       -- every message up to here is delivered or in the table delivery
      gone_at INTEGER,                 -- when the receiver returned 410; NULL: it accepts messages
      begins_after INTEGER NOT NULL DEFAULT 0, -- the position of the last message from before the webhook
      PRIMARY KEY (app, kind, name)
    ) STRICT, WITHOUT ROWID;

    -- Messages that a webhook has not accepted yet.
    CREATE TABLE delivery (
      app TEXT NOT NULL,
      kind TEXT NOT NULL,
      name TEXT NOT NULL,
      position INTEGER NOT NULL,       -- event.sequence, or evidence_id of a notification
      environment TEXT NOT NULL,       -- '': not known
      subject TEXT NOT NULL,           -- customer_id, or original transaction id
      type TEXT NOT NULL,
      occurred_at INTEGER NOT NULL,    -- milliseconds since 1970
      state TEXT NOT NULL,
      attempts INTEGER NOT NULL,
      first_attempt_at INTEGER,        -- NULL: never tried
      due_at INTEGER,                  -- NULL: a dead letter, or not the first of its ordering key
      outcome TEXT NOT NULL,           -- of the last attempt
      PRIMARY KEY (app, kind, name, position)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX delivery_due ON delivery (app, kind, name, due_at, position) WHERE due_at IS NOT NULL;
    CREATE INDEX delivery_of_subject ON delivery (subject, app, kind, name, environment, state, position);
    """ + reportTables + "\n" + segmentTables
}
