internal import AppStore
internal import Entitlements
internal import Store

/// Reads and writes `customer`: the facts and the precomputed answers of each customer as one value each, and
/// the next time at which an answer changes without new evidence. ``CustomerLineRows`` has the lines that reduced
/// facts leave out.
///
/// The row id is ``CustomerIdentity/hash(_:)`` or the next free id after it (linear probing), because a
/// lookup by row id takes half the time of a lookup by text. A row followed by another one is never deleted,
/// because the gap would end the probe sequence of that one. An erased customer leaves such a row without an identity.
final class CustomerRow {
  let connection: any SQLConnection
  private let selectAnswers: any SQLStatement
  private let selectFacts: any SQLStatement
  /// The rows of the writer, by row id.
  private let rows: KeyedRead<Int64, StoredRow?>
  private let put: any SQLStatement
  let lines: CustomerLineRows
  private let hash: CustomerIdentity.Hash
  /// The last row read: usually the next one written.
  private var lastFound: (key: CustomerKey, number: Int64)?

  /// The columns of a row that answer reads.
  private struct StoredRow {
    let identity: [UInt8]
    let answers: [UInt8]
    let facts: [UInt8]
    let isContradictory: Bool
  }

  /// `hash` returns the first row id to probe; only tests replace it.
  init(
    _ connection: any SQLConnection, in workspace: Workspace? = nil, hash: @escaping CustomerIdentity.Hash
  ) throws(StoreError) {
    self.connection = connection
    self.hash = hash
    lines = try CustomerLineRows(connection)
    selectAnswers = try connection.prepare(
      "SELECT identity, answers FROM customer WHERE customer_number = ?")
    let ofNumber = "SELECT identity, answers, facts, is_contradictory FROM customer WHERE customer_number = ?"
    selectFacts = try connection.prepare(ofNumber)
    rows = try KeyedRead(ofNumber, on: connection, in: workspace) { _, row throws(StoreError) in
      guard try row.step() else { return nil }
      return StoredRow(
        identity: row.bytes(0), answers: row.bytes(1), facts: row.bytes(2), isContradictory: !row.isNull(3))
    }
    put = try connection.prepare(
      Upsert.sql("customer", key: "customer_number", "customer_number, identity, answers, facts, due_at"))
  }

  /// Reads one precomputed answer without decoding the others or the facts: one page for most customers.
  func answer(
    to entitlement: String, of key: CustomerKey, under fingerprint: UInt64, at now: Instant
  ) throws(StoreError) -> AnswerLookup {
    defer { selectAnswers.reset() }
    guard try find(key, with: selectAnswers).exists else { return .unknownCustomer }
    let segment = try AnswerCoding.answer(
      in: selectAnswers.borrowedBytes(1).span, to: entitlement, under: fingerprint, at: now)
    return segment.map(AnswerLookup.precomputed) ?? .stale
  }

  /// Returns all facts; `nil` if the customer has no row.
  func facts(of key: CustomerKey) throws(StoreError) -> CustomerFacts? {
    defer { selectFacts.reset() }
    let (number, exists) = try find(key, with: selectFacts)
    guard exists else { return nil }
    return try lines.completing(FactCoding.customerFacts(selectFacts.bytes(2)), of: number)
  }

  /// Returns the facts of a customer without rows of lines, empty ones without a row; `nil` with rows of lines.
  func smallFacts(of key: CustomerKey) throws(StoreError) -> CustomerFacts? {
    defer { selectFacts.reset() }
    guard try find(key, with: selectFacts).exists else { return CustomerFacts() }
    let facts = try FactCoding.customerFacts(selectFacts.bytes(2))
    return facts.omitted == nil ? facts : nil
  }

  /// Returns the facts of one line from a chunk on; empty ones if there are none.
  func facts(ofLine line: String, from chunk: Int, of key: CustomerKey) throws(StoreError) -> CustomerFacts {
    try lines.facts(ofLine: line, from: chunk, of: number(ofLast: key))
  }

  /// Stores one chunk of a line; empty facts delete it.
  func put(
    _ facts: CustomerFacts, ofLine line: String, chunk: Int, of key: CustomerKey
  ) throws(StoreError) {
    try lines.put(facts, ofLine: line, chunk: chunk, of: number(ofLast: key))
  }

  /// Deletes the facts of all lines.
  func deleteLines(of key: CustomerKey) throws(StoreError) { try lines.delete(of: number(ofLast: key)) }

  /// The row id of a customer, without a lookup for the last row read.
  private func number(ofLast key: CustomerKey) throws(StoreError) -> Int64 {
    if let lastFound, lastFound.key == key { return lastFound.number }
    return try number(of: key)
  }

  /// Returns what ``put(_:_:of:)`` stored last, and keeps the row for the next ``put(_:_:of:)``.
  func state(_ key: CustomerKey) throws(StoreError) -> CustomerState? {
    let (number, row) = try stored(key)
    guard let row else { return nil }
    lastFound = (key, number)
    return CustomerState(
      facts: try FactCoding.customerFacts(row.facts), answers: try EncodedAnswers(row.answers),
      isContradictory: row.isContradictory)
  }

  /// Marks a customer who has a row, or removes the mark. Rare, so the statement is prepared on each call.
  func mark(_ key: CustomerKey, isContradictory: Bool) throws(StoreError) {
    let update = try connection.prepare("UPDATE customer SET is_contradictory = ? WHERE customer_number = ?")
    let number = try number(ofLast: key)
    try update.bind(1, isContradictory ? 1 : nil as Int64?)
    try update.bind(2, number)
    try update.run()
    rows.discard(number)
  }

  /// Expects the read of a customer, of whose probe sequence most have only the first row.
  func expect(_ key: CustomerKey) throws(StoreError) { try rows.expect(hash(key)) }

  /// Returns the evidence of the transactions that decide a customer's answers, as far as its row was read.
  func knownEvidence(of key: CustomerKey) throws(StoreError) -> [DecidingFact: EvidenceID] {
    guard let row = rows.known(hash(key)) ?? nil, CustomerIdentity.matches(row.identity.span, key) else {
      return [:]
    }
    return try AnswerCoding.transactionEvidence(in: row.answers.span)
  }

  /// Returns the id of the customer's row, or of the row to insert, and the row.
  private func stored(_ key: CustomerKey) throws(StoreError) -> (number: Int64, row: StoredRow?) {
    var number = hash(key)
    while let row = try rows(number) {
      if CustomerIdentity.matches(row.identity.span, key) { return (number, row) }
      number &+= 1
    }
    return (number, nil)
  }

  /// Stores the facts and answers of a customer, whose mark as contradictory stays. ``CustomerLineRows`` stores the
  /// lines that the facts leave out.
  func put(
    _ facts: CustomerFacts, _ answers: PrecomputedAnswers, of key: CustomerKey
  ) throws(StoreError) {
    let number = try number(ofLast: key)
    let known = rows.known(number)
    let row = StoredRow(
      identity: CustomerIdentity.encode(key), answers: AnswerCoding.encode(answers),
      facts: FactCoding.encode(facts), isContradictory: known??.isContradictory ?? false)
    try put.bind(1, number)
    try put.bind(2, row.identity)
    try put.bind(3, row.answers)
    try put.bind(4, row.facts)
    try put.bind(5, answers.nextChange?.millisecondsSince1970)
    try put.run()
    // The mark of a row that was not read is not known.
    if known != nil { rows.keep(row, of: number) }
  }

  /// Deletes the customer's row, or clears it if another row follows. Returns whether there was one.
  func erase(_ key: CustomerKey) throws(StoreError) -> Bool {
    defer { selectAnswers.reset() }
    let (number, exists) = try find(key, with: selectAnswers)
    guard exists else { return false }
    lastFound = nil
    selectAnswers.reset()
    try lines.delete(of: number)
    try selectAnswers.bind(1, number &+ 1)
    guard try selectAnswers.step() else {
      let delete = try connection.prepare("DELETE FROM customer WHERE customer_number = ?")
      try delete.bind(1, number)
      try delete.run()
      return true
    }
    selectAnswers.reset()
    try put.bind(1, number)
    try put.bind(2, [])
    try put.bind(3, [])
    try put.bind(4, [])
    try put.bind(5, nil as Int64?)
    try put.run()
    return true
  }

  /// Discards cached state after a rollback.
  func rolledBack() { lastFound = nil }

  /// Returns the id of the customer's row, or of the row to insert.
  func number(of key: CustomerKey) throws(StoreError) -> Int64 {
    guard !rows.isKept else { return try stored(key).number }
    defer { selectAnswers.reset() }
    return try find(key, with: selectAnswers).number
  }

  /// Steps `select` to the customer's row; the caller must reset it.
  private func find(
    _ key: CustomerKey, with select: any SQLStatement
  ) throws(StoreError) -> (number: Int64, exists: Bool) {
    var number = hash(key)
    while true {
      try select.bind(1, number)
      guard try select.step() else { return (number, false) }
      if CustomerIdentity.matches(select.borrowedBytes(0).span, key) { return (number, true) }
      select.reset()
      number &+= 1
    }
  }
}
