internal import AppStore
internal import Entitlements
internal import Store

/// Writes the renewal infos of each purchase line, the `line_record` rows of the view `renewal_fact`: 64 documents a row,
/// in the order of their signatures.
final class RenewalRows {
  /// Documents in one row.
  private static let chunkSize = 64

  private let ofLine: any SQLStatement
  /// The last row of each line.
  let last: KeyedRead<LineKey, Chunk?>
  private let putChunk: any SQLStatement

  /// A row: some of the renewal infos of a line, and the place among its rows.
  typealias Chunk = (history: RenewalHistory, number: Int)

  init(_ connection: any SQLConnection, in workspace: Workspace? = nil) throws(StoreError) {
    let ofLine = "line_id = ? AND app = ? AND environment = ?"
    self.ofLine = try connection.prepare(
      "SELECT fact FROM renewal_fact WHERE \(ofLine) ORDER BY chunk")
    last = try KeyedRead(
      "SELECT fact, chunk FROM renewal_fact WHERE \(ofLine) ORDER BY chunk DESC LIMIT 1", on: connection,
      in: workspace
    ) { _, row throws(StoreError) in
      guard try row.step() else { return nil }
      return (try FactCoding.renewals(row.bytes(0)), Int(row.number(1)))
    }
    putChunk = try connection.prepare(
      """
      INSERT INTO line_record (line_id, app, environment, kind, id, number, fact, evidence_id)
      VALUES (?, ?, ?, \(LineRecordKind.renewal), '', ?, ?, ?)
      ON CONFLICT (line_id, app, environment, kind, id, number) DO UPDATE SET fact = excluded.fact, evidence_id = excluded.evidence_id
      """)
  }

  /// Adds a renewal info to those of the line. One that is later than the first of the last row touches no other row.
  func put(
    _ fact: RenewalFact, of line: LineKey, knownAt: Instant, from evidence: EvidenceID
  ) throws(StoreError) -> FactInsertion {
    guard let last = try last(line) else {
      try put(RenewalHistory(fact, knownAt: knownAt), as: 0, of: line, from: evidence)
      return .latest
    }
    let isInLast = last.number == 0 || last.history.signatures[0].signedDate < fact.signedDate
    let first = isInLast ? last.number : 0
    var history = isInLast ? last.history : try self.history(of: line) ?? last.history
    let before = history.parts(of: Self.chunkSize)
    let insertion = history.insert(fact, knownAt: knownAt)
    guard insertion != .duplicate else { return .duplicate }
    for (index, part) in history.parts(of: Self.chunkSize).enumerated()
    where index >= before.count || part != before[index] {
      try put(part, as: first + index, of: line, from: evidence)
    }
    return insertion
  }

  /// All renewal infos of a line; `nil` if there are none.
  func history(of line: LineKey) throws(StoreError) -> RenewalHistory? {
    if let known = last.known(line), known?.number ?? 0 == 0 { return known?.history }
    try ofLine.bind(line)
    defer { ofLine.reset() }
    var parts: [RenewalHistory] = []
    while try ofLine.step() { parts.append(try FactCoding.renewals(ofLine.bytes(0))) }
    return RenewalHistory.joining(parts)
  }

  private func put(
    _ history: RenewalHistory, as number: Int, of line: LineKey, from evidence: EvidenceID
  ) throws(StoreError) {
    try putChunk.bind(line)
    try putChunk.bind(4, Int64(number))
    try putChunk.bind(5, FactCoding.encode(history))
    try putChunk.bind(6, evidence.rawValue)
    try putChunk.run()
    if let known = last.known(line), known?.number ?? 0 <= number { last.keep((history, number), of: line) }
  }
}
