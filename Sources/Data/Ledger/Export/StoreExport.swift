package import AppStore
internal import Entitlements
package import JSON
package import Store

/// Everything that a store remembers, line by line, for those who want to go elsewhere with it.
///
/// Each line is an object with a `kind`; docs/migration.md says what each has. The first line is an `export`, the last
/// one an `end` with the number of lines of each kind, so that a file that was cut off shows it. All lines tell of one
/// moment, and as many are in memory as make one page.
package struct StoreExport {
  private static let pageSize = 500

  private let reader: any StoreSnapshot
  private let take: (JSONObject) throws -> Void
  private var counts: [(kind: String, count: Int64)] = []
  /// The apps that anything arrived for, configured today or not.
  private var apps: Set<String> = []

  private init(_ reader: any StoreSnapshot, _ take: @escaping (JSONObject) throws -> Void) {
    self.reader = reader
    self.take = take
  }

  /// Gives every line to `take`, and throws what it throws, or a ``StoreError``. `now` dates the export. The reader must
  /// not be in a turn, and its turn ends with the export.
  package static func run(
    _ reader: any StoreSnapshot, at now: Instant, take: @escaping (JSONObject) throws -> Void
  ) throws {
    var export = StoreExport(reader, take)
    try take(["kind": "export", "format": 1, "exportedAt": .string(now.description)])
    try export.evidence()
    for app in export.apps.sorted() {
      try export.notifications(of: app)
      for environment in Environment.allCases {
        try export.customers(of: app, in: environment)
        try export.unclaimedLines(of: app, in: environment)
      }
    }
    try export.events()
    let counts = export.counts.map { ($0.kind, JSONValue($0.count)) }
    try take(["kind": "end", "lines": .object(JSONObject(counts))])
  }

  private mutating func tell(_ line: ExportLine) throws {
    try take(line.json)
    if let index = counts.firstIndex(where: { $0.kind == line.kind }) {
      counts[index].count += 1
    } else {
      counts.append((line.kind, 1))
    }
  }

  private mutating func evidence() throws {
    var last: EvidenceID?
    repeat {
      let page = try reader.evidence(after: last, limit: Self.pageSize)
      for evidence in page {
        apps.insert(evidence.evidence.appID)
        try tell(ExportLine(evidence))
      }
      last = page.last?.id
    } while last != nil
  }

  private mutating func notifications(of app: String) throws {
    var query = NotificationFilter(appID: app, limit: Self.pageSize)
    repeat {
      let page = try reader.notifications(query)
      for record in page { try tell(ExportLine(record)) }
      query.before = page.last?.evidenceID
    } while query.before != nil
  }

  private mutating func customers(of app: String, in environment: Environment) throws {
    var last: String?
    repeat {
      let page = try reader.customers(of: app, in: environment, after: last, limit: Self.pageSize)
      for customer in page {
        try tell(ExportLine(customer.key))
        for change in try reader.ownershipChanges(of: customer.key) { try tell(ExportLine(change)) }
        let place = ExportLine.Place(app: app, environment: environment, customerID: customer.key.customerID)
        try tell(customer.facts, at: place)
      }
      last = page.last?.key.customerID
    } while last != nil
  }

  private mutating func unclaimedLines(of app: String, in environment: Environment) throws {
    let place = ExportLine.Place(app: app, environment: environment, customerID: nil)
    var last: String?
    repeat {
      let page = try reader.unclaimedLines(of: app, in: environment, after: last, limit: Self.pageSize)
      for unclaimed in page { try tell(try reader.facts(of: unclaimed.line), at: place) }
      last = page.last?.line.originalTransactionID
    } while last != nil
  }

  private mutating func tell(_ facts: CustomerFacts, at place: ExportLine.Place) throws {
    for fact in facts.transactions { try tell(ExportLine(fact, at: place)) }
    for fact in facts.renewals { try tell(ExportLine(fact, at: place)) }
    for fact in facts.appTransactions { try tell(ExportLine(fact, at: place)) }
    for fact in facts.grants { try tell(ExportLine(fact, at: place)) }
    for line in Set(facts.transactions.map(\.originalTransactionID)).sorted() {
      let purchase = LineKey(
        appID: place.app, environment: place.environment, originalTransactionID: line)
      for seat in try reader.seats(of: purchase) { try tell(ExportLine(seat, at: place)) }
    }
  }

  private mutating func events() throws {
    var last: Int64 = 0
    while true {
      let page = try reader.events(of: nil, after: last, limit: Self.pageSize)
      for event in page { try tell(ExportLine(event)) }
      guard let event = page.last else { return }
      last = event.sequence
    }
  }
}
