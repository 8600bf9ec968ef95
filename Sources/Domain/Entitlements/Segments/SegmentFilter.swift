package import AppStore

/// The conditions of a segment. A purchase is in the segment if it meets all of them; an empty set is no condition.
package struct SegmentFilter: Hashable, Sendable {
  /// The states of the purchase.
  package var states: Set<SegmentState> = []
  /// The App Store's product ids.
  package var productIDs: Set<String> = []
  /// Names in the catalog.
  package var subscriptionGroups: Set<String> = []
  /// Entitlements that the product grants.
  package var entitlements: Set<String> = []
  /// ISO 3166-1 alpha-3.
  package var storefronts: Set<String> = []
  /// The payment modes of the deciding period.
  package var modes: Set<EntitlementSubstate> = []
  /// The customer's relation to the purchase.
  package var ownerships: Set<InAppOwnershipType> = []
  /// The state began at this instant or later.
  package var sinceFrom: Instant?
  /// The state began before this instant.
  package var sinceBefore: Instant?
  /// The state began at least this number of days ago.
  package var minDaysInState: Int64?
  /// The state began less than this number of days ago.
  package var maxDaysInState: Int64?
  /// ``PurchaseState/endsAt`` is within this number of days.
  package var endsWithinDays: Int64?
  /// ``PurchaseState/commitmentEndsAt`` is within this number of days.
  package var commitmentEndsWithinDays: Int64?
  /// The paid service of the purchase is at least this number of days.
  package var minPaidDays: Int64?
  /// Only purchases with a price increase that needs consent.
  package var needsPriceConsent = false
  /// Only purchases with an eligible win-back offer.
  package var hasWinBackOffer = false
  /// `true`: only purchases without an owner; `false`: only others.
  package var isUnclaimed: Bool?

  /// The largest number of days of a condition.
  package static let maxDays: Int64 = 36_500

  package init() {}
}

/// A filter with the products that a catalog selects for it.
package struct SegmentConditions: Hashable, Sendable {
  /// The conditions as they were stated.
  package let filter: SegmentFilter
  /// `nil`: all.
  package let productIDs: Set<String>?

  /// Recreates stored conditions.
  package init(_ filter: SegmentFilter, productIDs: Set<String>?) {
    self.filter = filter
    self.productIDs = productIDs
  }

  /// Selects the products. Groups and entitlements select products of the catalog only.
  package init(_ filter: SegmentFilter, in app: AppDefinition) {
    var selected: Set<String>?
    func select(_ products: Set<String>) { selected = selected?.intersection(products) ?? products }
    if !filter.productIDs.isEmpty { select(filter.productIDs) }
    if !filter.subscriptionGroups.isEmpty {
      select(app.productIDs { $0.subscriptionGroup.map(filter.subscriptionGroups.contains) ?? false })
    }
    if !filter.entitlements.isEmpty {
      select(app.productIDs { !filter.entitlements.isDisjoint(with: $0.entitlements) })
    }
    self.init(filter, productIDs: selected)
  }

  /// The states that the filter selects.
  package var states: [SegmentState] {
    SegmentState.selectable.filter { filter.states.isEmpty || filter.states.contains($0) }
  }

  /// Whether a purchase with this state is in the segment at `now`, before the end of the state.
  package func matches(_ state: PurchaseState, isUnclaimed: Bool, at now: Instant) -> Bool {
    guard matchesConstantly(state, isUnclaimed: isUnclaimed) else { return false }
    return TimeCondition.allCases.allSatisfy { $0.matches(state, filter, at: now) }
  }

  /// Whether it meets the conditions that do not depend on the time.
  private func matchesConstantly(_ state: PurchaseState, isUnclaimed: Bool) -> Bool {
    func selects<Value: Hashable>(_ values: Set<Value>, _ value: Value) -> Bool {
      values.isEmpty || values.contains(value)
    }
    return state.state != .missing && selects(filter.states, state.state)
      && (productIDs?.contains(state.productID) ?? true) && selects(filter.storefronts, state.storefront)
      && selects(filter.modes, state.mode) && selects(filter.ownerships, state.ownership)
      && (filter.sinceFrom.map { $0 <= state.since } ?? true)
      && (filter.sinceBefore.map { state.since < $0 } ?? true)
      && (!filter.needsPriceConsent || state.needsPriceConsent)
      && (!filter.hasWinBackOffer || !state.winBackOfferIDs.isEmpty)
      && (filter.isUnclaimed.map { $0 == isUnclaimed } ?? true)
  }

  /// The instants after `start`, up to `end`, at which time alone may bring a purchase into the segment or out of it, in
  /// order.
  package func thresholds(of state: PurchaseState, after start: Instant, upTo end: Instant) -> [Instant] {
    let all = TimeCondition.allCases.flatMap { $0.thresholds(of: state, filter) }
    return Set(all.filter { start < $0 && $0 <= end }).sorted()
  }
}

/// A condition that time alone meets or fails.
package enum TimeCondition: Hashable, Sendable, CaseIterable {
  case minDaysInState, maxDaysInState, endsWithin, commitmentEndsWithin, minPaidDays

  /// A time of a purchase state that conditions compare with the clock.
  package enum Field: Hashable, Sendable, CaseIterable {
    case since, endsAt, commitmentEndsAt, paidSince
  }

  /// The field that the condition compares.
  package var field: Field {
    switch self {
    case .minDaysInState, .maxDaysInState: .since
    case .endsWithin: .endsAt
    case .commitmentEndsWithin: .commitmentEndsAt
    case .minPaidDays: .paidSince
    }
  }

  /// The milliseconds after ``field`` at which the condition changes; empty if the filter does not have it.
  package func offsets(_ filter: SegmentFilter) -> [Int64] {
    func milliseconds(_ days: Int64) -> Int64 { days * Instant.millisecondsPerDay }
    return switch self {
    case .minDaysInState: filter.minDaysInState.map { [milliseconds($0)] } ?? []
    case .maxDaysInState: filter.maxDaysInState.map { [milliseconds($0)] } ?? []
    case .endsWithin: filter.endsWithinDays.map { [-milliseconds($0), 0] } ?? []
    case .commitmentEndsWithin: filter.commitmentEndsWithinDays.map { [-milliseconds($0), 0] } ?? []
    case .minPaidDays: filter.minPaidDays.map { [milliseconds($0)] } ?? []
    }
  }

  fileprivate func thresholds(of state: PurchaseState, _ filter: SegmentFilter) -> [Instant] {
    guard let value = field.value(of: state) else { return [] }
    return offsets(filter).map(value.advanced(byMilliseconds:))
  }

  /// Whether the state meets this condition of the filter at an instant. A filter without the condition
  /// accepts every state, and a state without the time that it compares meets no condition.
  fileprivate func matches(_ state: PurchaseState, _ filter: SegmentFilter, at now: Instant) -> Bool {
    let offsets = offsets(filter)
    guard let first = offsets.first else { return true }
    if self == .minPaidDays { return state.paidService.milliseconds(at: now) >= first }
    guard let value = field.value(of: state) else { return false }
    switch self {
    case .minDaysInState, .minPaidDays: return value.advanced(byMilliseconds: first) <= now
    case .maxDaysInState: return now < value.advanced(byMilliseconds: first)
    case .endsWithin, .commitmentEndsWithin:
      return value.advanced(byMilliseconds: first) <= now && now < value
    }
  }
}

extension TimeCondition.Field {
  /// The time of a state; `nil` if it has none, or if time does not change it.
  fileprivate func value(of state: PurchaseState) -> Instant? {
    switch self {
    case .since: state.since
    case .endsAt: state.endsAt
    case .commitmentEndsAt: state.commitmentEndsAt
    case .paidSince:
      if case .growing(let start) = state.paidService { start } else { nil }
    }
  }
}

extension AppDefinition {
  fileprivate func productIDs(where isSelected: (ProductDefinition) -> Bool) -> Set<String> {
    Set(products.values.filter(isSelected).map(\.productID))
  }
}

extension SegmentFilter {
  /// The maximum number of values of one condition.
  package static let maxValues = 200

  /// Whether a saved segment may have this name.
  package static func isValid(name: String) -> Bool {
    (1...64).contains(name.utf8.count)
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
          true
        default: false
        }
      }
  }
}
