extension Version01 {
  /// The state of each purchase, and the saved segments.
  package static let segmentTables = """
    -- The state of each purchase for each of its customers, until time or evidence changes it.
    CREATE TABLE purchase_state (
      row_number INTEGER PRIMARY KEY,
      line_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      customer_id TEXT NOT NULL,       -- '': no owner
      state INTEGER NOT NULL,          -- SegmentState
      reason TEXT NOT NULL,
      transaction_id TEXT NOT NULL,
      product_id TEXT NOT NULL,
      storefront TEXT NOT NULL,        -- '': not known
      mode INTEGER NOT NULL,           -- EntitlementSubstate
      ownership TEXT NOT NULL,
      since INTEGER NOT NULL,          -- milliseconds since 1970
      ends_at INTEGER,                 -- NULL: no end
      commitment_ends_at INTEGER,      -- NULL: no commitment
      needs_consent INTEGER NOT NULL,
      win_back_offers TEXT NOT NULL,   -- separated by line breaks; '': none
      paid_ms INTEGER,                 -- the paid service; NULL: it grows
      paid_since INTEGER,              -- when a growing paid service would have been 0
      price INTEGER,                   -- milliunits of the currency
      currency TEXT,
      due_at INTEGER                   -- when time alone next changes the row; NULL: never
    ) STRICT;
    CREATE UNIQUE INDEX purchase_state_of_line ON purchase_state (line_id, app, environment, customer_id);
    -- The columns at the end decide about most rows without reading them.
    CREATE INDEX purchase_state_by_state
      ON purchase_state (state, app, environment, row_number, product_id, storefront, mode);
    CREATE INDEX purchase_state_by_product
      ON purchase_state (product_id, state, app, environment, storefront, mode);
    CREATE INDEX purchase_state_by_storefront
      ON purchase_state (storefront, app, environment, state, product_id, mode);
    CREATE INDEX purchase_state_by_since ON purchase_state (state, since, product_id, storefront, mode);
    CREATE INDEX purchase_state_by_end ON purchase_state (state, ends_at, product_id, storefront, mode)
      WHERE ends_at IS NOT NULL;
    CREATE INDEX purchase_state_by_commitment ON purchase_state (commitment_ends_at)
      WHERE commitment_ends_at IS NOT NULL;
    CREATE INDEX purchase_state_by_paid ON purchase_state (paid_since) WHERE paid_since IS NOT NULL;
    CREATE INDEX purchase_state_unclaimed ON purchase_state (row_number) WHERE customer_id = '';
    CREATE INDEX purchase_state_win_back ON purchase_state (row_number) WHERE win_back_offers <> '';
    CREATE INDEX purchase_state_consent ON purchase_state (row_number) WHERE needs_consent = 1;
    CREATE INDEX purchase_state_shared ON purchase_state (row_number) WHERE ownership <> 'PURCHASED';
    CREATE INDEX purchase_state_by_due ON purchase_state (due_at, environment) WHERE due_at IS NOT NULL;

    -- Saved segments.
    CREATE TABLE segment (
      name TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      conditions BLOB NOT NULL,        -- SegmentCoding
      is_configured INTEGER NOT NULL,  -- 0: a call created it
      created_at INTEGER NOT NULL,     -- milliseconds since 1970
      evaluated_at INTEGER NOT NULL,   -- members that time alone changes are up to date as of then
      PRIMARY KEY (name, app, environment)
    ) STRICT, WITHOUT ROWID;
    """
}
