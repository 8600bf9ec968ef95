package import AppStore
internal import Entitlements
package import JSON
package import Store

/// Exports the whole store as JSON lines, for a move to another system.
///
/// Each line is an object with a `kind`; docs/migration.md lists their members. The first line is an
/// `export`, the last one an `end` with the number of lines of each kind, so that a truncated file is
/// detected. All lines are of one snapshot, and at most one page is in memory.
package struct StoreExport {
  /// The number of rows in memory at one time.
  private static let pageSize = 500

  private let reader: any StoreSnapshot
  private let write: (JSONObject, Double) throws -> Void
  private var counts: [(kind: String, count: Int64)] = []
  /// The number of rows that the store counts, and of those that are written.
  private let total: Int64
  private var done: Int64 = 0
  /// The apps with evidence, configured or not.
  private var apps: Set<String> = []

  private init(_ reader: any StoreSnapshot, _ write: @escaping (JSONObject, Double) throws -> Void) throws {
    let counts = try reader.counts()
    self.reader = reader
    self.write = write
    total = counts.evidence + counts.transactions + counts.renewals + counts.customers + counts.events
  }

  /// Passes every line to `write`, in the order evidence, notifications, customers with their facts,
  /// unclaimed lines, events, with the completed part of the export, from 0 to 1. `now` dates the export.
  ///
  /// - Throws: the errors of `write`, and ``StoreError``; the lines before stay written.
  package static func run(
    _ reader: any StoreSnapshot, at now: Instant, write: @escaping (JSONObject, Double) throws -> Void
  ) throws {
    var export = try StoreExport(reader, write)
    try write(["kind": "export", "format": 1, "exportedAt": .string(now.description)], 0)
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
    try write(["kind": "end", "lines": .object(JSONObject(counts))], 1)
  }

  /// Writes a line and counts it.
  private mutating func append(_ line: ExportLine) throws {
    if ExportLine.countedKinds.contains(line.kind) { done += 1 }
    try write(line.json, total > 0 ? min(1, Double(done) / Double(total)) : 1)
    if let index = counts.firstIndex(where: { $0.kind == line.kind }) {
      counts[index].count += 1
    } else {
      counts.append((line.kind, 1))
    }
  }

  /// Writes all documents and commands, and collects the apps that they name.
  private mutating func evidence() throws {
    var last: EvidenceID?
    repeat {
      let page = try reader.evidence(after: last, limit: Self.pageSize)
      for evidence in page {
        apps.insert(evidence.evidence.appID)
        try append(ExportLine(evidence))
      }
      last = page.last?.id
    } while last != nil
  }

  /// Writes the records of an app, latest first.
  private mutating func notifications(of app: String) throws {
    var query = NotificationFilter(appID: app, limit: Self.pageSize)
    repeat {
      let page = try reader.notifications(query)
      for record in page { try append(ExportLine(record)) }
      query.before = page.last?.evidenceID
    } while query.before != nil
  }

  /// Writes each customer with ownership history, facts and seats.
  private mutating func customers(of app: String, in environment: Environment) throws {
    var last: String?
    repeat {
      let page = try reader.customers(of: app, in: environment, after: last, limit: Self.pageSize)
      for customer in page {
        try append(ExportLine(customer.key))
        for change in try reader.ownershipChanges(of: customer.key) { try append(ExportLine(change)) }
        let scope = ExportLine.Scope(app: app, environment: environment, customerID: customer.key.customerID)
        try append(customer.facts, in: scope)
      }
      last = page.last?.key.customerID
    } while last != nil
  }

  /// Writes the facts of purchases without an owner.
  private mutating func unclaimedLines(of app: String, in environment: Environment) throws {
    let scope = ExportLine.Scope(app: app, environment: environment, customerID: nil)
    var last: String?
    repeat {
      let page = try reader.unclaimedLines(of: app, in: environment, after: last, limit: Self.pageSize)
      for line in page { try append(try reader.facts(of: line), in: scope) }
      last = page.last?.lineID
    } while last != nil
  }

  /// Writes facts, and the seats of the purchases among them.
  private mutating func append(_ facts: CustomerFacts, in scope: ExportLine.Scope) throws {
    for fact in facts.transactions { try append(ExportLine(fact, in: scope)) }
    for fact in facts.renewals { try append(ExportLine(fact, in: scope)) }
    for history in facts.renewalHistories {
      for line in ExportLine.renewalInfos(history, in: scope) { try append(line) }
    }
    for fact in facts.appTransactions { try append(ExportLine(fact, in: scope)) }
    for fact in facts.grants { try append(ExportLine(fact, in: scope)) }
    for line in Set(facts.transactions.map(\.originalTransactionID)).sorted() {
      let purchase = LineKey(
        appID: scope.app, environment: scope.environment, lineID: line)
      for seat in try reader.seats(of: purchase) { try append(ExportLine(seat, in: scope)) }
    }
  }

  /// Writes all events, app by app in the order of their sequence.
  private mutating func events() throws {
    for appID in try reader.appsWithEvents() { try events(of: appID) }
  }

  /// Exports the events of an app in the order of their sequence.
  private mutating func events(of appID: String) throws {
    var last: Int64 = 0
    while true {
      let page = try reader.events(ofApp: appID, after: last, limit: Self.pageSize)
      for event in page { try append(ExportLine(event)) }
      guard let event = page.last else { return }
      last = event.sequence
    }
  }
}
