import AppStore
import CustomerImport
import Testing

/// Later exports about purchases in other stores that an earlier import reported.
@Suite struct ImportedPurchaseTests {
  static let now = day(200)

  static func day(_ number: Int64) -> Instant { Instant(millisecondsSince1970: number * 86_400_000) }

  /// The statement about the period of 30 days that begins on the day `period`.
  static func row(_ period: Int64, _ entitlements: [String], revision: Int64, id: String = "X") -> ImportRow {
    var row = ImportRow()
    (row.customerID, row.store, row.purchaseID, row.productID) = ("dora", "stripe", id, "p")
    (row.since, row.until) = (day(period), day(period + 30))
    (row.entitlements, row.revision) = (entitlements, revision)
    return row
  }

  /// The grants that one command reports about `rows`.
  static func grants(_ rows: ImportRow..., known: Set<String>? = nil, after stored: [StoredGrant] = [])
    -> [ImportedGrant]
  {
    var options = ImportPlanner.Options()
    options.knownEntitlements = known
    var planner = ImportPlanner(options, mapping: .revenueCat)
    for row in rows { planner.add(row) }
    var plan = planner.plan()
    var grants = StoredGrants()
    for grant in stored { grants.add(grant) }
    plan.adapt(to: grants, at: now)
    return plan.customers.flatMap(\.grants)
  }

  /// The state of the service after each of several commands with one row each.
  static func stored(_ commands: [ImportRow]) -> [StoredGrant] {
    var stored: [StoredGrant] = []
    for row in commands {
      for grant in grants(row, after: stored) {
        stored.removeAll { $0.externalID == grant.externalID }
        stored.append(StoredGrant(grant))
      }
    }
    return stored.sorted { $0.externalID < $1.externalID }
  }

  @Test("An entitlement keeps its id when the purchase grants others, too, in a later export")
  func gainedEntitlement() {
    let stored = Self.stored([
      Self.row(1, ["pro"], revision: 1), Self.row(1, ["plus", "pro"], revision: 2),
      Self.row(31, ["pro", "extra", "plus"], revision: 3),
    ])
    #expect(stored.map(\.externalID) == ["X", "X#extra", "X#plus"])
    #expect(stored.map(\.entitlement) == ["pro", "extra", "plus"])
    #expect(stored.allSatisfy { $0.until == Self.day(61) && $0.revision == 3 })
  }

  @Test("An entitlement that the purchase no longer grants ends, at the start of a later period or now")
  func lostEntitlement() {
    let both = Self.row(1, ["plus", "pro"], revision: 1)
    let renewed = Self.stored([both, Self.row(21, ["pro"], revision: 2)])
    #expect(renewed.map(\.externalID) == ["X#plus", "X#pro"])
    #expect(renewed.map(\.until) == [Self.day(21), Self.day(51)])
    var long = both
    long.until = Self.day(999)
    var shorter = Self.row(1, ["pro"], revision: 2)
    shorter.until = long.until
    #expect(Self.stored([long, shorter]).map(\.until) == [Self.now, Self.day(999)])
    var none = shorter
    none.entitlements = []
    #expect(Self.stored([long, none]).map(\.until) == [Self.now, Self.now])
    #expect(Self.stored([long, none, none]) == Self.stored([long, none]))
  }

  @Test("An entitlement that the catalog does not have ends nothing")
  func unknownEntitlement() {
    let stored = Self.stored([Self.row(1, ["plus", "pro"], revision: 1)])
    let grants = Self.grants(
      Self.row(181, ["plus", "pro"], revision: 2), known: ["pro"], after: stored)
    #expect(grants.map(\.externalID) == ["X#pro"])
  }

  @Test("A later export with an earlier period changes nothing, also if it was changed later")
  func earlierPeriod() {
    let stored = Self.stored([Self.row(181, ["pro"], revision: 1)])
    #expect(Self.grants(Self.row(151, ["pro"], revision: 9), after: stored).isEmpty)
    #expect(Self.grants(Self.row(1, ["pro"], revision: 9, id: "Y"), after: stored).map(\.externalID) == ["Y"])
    var shortened = Self.row(181, ["pro"], revision: 9)
    shortened.until = Self.day(190)
    #expect(Self.grants(shortened, after: stored).map(\.until) == [Self.day(190)])
  }

  @Test("A repeated export states the same, also with the periods before")
  func repeated() {
    let last = Self.row(181, ["pro"], revision: 4)
    let stored = Self.stored([last])
    #expect(Self.grants(last, after: stored) == Self.grants(last))
    #expect(Self.grants(Self.row(151, ["pro"], revision: 3), last, after: stored) == Self.grants(last))
  }

  @Test("A row without a start is about the last period that is known")
  func noStart() {
    var row = Self.row(1, ["pro"], revision: 9)
    (row.since, row.until) = (nil, Self.day(300))
    #expect(Self.grants(Self.row(181, ["pro"], revision: 1), row).map(\.until) == [Self.day(300)])
    row.revision = 0
    #expect(Self.grants(Self.row(181, ["pro"], revision: 1), row).map(\.until) == [Self.day(211)])
  }

  @Test("The state of another service of the operator counts by its revision, and is not ended")
  func otherReporter() {
    var stored = StoredGrant()
    (stored.source, stored.externalID, stored.entitlement, stored.revision) = ("stripe", "X", "pro", 5)
    let row = Self.row(181, ["pro"], revision: 4)
    #expect(Self.grants(row, after: [stored]).isEmpty)
    #expect(
      Self.grants(Self.row(181, ["plus"], revision: 9), after: [stored]).map(\.externalID) == ["X#plus"])
  }
}

extension StoredGrant {
  /// What the service stores after the report of a grant.
  fileprivate init(_ grant: ImportedGrant) {
    self.init()
    (source, externalID, entitlement) = (grant.source, grant.externalID, grant.entitlement)
    (productID, revision) = (grant.productID, grant.revision)
    (since, until) = (grant.since, grant.until)
    note = ImportNote.text(from: "RevenueCat", period: grant.period)
  }
}
