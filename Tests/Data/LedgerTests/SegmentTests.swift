import AppStore
import Entitlements
import Store
import TestSupport
import Testing

@testable import Ledger

/// Segments over the lives of subscribers.
@Suite struct SegmentTests {
  private static let place = AppEnvironment(appID: "ocean", environment: .sandbox)
  private static let scope = CommandScope(appID: "ocean", environment: .sandbox)
  private static let app = AppDefinition(
    id: "ocean", identity: LedgerFixture.app.identity, environments: [.sandbox],
    products: Array(LedgerFixture.app.products.values), renewalPolicy: .standard)

  private static let lives = lifeCount(short: 16)

  private static let filters: [String: SegmentFilter] = [
    "renewing": filter { $0.states = [.activeAutoRenewOn] },
    "ending": filter {
      $0.states = [.activeAutoRenewOn, .activeAutoRenewOff]
      $0.endsWithinDays = 3
    },
    "retry": filter {
      $0.states = [.billingRetry]
      $0.minDaysInState = 5
    },
    "lapsed": filter {
      $0.states = [.cancelled, .expiredBilling, .refundedOther]
      ($0.minDaysInState, $0.maxDaysInState) = (2, 20)
    },
    "unclaimed": filter { $0.isUnclaimed = true },
    "grace": filter { $0.states = [.gracePeriod] },
    "missing product": filter { $0.productIDs = ["yearly"] },
    "pro": filter {
      $0.entitlements = ["pro"]
      $0.isUnclaimed = false
    },
  ]

  private static func filter(_ change: (inout SegmentFilter) -> Void) -> SegmentFilter {
    var filter = SegmentFilter()
    change(&filter)
    return filter
  }

  /// One purchase of one customer; an empty customer for none.
  private struct Row: Hashable {
    let customer: String
    let line: String
  }

  @Test(
    "The members of each segment at any time are those of an evaluation of all purchases, and of its events")
  func randomLives() async throws {
    try await LedgerFixture.run { fixture in
      fixture.catalog.replace(with: Catalog([Self.app]))
      var random = SplitMix64(state: 30)
      let lives = (0..<Self.lives).map { RandomLife(line: "L\($0)", &random) }
      var steps: [(at: Instant, life: Int, delivery: RandomLife.Delivery?)] = []
      for (number, life) in lives.enumerated() {
        for delivery in life.deliveries {
          steps.append((delivery.at, number, delivery))
          let later = Int64.random(in: 1...(20 * RandomLife.day), using: &random)
          if random.next() % 4 == 0 {
            steps.append((delivery.at.advanced(byMilliseconds: later), number, nil))
          }
        }
      }
      let ordered = steps.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
      fixture.clock.set(at(0))
      for (name, filter) in Self.filters {
        _ = try await fixture.ledger.createSegment(name, filter, Self.scope)
      }
      let (ledger, clock) = (fixture.ledger, ServiceClock(now: { [clock = fixture.clock] in clock.now }))
      var checks = 0
      for (_, step) in ordered {
        fixture.clock.set(step.at)
        if let delivery = step.delivery {
          // Each third purchase has no owner, and each fifth gets one with a later document.
          let isUnclaimed = step.life % 3 == 0 && (step.life % 5 != 0 || delivery.at < at(60))
          _ = try await fixture.submit(
            fixture.sign(delivery.transaction), renewal: fixture.sign(delivery.renewal),
            for: isUnclaimed ? nil : "c\(step.life)")
        } else {
          try await ledger.advanceSegments(by: clock)
          try await compare(fixture, at: step.at)
          checks += 1
        }
      }
      #expect(checks > Self.lives)
      try await expectSound(fixture)
    }
  }

  /// Compares the members of all segments with an evaluation of all purchases, and with the events.
  private func compare(_ fixture: LedgerFixture, at now: Instant) async throws {
    let lists = try await fixture.store.snapshot { reader throws in
      try Self.filters.mapValues { filter in
        let query = SegmentQuery(
          SegmentConditions(filter, in: Self.app), of: Self.place, at: now, limit: 10_000)
        let rows = try reader.members(query).map {
          Row(customer: $0.purchase.customerID, line: $0.purchase.line.lineID)
        }
        #expect(try reader.memberCount(query) == Int64(rows.count))
        return rows
      }
    }
    let all = try await Self.purchases(fixture)
    let byEvents = try await Self.members(fixture.events())
    for (name, filter) in Self.filters {
      let expected = Set(
        all.filter { Self.matches($0.facts, filter, isUnclaimed: $0.row.customer.isEmpty, at: now) }.map(
          \.row))
      let found = lists[name] ?? []
      #expect(Set(found) == expected, "\(name) at \(now)")
      #expect(found.count == Set(found).count, "\(name) lists a purchase twice")
      #expect(byEvents[name, default: []] == expected, "events of \(name) at \(now)")
    }
  }

  /// All purchases with their owners and facts.
  private static func purchases(_ fixture: LedgerFixture) async throws -> [(row: Row, facts: CustomerFacts)] {
    try await fixture.store.snapshot { reader throws in
      var purchases: [(Row, CustomerFacts)] = []
      for number in 0..<lives {
        let line = LineKey(appID: "ocean", environment: .sandbox, lineID: "L\(number)")
        let facts = try reader.facts(of: line)
        guard !facts.transactions.isEmpty else { continue }
        let owners = try reader.owners(of: line)
        for owner in owners.isEmpty ? [""] : owners {
          purchases.append((Row(customer: owner, line: line.lineID), facts))
        }
      }
      return purchases
    }
  }

  /// Whether a purchase meets the conditions, by the answer of Check for it alone.
  private static func matches(
    _ facts: CustomerFacts, _ filter: SegmentFilter, isUnclaimed: Bool, at now: Instant
  ) -> Bool {
    let status = evaluate(facts, entitlement: "pro", in: app, at: now)
    let state = SegmentState(status.reason)
    guard state != .missing, filter.productIDs.isEmpty,
      filter.states.isEmpty || filter.states.contains(state),
      filter.isUnclaimed.map({ $0 == isUnclaimed }) ?? true
    else { return false }
    let day: Int64 = 86_400_000
    if let days = filter.endsWithinDays {
      let end = status.reason == .awaitingRenewal ? status.until : status.paidUntil
      guard let end, now < end, end.milliseconds(since: now) <= days * day else { return false }
    }
    let lasted = now.milliseconds(since: status.until ?? status.paidUntil ?? now)
    if let days = filter.minDaysInState, lasted < days * day { return false }
    if let days = filter.maxDaysInState, lasted >= days * day { return false }
    return true
  }

  /// The members that the events leave.
  private static func members(_ events: [StoredEvent]) -> [String: Set<Row>] {
    var members: [String: Set<Row>] = [:]
    for event in events.map(\.event) {
      guard let subject = event.change.subject, let segment = subject.segment else { continue }
      let row = Row(customer: event.customer.customerID, line: subject.originalTransactionID)
      switch event.change.kind {
      case .segmentEntered:
        #expect(members[segment, default: []].insert(row).inserted, "\(row) entered \(segment) twice")
      case .segmentLeft:
        #expect(members[segment, default: []].remove(row) != nil, "\(row) left \(segment) without entering")
      default: break
      }
    }
    return members
  }

  /// Requires that each segment with conditions that some life meets had members.
  private func expectSound(_ fixture: LedgerFixture) async throws {
    let kinds = try await fixture.events().compactMap { event in
      event.event.change.kind == .segmentEntered ? event.event.change.subject?.segment : nil
    }
    for name in Self.filters.keys where name != "missing product" {
      #expect(kinds.contains(name), "no purchase entered \(name)")
    }
    #expect(!kinds.contains("missing product"))
  }

  @Test("Time alone moves a purchase into a segment and out of it, with events at these times")
  func time() async throws {
    try await LedgerFixture.run { fixture in
      fixture.clock.set(at(0))
      let filter = Self.filter { $0.endsWithinDays = 3 }
      _ = try await fixture.ledger.createSegment("ending", filter, Self.scope)
      _ = try await fixture.submit(try fixture.period(0...30), renewal: try fixture.renewal(signed: 1))
      let clock = ServiceClock(now: { [clock = fixture.clock] in clock.now })
      func due() async throws -> Instant? {
        try await fixture.store.snapshot { try $0.nextSegmentDue(in: .all) }
      }
      #expect(try await due() == at(27))
      fixture.clock.set(at(40))
      try await fixture.ledger.advanceSegments(by: clock)
      let events = try await fixture.events().map(\.event).filter { $0.change.subject?.segment == "ending" }
      #expect(events.map(\.change.kind) == [.segmentEntered, .segmentLeft])
      #expect(events.map(\.change.effectiveAt) == [at(27), at(30)])
      #expect(events.allSatisfy { $0.customer.customerID == "ana" && $0.evidenceID == nil })
    }
  }

  @Test("What time alone has changed is recorded before a document that arrives later, once")
  func lateDocument() async throws {
    try await LedgerFixture.run { fixture in
      fixture.clock.set(at(0))
      let (ending, old) = (Self.filter { $0.endsWithinDays = 3 }, Self.filter { $0.minDaysInState = 5 })
      _ = try await fixture.ledger.createSegment("ending", ending, Self.scope)
      _ = try await fixture.ledger.createSegment("old", old, Self.scope)
      _ = try await fixture.submit(try fixture.period(0...30), renewal: try fixture.renewal(signed: 1))
      // The worker has not run since, and the renewal arrives late.
      fixture.clock.set(at(40))
      _ = try await fixture.submit(try fixture.period(30...60))
      func events(of name: String) async throws -> [StoredEvent] {
        try await fixture.events().filter { $0.event.change.subject?.segment == name }
      }
      let found = try await events(of: "ending").map(\.event)
      #expect(found.map(\.change.kind) == [.segmentEntered, .segmentLeft])
      #expect(found.map(\.change.effectiveAt) == [at(27), at(40)])
      #expect(found.map { $0.evidenceID == nil } == [true, false])
      // The new state has this change, too, so the worker records it.
      #expect(try await events(of: "old").isEmpty)
      let clock = ServiceClock(now: { [clock = fixture.clock] in clock.now })
      try await fixture.ledger.advanceSegments(by: clock)
      #expect(try await events(of: "ending").count == 2)
      #expect(try await events(of: "old").map(\.event.change.effectiveAt) == [at(5)])
    }
  }

  @Test("A purchase leaves the segment of its previous owner and enters that of the new one")
  func transfer() async throws {
    try await LedgerFixture.run { fixture in
      fixture.clock.set(at(1))
      _ = try await fixture.ledger.createSegment("all", SegmentFilter(), Self.scope)
      let period = try fixture.period(0...30)
      _ = try await fixture.submit(period, for: nil)
      _ = try await fixture.submit(period, for: "ana")
      _ = try await fixture.ledger.erase("ana", fixture.scope)
      let events = try await fixture.events().map(\.event).filter { $0.change.subject?.segment == "all" }
      #expect(
        events.map(\.change.kind) == [
          .segmentEntered, .segmentLeft, .segmentEntered, .segmentLeft, .segmentEntered,
        ])
      #expect(events.map(\.customer.customerID).filter { $0 == "ana" }.isEmpty)
      #expect(events.first?.customer.customerID == "" && events.last?.customer.customerID == "")
    }
  }

  @Test(
    "A segment of the configuration begins without events, and a new filter begins it again with one event")
  func configuration() async throws {
    try await LedgerFixture.run { fixture in
      fixture.clock.set(at(1))
      _ = try await fixture.submit(try fixture.period(0...30))
      func adopt(_ filter: SegmentFilter?) async throws -> [SavedSegment] {
        let app = AppDefinition(
          id: "ocean", identity: LedgerFixture.app.identity, environments: [.sandbox],
          products: Array(LedgerFixture.app.products.values), segments: filter.map { ["ours": $0] } ?? [:])
        fixture.catalog.replace(with: Catalog([app]))
        try await fixture.ledger.adoptCatalog()
        return try await fixture.store.snapshot { try $0.segments(of: Self.place) }
      }
      let first = try await adopt(SegmentFilter())
      #expect(first.map(\.name) == ["ours"] && first.allSatisfy(\.isConfigured))
      #expect(try await fixture.events().allSatisfy { $0.event.change.subject?.segment == nil })
      await #expect(throws: LedgerError.configuredSegment("ours")) {
        try await fixture.ledger.deleteSegment("ours", Self.scope)
      }
      _ = try await adopt(Self.filter { $0.states = [.gracePeriod] })
      let last = try await fixture.events().last?.event.change
      #expect(last?.kind == .segmentRedefined && last?.subject?.segment == "ours")
      let count = try await fixture.events().count
      #expect(try await adopt(nil).isEmpty)
      let deleted = try await fixture.events().dropFirst(count).map(\.event.change)
      #expect(deleted.map(\.kind) == [.segmentRedefined] && deleted.first?.subject?.segment == "ours")
    }
  }

  @Test("Repeated documents leave one state of a purchase")
  func repetition() async throws {
    try await LedgerFixture.run { fixture in
      fixture.clock.set(at(1))
      let period = try fixture.period(0...30)
      for _ in 0..<3 { _ = try await fixture.submit(period) }
      let line = LineKey(appID: "ocean", environment: .sandbox, lineID: "L1")
      let states = try await fixture.store.write { store throws(StoreError) in
        try store.purchaseStates(of: line)
      }
      #expect(states.map(\.customerID) == ["ana"] && states.map(\.state.state) == [.activeAutoRenewOn])
      #expect(states.first?.state.endsAt == at(30) && states.first?.state.since == at(0))
    }
  }

  @Test(
    "A withdrawn consent ends the state of the purchases of its app install if it ends access",
    arguments: RescindConsentPolicy.allCases, [false, true])
  func withdrawnConsent(policy: RescindConsentPolicy, isSubmittedLater: Bool) async throws {
    try await LedgerFixture.run { fixture in
      func adopt(_ policy: RescindConsentPolicy) async throws {
        let app = AppDefinition(
          id: "ocean", identity: LedgerFixture.app.identity, environments: [.sandbox],
          products: Array(LedgerFixture.app.products.values), rescindConsent: policy)
        fixture.catalog.replace(with: Catalog([app]))
        try await fixture.ledger.adoptCatalog()
      }
      func states() async throws -> [SegmentState] {
        let first = LineKey(appID: "ocean", environment: .sandbox, lineID: "L1")
        return try await fixture.store.write { store throws(StoreError) in
          try store.purchaseStates(of: first) + store.purchaseStates(of: first.other("L2"))
        }.map(\.state.state)
      }
      try await adopt(policy)
      _ = try await fixture.ledger.createSegment(
        "renewing", Self.filter { $0.states = [.activeAutoRenewOn] }, Self.scope)
      let period = try fixture.period(40...70, ["appTransactionId": "I1"])
      if !isSubmittedLater { _ = try await fixture.submit(period) }
      try await fixture.notify("RESCIND_CONSENT", signed: 49, appInstall: "I1")
      if isSubmittedLater { _ = try await fixture.submit(period) }
      _ = try await fixture.submit(
        fixture.period(40...70, line: "L2", ["appTransactionId": "I2"]), for: "ben")
      let ended: [SegmentState] = [.cancelled, .activeAutoRenewOn]
      let renewing: [SegmentState] = [.activeAutoRenewOn, .activeAutoRenewOn]
      #expect(try await states() == (policy == .endAccess ? ended : renewing))
      let left = try await fixture.events().filter { $0.event.change.kind == .segmentLeft }
      #expect(
        left.map(\.event.customer.customerID) == (policy == .endAccess && !isSubmittedLater ? ["ana"] : []))
      for (policy, expected) in [(.endAccess, ended), (.notify, renewing)]
        as [(RescindConsentPolicy, [SegmentState])]
      {
        try await adopt(policy)
        #expect(try await states() == expected)
      }
    }
  }

  @Test("The worker evaluates a purchase with so many periods that a write reads only the last ones")
  func longPurchase() async throws {
    try await LedgerFixture.run { fixture in
      let line = LineKey(appID: "ocean", environment: .sandbox, lineID: "L1")
      let clock = ServiceClock(now: { [clock = fixture.clock] in clock.now })
      for week in Int64(0)..<90 {
        // A lapse of some weeks in between.
        let day = 7 * week + (week > 80 ? 20 : 0)
        fixture.clock.set(at(day, hours: 1))
        _ = try await fixture.submit(try fixture.period(day...(day + 7)))
        guard week > 60 else { continue }
        try await fixture.ledger.advanceSegments(by: clock)
        let now = fixture.clock.now
        let facts = try await fixture.store.snapshot { try $0.facts(of: line) }
        let stored = try await fixture.store.write { store throws(StoreError) in
          try store.purchaseStates(of: line).first?.state
        }
        #expect(stored == PurchaseState(facts, in: LedgerFixture.app, at: now), "week \(week)")
      }
    }
  }
}

extension EvidenceLedger {
  /// Does all that is due.
  fileprivate func advanceSegments(by clock: ServiceClock) async throws(LedgerError) {
    while try await advanceSegmentBatch(by: clock) != .nothing {}
  }
}
