extension Version01 {
  /// Postings, the sums that reports are answered from, and the closed days.
  package static let reportTables = """
    -- Evidence about purchases whose postings were not derived from it yet.
    CREATE TABLE report_queue (
      line_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      evidence_id INTEGER NOT NULL REFERENCES evidence,
      PRIMARY KEY (line_id, app, environment, evidence_id)
    ) STRICT, WITHOUT ROWID;

    -- The postings of each purchase that none takes back.
    CREATE TABLE report_line (
      line_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      due_at INTEGER,                  -- when time alone next changes those of the payer; NULL: never, or with another line
      standing BLOB NOT NULL,          -- their fingerprints, 8 bytes each
      PRIMARY KEY (line_id, app, environment)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX report_line_by_time ON report_line (due_at) WHERE due_at IS NOT NULL;

    -- What became so for each purchase, with one row for what was so and became known at one time; append-only.
    CREATE TABLE posting (
      position INTEGER PRIMARY KEY,    -- of the last posting; consumers read in this order; none is used again
      line_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      effective_at INTEGER NOT NULL,   -- milliseconds since 1970
      known_at INTEGER NOT NULL,
      cause TEXT NOT NULL,
      kinds INTEGER NOT NULL,          -- this and the next three are a PostingSummary: bits of kinds
      dimensions INTEGER NOT NULL,     -- bits of products and storefronts
      cohort_from INTEGER,             -- the first day of a cohort, in days since 1970; NULL: of no cohort
      cohort_to INTEGER,               -- the last day of a cohort
      postings BLOB NOT NULL           -- PostingPack
    ) STRICT;
    -- Both with the summary, so that rows without a posting of a value are not read.
    CREATE INDEX posting_of_line ON posting (line_id, position, effective_at, kinds, dimensions, cohort_from, cohort_to);
    CREATE INDEX posting_by_time ON posting (effective_at, position, kinds, dimensions, cohort_from, cohort_to);

    -- The last position of a posting.
    CREATE TABLE posting_position (
      id INTEGER PRIMARY KEY,          -- 1
      last INTEGER NOT NULL
    ) STRICT;

    -- The sums of postings that no pack has yet: of the days that are open.
    CREATE TABLE report_cell (
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      kind INTEGER NOT NULL,
      known_day INTEGER NOT NULL,      -- the first day whose closing includes it; not before day
      cohort_day INTEGER NOT NULL,     -- -1000000: of no cohort
      day INTEGER NOT NULL,            -- days since 1970
      key_id INTEGER NOT NULL,         -- of report_key
      age INTEGER NOT NULL,
      units INTEGER NOT NULL,
      amount INTEGER NOT NULL,
      proceeds INTEGER NOT NULL,
      PRIMARY KEY (app, environment, kind, known_day, cohort_day, day, key_id, age)
    ) STRICT, WITHOUT ROWID;

    -- The sums of each closed day in one value: as rows, a report of many of them is read ten times as slowly.
    CREATE TABLE report_pack (
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      kind INTEGER NOT NULL,
      known_day INTEGER NOT NULL,      -- as in report_cell
      late INTEGER NOT NULL,           -- 1: has sums of earlier days
      cells BLOB NOT NULL,             -- CellPack
      PRIMARY KEY (app, environment, kind, known_day)
    ) STRICT;

    -- The sums of stocks and cohorts that became known in each month whose days are closed, without their days.
    CREATE TABLE report_month (
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      kind INTEGER NOT NULL,           -- 0: the month is complete, in all kinds
      last_day INTEGER NOT NULL,       -- of the month
      cells BLOB NOT NULL,             -- CellPack
      PRIMARY KEY (app, environment, kind, last_day)
    ) STRICT;

    -- What cells are grouped by; in numbers, a report of many cells is read three times as fast.
    CREATE TABLE report_key (
      key_id INTEGER PRIMARY KEY,      -- a hash of the others
      product_id TEXT NOT NULL,
      subscription_group TEXT NOT NULL,
      storefront TEXT NOT NULL,
      offer_kind TEXT NOT NULL,
      reason TEXT NOT NULL,
      currency TEXT NOT NULL
    ) STRICT;

    -- Changes of closed days.
    CREATE TABLE report_revision (
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      day INTEGER NOT NULL,
      known_day INTEGER NOT NULL,
      cause TEXT NOT NULL,
      postings INTEGER NOT NULL,
      PRIMARY KEY (app, environment, day, known_day, cause)
    ) STRICT, WITHOUT ROWID;

    -- The closed days. Those before the first one have no postings that were known when they closed.
    CREATE TABLE closed_day (
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      day INTEGER NOT NULL,            -- days since 1970
      closed_at INTEGER NOT NULL,      -- milliseconds since 1970; another delay later does not change it
      PRIMARY KEY (app, environment, day)
    ) STRICT, WITHOUT ROWID;

    -- Closings whose movements do not explain their stocks.
    CREATE TABLE report_break (
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      day INTEGER NOT NULL,
      known_day INTEGER NOT NULL,      -- the closing
      keys INTEGER NOT NULL,           -- the number of products, storefronts and offers that break
      PRIMARY KEY (app, environment, day, known_day)
    ) STRICT, WITHOUT ROWID;

    -- The results of comparisons with Apple's reports. Rows are appended and never changed.
    CREATE TABLE reconciled_day (
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      day INTEGER NOT NULL,            -- days since 1970, of the report
      report TEXT NOT NULL,            -- such as SUBSCRIBER
      run INTEGER NOT NULL,            -- the number among those of the report and day, from 1
      matched INTEGER NOT NULL,
      explained INTEGER NOT NULL,
      unexplained INTEGER NOT NULL,
      unknown_rows INTEGER NOT NULL,
      files TEXT NOT NULL,             -- one name a line
      recorded_at INTEGER NOT NULL,    -- milliseconds since 1970
      PRIMARY KEY (app, environment, day, report, run)
    ) STRICT, WITHOUT ROWID;

    -- The catalog under which postings are derived.
    CREATE TABLE report_catalog (
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      fingerprint INTEGER NOT NULL,
      since INTEGER NOT NULL,          -- milliseconds since 1970
      reviewed TEXT,                   -- the last line that was derived again under it; NULL: all were
      PRIMARY KEY (app, environment)
    ) STRICT, WITHOUT ROWID;
    """
}
