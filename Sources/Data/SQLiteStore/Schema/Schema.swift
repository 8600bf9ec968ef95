internal import SQLite
internal import Store

/// The tables, and how an older store becomes one of today.
enum Schema {
  /// Each makes the next version out of the one before. Once released, one is never changed again.
  private static let migrations = [
    firstVersion, secondVersion, thirdVersion, seatsVersion, refreshVersion, copiesVersion,
    followUpVersion, packingVersion, migrationsVersion, outgoingVersion, consumptionVersion,
    askingAboutAllVersion, linesVersion,
  ]

  /// The version that this program reads and writes.
  static var version: Int { migrations.count }

  /// Brings the store to today's version, in one transaction for each step; to an older `target` only in
  /// tests.
  static func migrate(_ connection: Connection, to target: Int = version) throws(StoreError) {
    let found = try foundVersion(connection)
    for next in found..<target {
      try connection.execute("BEGIN IMMEDIATE; \(migrations[next]) PRAGMA user_version = \(next + 1); COMMIT")
    }
  }

  /// Brings the store at `path` to today's version, after a copy of it as it was: beside it, with the old
  /// version's number behind its name. An older program can go on with that.
  static func upgrade(_ connection: Connection, at path: String) throws(StoreError) {
    let found = try foundVersion(connection)
    guard found < version else { return }
    let copy = "\(path).schema-\(found)"
    if found > 0, !fileExists(copy) { try copyDatabase(connection, to: copy) }
    try migrate(connection)
  }

  /// For those who only look: nobody brings the store to today's version for them.
  ///
  /// - Throws: ``StoreError/newerSchema(found:supported:)``, ``StoreError/olderSchema(found:supported:)``.
  static func requireToday(_ connection: Connection) throws(StoreError) {
    let found = try foundVersion(connection)
    guard found == version else { throw .olderSchema(found: found, supported: version) }
  }

  private static func foundVersion(_ connection: Connection) throws(StoreError) -> Int {
    let found = Int(try connection.number("PRAGMA user_version"))
    guard found <= version else { throw .newerSchema(found: found, supported: version) }
    return found
  }

  // What differs most comes first in each key: it decides nearly every comparison on the way down.
  private static let firstVersion = """
    -- Everything that arrived, in the order of its arrival; appended, never changed.
    CREATE TABLE evidence (
      evidence_id INTEGER PRIMARY KEY,
      app TEXT NOT NULL,
      environment TEXT,             -- NULL: not known
      customer_id TEXT NOT NULL,    -- '': on nobody's behalf
      kind TEXT NOT NULL,
      source TEXT NOT NULL,
      received_at INTEGER NOT NULL, -- milliseconds since 1970
      content_hash BLOB NOT NULL,   -- SHA-256
      size INTEGER NOT NULL,        -- bytes
      body BLOB,                    -- NULL: too large to keep
      rejection TEXT NOT NULL       -- '': accepted; else why not
    ) STRICT;
    CREATE UNIQUE INDEX evidence_is_kept_once
      ON evidence (content_hash, app, kind, customer_id, rejection);

    -- The newest that each signed transaction and renewal info says.
    CREATE TABLE transaction_fact (
      original_transaction_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      transaction_id TEXT NOT NULL,
      fact BLOB NOT NULL,
      evidence_id INTEGER NOT NULL REFERENCES evidence,
      PRIMARY KEY (original_transaction_id, app, environment, transaction_id)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE renewal_fact (
      original_transaction_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      fact BLOB NOT NULL,
      evidence_id INTEGER NOT NULL REFERENCES evidence,
      PRIMARY KEY (original_transaction_id, app, environment)
    ) STRICT, WITHOUT ROWID;

    -- To whom each purchase line belongs.
    CREATE TABLE line_owner (
      original_transaction_id TEXT NOT NULL,
      app TEXT NOT NULL,
      environment TEXT NOT NULL,
      customer_id TEXT NOT NULL,
      evidence_id INTEGER NOT NULL REFERENCES evidence,
      PRIMARY KEY (original_transaction_id, app, environment)
    ) STRICT, WITHOUT ROWID;

    -- The read model: all facts of a customer in one row, and before them, where it takes no second page
    -- to read them, the answers that they give.
    CREATE TABLE customer (
      customer_number INTEGER PRIMARY KEY, -- a hash of the identity, or the next number that was free
      identity BLOB NOT NULL,              -- app, environment, customer id
      answers BLOB NOT NULL,
      facts BLOB NOT NULL
    ) STRICT;

    -- Written to find out whether writing works again.
    CREATE TABLE health_probe (filler BLOB NOT NULL) STRICT;
    INSERT INTO health_probe VALUES (x'');

    """
}
