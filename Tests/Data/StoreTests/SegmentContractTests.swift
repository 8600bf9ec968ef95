import AppStore
import Entitlements
import Store
import TestSupport
import Testing

/// Contract tests of purchase states and saved segments.
@Suite struct SegmentContractTests {
  private static let place = AppEnvironment(appID: "ocean", environment: .sandbox)
  private static let reasons: [EntitlementReason] = [
    .subscriptionActive, .subscriptionNotRenewing, .inGracePeriod, .billingRetry, .cancelled, .neverPurchased,
  ]

  private static func state(_ number: Int, _ random: inout SplitMix64) -> StoredPurchaseState {
    let since = at(Int64(random.next() % 40), hours: Int64(random.next() % 24))
    let isGrowing = random.next() % 2 == 0
    let state = PurchaseState(
      reason: reasons[Int(random.next() % 6)], transactionID: "T\(number)",
      productID: "P\(random.next() % 4)", storefront: ["", "USA", "DEU"][Int(random.next() % 3)],
      mode: EntitlementSubstate.allCases[Int(random.next() % 4)],
      ownership: InAppOwnershipType.known[Int(random.next() % 3)], since: since,
      endsAt: random.next() % 3 == 0 ? nil : at(40 + Int64(random.next() % 20)),
      commitmentEndsAt: random.next() % 5 == 0 ? at(40 + Int64(random.next() % 20)) : nil,
      needsPriceConsent: random.next() % 5 == 0, winBackOfferIDs: random.next() % 4 == 0 ? ["a", "b"] : [],
      paidService: isGrowing
        ? .growing(since: since) : .fixed(Int64(random.next() % 40) * 86_400_000),
      price: random.next() % 2 == 0 ? 4_990 : nil, currency: random.next() % 2 == 0 ? "USD" : nil,
      validUntil: random.next() % 2 == 0 ? at(100 + Int64(number)) : nil)
    return StoredPurchaseState(
      line: line("L\(number)"), customerID: random.next() % 4 == 0 ? "" : "c\(number)", state: state)
  }

  private static func filter(_ random: inout SplitMix64) -> SegmentFilter {
    func has(_ percent: UInt64, _ random: inout SplitMix64) -> Bool { random.next() % 100 < percent }
    var filter = SegmentFilter()
    if has(50, &random) { filter.states = [.activeAutoRenewOn, .billingRetry, .cancelled] }
    if has(30, &random) { filter.productIDs = ["P0", "P9", "it's"] }
    if has(30, &random) { filter.storefronts = ["USA"] }
    if has(20, &random) { filter.modes = [.freeTrial, .standard] }
    if has(20, &random) { filter.ownerships = [.familyShared, .assigned] }
    if has(20, &random) { filter.sinceFrom = at(10) }
    if has(20, &random) { filter.sinceBefore = at(30) }
    if has(20, &random) { filter.minDaysInState = Int64(random.next() % 30) }
    if has(20, &random) { filter.maxDaysInState = 1 + Int64(random.next() % 30) }
    if has(20, &random) { filter.endsWithinDays = 1 + Int64(random.next() % 10) }
    if has(10, &random) { filter.commitmentEndsWithinDays = 1 + Int64(random.next() % 10) }
    if has(20, &random) { filter.minPaidDays = 1 + Int64(random.next() % 30) }
    if has(10, &random) { filter.needsPriceConsent = true }
    if has(10, &random) { filter.hasWinBackOffer = true }
    if has(20, &random) { filter.isUnclaimed = has(50, &random) }
    return filter
  }

  private static let app = AppDefinition(
    id: "ocean", identity: AppIdentity(bundleID: "com.example.ocean", appAppleID: nil),
    environments: [.sandbox], products: [])

  @Test("Pages, counts and crossings of random segments are those of all rows", arguments: Backend.allCases)
  func members(backend: Backend) async throws {
    var random = SplitMix64(state: 7)
    let states = (0..<200).map { Self.state($0, &random) }
    let filters = (0..<60).map { _ in Self.filter(&random) }
    try await backend.withStore { store in
      try await store.write { transaction throws(StoreError) in
        for state in states {
          // First another state, so that each kind of change is written.
          var other = state.state
          other.validUntil = at(1)
          let old = StoredPurchaseState(line: state.line, customerID: state.customerID, state: other)
          try transaction.put(old, known: nil)
          try transaction.put(state, known: old)
        }
        let foreign = StoredPurchaseState(
          line: LineKey(appID: "lake", environment: .sandbox, lineID: "L1"), customerID: "c1",
          state: states[0].state)
        try transaction.put(foreign, known: nil)
      }
      for filter in filters {
        let conditions = SegmentConditions(filter, in: Self.app)
        #expect(try SegmentCoding.conditions(SegmentCoding.encode(conditions)) == conditions)
        let expected = states.filter { conditions.matches($0.state, isUnclaimed: $0.isUnclaimed, at: at(45)) }
        let (found, count) = try await store.snapshot { reader in
          var query = SegmentQuery(conditions, of: Self.place, at: at(45), limit: 7)
          var found: [StoredPurchaseState] = []
          while true {
            let page = try reader.members(query)
            found += page.map(\.purchase)
            guard page.count == 7, let last = page.last else { break }
            query.after = last.number
          }
          return (found, try reader.memberCount(query))
        }
        #expect(found == expected, "\(filter)")
        #expect(count == Int64(expected.count), "\(filter)")
        try await crossings(store, conditions, states)
      }
    }
  }

  /// Compares the rows that time alone may change from day 44 to day 47 with the thresholds of all rows.
  private func crossings(
    _ store: any EntitlementStore, _ conditions: SegmentConditions, _ states: [StoredPurchaseState]
  ) async throws {
    let segment = SavedSegment(
      name: "s", of: Self.place, conditions, isConfigured: false, createdAt: at(44), evaluatedAt: at(44))
    let expected = states.filter { state in
      state.state.state != .missing && conditions.states.contains(state.state.state)
        && !conditions.thresholds(of: state.state, after: at(44), upTo: at(47)).isEmpty
    }
    let (found, end) = try await store.write { transaction throws(StoreError) in
      try transaction.crossings(of: segment, by: at(47), limit: 1_000)
    }
    #expect(Set(found) == Set(expected) && end == at(47))
    let first = try await store.snapshot { try $0.nextCrossing(of: segment) }
    let thresholds = states.filter { conditions.states.contains($0.state.state) }.flatMap {
      conditions.thresholds(of: $0.state, after: at(44), upTo: at(1_000))
    }
    #expect(first == thresholds.min())
    let (some, bound) = try await store.write { transaction throws(StoreError) in
      try transaction.crossings(of: segment, by: at(47), limit: 2)
    }
    #expect(bound <= at(47) && some.allSatisfy { expected.contains($0) })
    #expect(bound < at(47) || Set(some) == Set(expected))
  }

  @Test("Saved segments are stored, replaced and deleted", arguments: Backend.allCases)
  func saved(backend: Backend) async throws {
    try await backend.withStore { store in
      var filter = SegmentFilter()
      filter.states = [.billingRetry]
      let segment = SavedSegment(
        name: "retry", of: Self.place, SegmentConditions(filter, in: Self.app), isConfigured: true,
        createdAt: at(1), evaluatedAt: at(2))
      try await store.write { transaction throws(StoreError) in try transaction.put(segment) }
      #expect(try await store.snapshot { try $0.segments(of: Self.place) } == [segment])
      var later = segment
      later.evaluatedAt = at(3)
      try await store.write { [later] transaction throws(StoreError) in try transaction.put(later) }
      let all = try await store.write { transaction throws(StoreError) in
        try transaction.segments(in: .sandbox)
      }
      #expect(all == [later])
      try await store.write { [later] transaction throws(StoreError) in try transaction.delete(later) }
      #expect(try await store.snapshot { try $0.segments(of: Self.place) }.isEmpty)
    }
  }

  @Test("A purchase state is read back, found when it is due, and deleted", arguments: Backend.allCases)
  func states(backend: Backend) async throws {
    var random = SplitMix64(state: 8)
    let states = (0..<20).map { Self.state($0, &random) }
    try await backend.withStore { store in
      try await store.write { transaction throws(StoreError) in
        for state in states { try transaction.put(state, known: nil) }
      }
      let (read, due, lines) = try await store.write { transaction throws(StoreError) in
        var read: [StoredPurchaseState] = []
        for state in states { read += try transaction.purchaseStates(of: state.line) }
        return (
          read, try transaction.purchaseStatesDue(by: at(110), in: .all, limit: 100).map(\.due),
          try transaction.purchasesWithState(of: "ocean", after: line("L1"), limit: 100)
        )
      }
      #expect(read == states)
      #expect(due == states.compactMap(\.state.validUntil).filter { $0 <= at(110) }.sorted())
      #expect(lines == states.map(\.line).filter { $0.lineID > "L1" }.sorted { $0.lineID < $1.lineID })
      let place = Self.place
      let next = try await store.snapshot { try $0.nextPurchaseStateDue(of: place) }
      #expect(next == states.compactMap(\.state.validUntil).min())
      try await store.write { transaction throws(StoreError) in
        for state in states { try transaction.delete(state) }
      }
      #expect(try await store.snapshot { try $0.nextSegmentDue(in: .all) } == nil)
    }
  }
}
