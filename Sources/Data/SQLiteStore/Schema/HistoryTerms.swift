internal import SQLStore
internal import SQLite
internal import Store

/// The terms of the store's history: one for each time that it was opened.
enum HistoryTerms {
  static let table = """
    CREATE TABLE history (
      term INTEGER NOT NULL,
      app TEXT NOT NULL,         -- '': the row with the name and the evidence
      name INTEGER NOT NULL,     -- random; a token of a position has it
      position INTEGER NOT NULL, -- before the term: the last sequence of the app, or the id of the last evidence
      PRIMARY KEY (term, app)
    ) STRICT, WITHOUT ROWID;
    """

  /// Tokens of older terms are refused.
  private static let maxTerms = 1_000

  /// Begins a term after everything that is stored, and returns all terms in order.
  ///
  /// If it cannot be written, such as on a full disk, it lasts until the store is closed.
  static func begin(on connection: Connection) throws(StoreError) -> [StoreTerm] {
    let name = Int64.random(in: 1 ... .max)
    do throws(StoreError) {
      try insert(name, on: connection)
      return try all(on: connection)
    } catch {
      if connection.isInTransaction { try? connection.execute("ROLLBACK") }
      let last = StoreTerm(name: UInt64(name), start: StoreTerm.Start(mark: 0))
      return try all(on: connection) + [last]
    }
  }

  /// Begins a term: its name, and where evidence and the events of each app were at its beginning. The oldest beyond
  /// ``maxTerms`` are deleted.
  private static func insert(_ name: Int64, on connection: Connection) throws(StoreError) {
    // The apps are found one after the other: a scan of all events would take long.
    try connection.execute(
      """
      BEGIN IMMEDIATE;
      INSERT INTO history SELECT (SELECT ifnull(max(term), 0) + 1 FROM history), '', \(name),
        (SELECT ifnull(max(evidence_id), 0) FROM evidence);
      WITH RECURSIVE found(app) AS (
        SELECT min(app) FROM event
        UNION ALL SELECT (SELECT min(app) FROM event WHERE app > found.app) FROM found WHERE app IS NOT NULL)
      INSERT INTO history SELECT (SELECT max(term) FROM history), app, 0,
        (SELECT max(sequence) FROM event WHERE event.app = found.app) FROM found WHERE app IS NOT NULL;
      DELETE FROM history WHERE term <= (SELECT max(term) FROM history) - \(maxTerms);
      COMMIT
      """)
  }

  /// Returns the stored terms, oldest first.
  private static func all(on connection: Connection) throws(StoreError) -> [StoreTerm] {
    let select = try connection.prepare("SELECT app, name, position FROM history ORDER BY term, app")
    defer { select.reset() }
    var terms: [StoreTerm] = []
    while try select.step() {
      let app = select.text(0) ?? ""
      guard let last = terms.last, !app.isEmpty else {
        terms.append(
          StoreTerm(
            name: UInt64(bitPattern: select.number(1)),
            start: StoreTerm.Start(mark: select.number(2), sequences: [:])))
        continue
      }
      var sequences = last.start.sequences ?? [:]
      sequences[StorePosition.hash(ofApp: app)] = select.number(2)
      terms[terms.count - 1] = StoreTerm(
        name: last.name, start: StoreTerm.Start(mark: last.start.mark, sequences: sequences))
    }
    return terms
  }
}
