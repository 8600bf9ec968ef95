internal import PostgreSQL
internal import Store

/// The right of one session to write, and the number of its last commit, as in the table `head`.
///
/// Each commit is conditional on all of it. A writer that was replaced, or frozen and woken, changes nothing, because
/// its claim is refused.
struct WriterClaim {
  /// The number of writers that there were up to this one.
  let epoch: Int64
  /// The name of its term in the table `history`. A failover may lose the beginning of a term; the next writer has the
  /// same epoch then, and another name.
  let term: Int64
  /// The number of commits up to the last one.
  let position: Int64
  /// The names of the terms that this writer began since, perhaps: the results were lost with the connection.
  private(set) var laterTerms: [Int64] = []

  /// Takes the right to write from any writer. A new term of the store's history begins with it.
  ///
  /// - Throws: ``StoreError/conflict(_:)`` if the store needs a newer program by now.
  static func take(on connection: PostgresConnection<StoreError>) throws(StoreError) -> WriterClaim {
    try take(on: connection, from: [], as: randomTerm())
  }

  /// Takes the right to write again, with a new claim.
  ///
  /// A commit of this writer whose outcome is unknown holds the row's lock, so this waits for the outcome and then shows
  /// it.
  ///
  /// - Throws: ``StoreError/conflict(_:)`` if there was another writer since, or if the store needs a newer program by now.
  mutating func takeAgain(on connection: PostgresConnection<StoreError>) throws(StoreError) -> WriterClaim {
    let own = [term] + laterTerms
    let next = Self.randomTerm()
    laterTerms.append(next)
    return try Self.take(on: connection, from: own, as: next)
  }

  private static func randomTerm() -> Int64 { .random(in: 1 ... .max) }

  /// Takes the right to write from the writer of one of the terms `own`, or from any.
  private static func take(
    on connection: PostgresConnection<StoreError>, from own: [Int64], as term: Int64
  ) throws(StoreError) -> WriterClaim {
    let results = try connection.pipeline([
      // A statement does not see the term that was begun while it waited for the row. The division by zero of a refused
      // takeover ends the transaction, whose commit would wait for the standby because of this lock.
      PostgresRequest("SELECT FROM head FOR UPDATE"),
      PostgresRequest(
        """
        WITH taken AS (
          UPDATE head SET epoch = epoch + 1 WHERE (cardinality($1) = 0
              OR EXISTS (SELECT 1 FROM history last WHERE last.epoch = head.epoch AND last.name = ANY ($1)))
            AND (SELECT oldest FROM store_version) <= $2 RETURNING epoch, position),
        begun AS (INSERT INTO history (epoch, name, position) SELECT epoch, $3, position FROM taken)
        SELECT max(epoch), max(position), 1 / count(*) FROM taken
        """,
        [.array(PostgresArray(own)), .int8(PostgresSchema.version), .int8(term)]),
    ])
    guard let rows = results.last, rows.count == 1 else { throw .anotherWriter }
    return WriterClaim(epoch: rows.number(0, 0), term: term, position: rows.number(0, 1))
  }

  /// Takes the right to write together with the lease, in one statement: a process that is frozen between them takes
  /// neither.
  ///
  /// - Returns: `nil` if another replica has the lease, or has a newer catalog than `catalog`.
  static func take(
    on connection: PostgresConnection<StoreError>, with lease: Lease, catalog: UInt64
  ) throws(StoreError) -> WriterClaim? {
    _ = try connection.query(CatalogOrder.registration(of: catalog))
    let term = randomTerm()
    let rows = try connection.query(
      PostgresRequest(
        """
        WITH \(Lease.taking(instance: 1, catalog: 3, for: lease.duration)),
        led AS (UPDATE head SET epoch = epoch + 1 FROM taken RETURNING epoch, position),
        begun AS (INSERT INTO history (epoch, name, position) SELECT epoch, $2, position FROM led)
        SELECT epoch, position FROM led
        """,
        [.text(lease.instance), .int8(term), .int8(Int64(bitPattern: catalog))]))
    guard rows.count == 1 else { return nil }
    return WriterClaim(epoch: rows.number(0, 0), term: term, position: rows.number(0, 1))
  }

  /// Whether the commit after this claim happened before another writer took over, as the beginning of the other one's
  /// term shows; `nil` if that is not stored.
  func wasAdvanced(on connection: PostgresConnection<StoreError>) throws(StoreError) -> Bool? {
    let rows = try connection.query(
      PostgresRequest(
        """
        SELECT later.position FROM history own JOIN history later ON later.epoch = own.epoch + 1
        WHERE own.epoch = $1 AND own.name = $2
        """, [.int8(epoch), .int8(term)]))
    return rows.count == 1 ? rows.number(0, 0) == advanced.position : nil
  }

  /// Whether no other writer took over.
  func isLatest(on connection: PostgresConnection<StoreError>) throws(StoreError) -> Bool {
    let rows = try connection.query(
      PostgresRequest(
        "SELECT 1 FROM head JOIN history USING (epoch) WHERE epoch = $1 AND name = $2",
        [.int8(epoch), .int8(term)]))
    return rows.count == 1
  }

  /// The claim after a commit.
  var advanced: WriterClaim { WriterClaim(epoch: epoch, term: term, position: position + 1) }

  /// The statement that makes a commit the next one of this writer, and announces to other processes that customers with
  /// the hashes `changed` may have changed. It fails in any other case, also if the store needs a newer program by now, and
  /// the commit, which follows in the same round trip, with it. `notifies` wakes the processes that listen.
  func advance(announcing changed: PostgresArray, notifies: Bool) -> PostgresRequest {
    // The time of the statement: that of the transaction may be that of its first body.
    PostgresRequest(
      """
      WITH moved AS (
        UPDATE head SET position = position + 1 WHERE epoch = $1 AND position = $2
          AND EXISTS (SELECT 1 FROM history own WHERE own.epoch = $1 AND own.name = $4)
          AND (SELECT oldest FROM store_version) <= \(PostgresSchema.version) RETURNING position),
      announced AS (
        INSERT INTO change (position, at, customers) SELECT position, clock_timestamp(), $3 FROM moved)
      SELECT 1 / count(*)\(notifies ? ", pg_notify('\(ChangeFeedWorker.channel)', '')" : "") FROM moved
      """, [.int8(epoch), .int8(position), .array(changed), .int8(term)])
  }
}
