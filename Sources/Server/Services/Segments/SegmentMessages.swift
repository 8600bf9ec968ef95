internal import AppStore
internal import Entitlements
internal import FamilySharing
internal import RPC
internal import Store
internal import Wire

// Filters and rows of segments as messages of the contract.

extension Entitlements.SegmentFilter {
  /// The filter of a request.
  ///
  /// - Throws: `INVALID_ARGUMENT` for a value out of its range.
  init(_ message: Wire.SegmentFilter, in app: AppDefinition) throws(Status) {
    self.init()
    for state in message.states {
      guard let selected = SegmentState(rawValue: Int64(state.rawValue)), selected != .missing else {
        throw .invalidFilter("states", "no segment has the state \(state.protoName)")
      }
      states.insert(selected)
    }
    for mode in message.paymentModes {
      guard let selected = EntitlementSubstate(mode) else {
        throw .invalidFilter("payment_modes", "unknown payment mode \(mode.protoName)")
      }
      modes.insert(selected)
    }
    for ownership in message.inAppOwnershipTypes {
      guard let selected = AppStore.InAppOwnershipType(ownership) else {
        throw .invalidFilter(
          "in_app_ownership_types", "unknown relation to the purchase \(ownership.protoName)")
      }
      ownerships.insert(selected)
    }
    for name in message.entitlements { try RequestValidation.entitlement(name, of: app) }
    (productIDs, subscriptionGroups) = (Set(message.productIds), Set(message.subscriptionGroups))
    (entitlements, storefronts) = (Set(message.entitlements), Set(message.storefronts))
    let lists = [
      ("product_ids", productIDs), ("subscription_groups", subscriptionGroups),
      ("entitlements", entitlements), ("storefronts", storefronts),
    ]
    for (name, values) in lists where values.count > Self.maxValues || values.contains("") {
      throw .invalidFilter(name, "\(name) has an empty text, or more than \(Self.maxValues) values")
    }
    sinceFrom = try message.sinceFrom.map { time throws(Status) in try Instant(time, "filter.since_from") }
    sinceBefore = try message.sinceBefore.map { time throws(Status) in
      try Instant(time, "filter.since_before")
    }
    minDaysInState = try Self.days(message.minDaysInState, "min_days_in_state", from: 0)
    maxDaysInState = try Self.days(message.maxDaysInState, "max_days_in_state")
    endsWithinDays = try Self.days(message.endsWithinDays, "ends_within_days")
    commitmentEndsWithinDays = try Self.days(
      message.commitmentEndsWithinDays, "commitment_ends_within_days")
    minPaidDays = try Self.days(message.minPaidDays, "min_paid_days")
    needsPriceConsent = message.needsPriceConsent
    hasWinBackOffer = message.hasWinBackOffer
    isUnclaimed = message.unclaimed
  }

  private static func days(
    _ number: Int32?, _ name: String, from first: Int64 = 1
  ) throws(Status) -> Int64? {
    guard let number else { return nil }
    guard (first...maxDays).contains(Int64(number)) else {
      throw .invalidFilter(name, "\(name) is not from \(first) to \(maxDays)")
    }
    return Int64(number)
  }
}

extension Wire.SegmentFilter {
  init(_ filter: Entitlements.SegmentFilter) {
    self.init()
    states = filter.states.sorted { $0.rawValue < $1.rawValue }.map {
      Wire.EntitlementState(rawValue: Int32($0.rawValue))
    }
    productIds = filter.productIDs.sorted()
    subscriptionGroups = filter.subscriptionGroups.sorted()
    entitlements = filter.entitlements.sorted()
    storefronts = filter.storefronts.sorted()
    paymentModes = filter.modes.sorted { $0.rawValue < $1.rawValue }.map(Wire.PaymentMode.init)
    sinceFrom = filter.sinceFrom.map(GoogleProtobuf.Timestamp.init)
    sinceBefore = filter.sinceBefore.map(GoogleProtobuf.Timestamp.init)
    minDaysInState = filter.minDaysInState.map { Int32($0) }
    maxDaysInState = filter.maxDaysInState.map { Int32($0) }
    endsWithinDays = filter.endsWithinDays.map { Int32($0) }
    commitmentEndsWithinDays = filter.commitmentEndsWithinDays.map { Int32($0) }
    minPaidDays = filter.minPaidDays.map { Int32($0) }
    needsPriceConsent = filter.needsPriceConsent
    hasWinBackOffer = filter.hasWinBackOffer
    unclaimed = filter.isUnclaimed
    inAppOwnershipTypes = filter.ownerships.sorted { $0.rawValue < $1.rawValue }.map(
      Wire.InAppOwnershipType.init)
  }
}

extension Wire.Segment {
  /// A segment of the configuration or of a call.
  init(_ segment: SavedSegment) {
    self.init()
    name = segment.name
    filter = Wire.SegmentFilter(segment.conditions.filter)
    configured = segment.isConfigured
    createdAt = GoogleProtobuf.Timestamp(segment.createdAt)
  }
}

extension SegmentRow {
  /// One purchase of a segment at `now`. Family members and seat holders get no price, because they do not pay.
  init(_ purchase: StoredPurchaseState, in app: AppDefinition, at now: Instant) {
    self.init()
    let state = purchase.state
    customerId = purchase.customerID
    originalTransactionId = purchase.line.lineID
    transactionId = state.transactionID
    productId = state.productID
    self.state = Wire.EntitlementState(state.reason)
    reason = state.reason.rawValue
    since = GoogleProtobuf.Timestamp(state.since)
    endsAt = state.endsAt.map(GoogleProtobuf.Timestamp.init)
    commitmentEndsAt = state.commitmentEndsAt.map(GoogleProtobuf.Timestamp.init)
    storefront = state.storefront
    paymentMode = Wire.PaymentMode(state.mode)
    inAppOwnershipType = Wire.InAppOwnershipType(state.ownership)
    paidDays = Int32(clamping: state.paidService.milliseconds(at: now) / Instant.millisecondsPerDay)
    needsPriceConsent = state.needsPriceConsent
    eligibleWinBackOfferIds = state.winBackOfferIDs
    advice = state.advice(in: app).map { Wire.Advice($0, at: now) }
    guard PurchaseRole(state.ownership).isPayer else { return }
    price = Wire.Money(milliunits: state.price, currency: state.currency)
    annualPrice = state.annualPrice(in: app).flatMap { Wire.Money(milliunits: $0, currency: state.currency) }
  }
}

extension AppStore.InAppOwnershipType {
  fileprivate init?(_ type: Wire.InAppOwnershipType) {
    switch type {
    case .purchased: self = .purchased
    case .familyShared: self = .familyShared
    case .assigned: self = .assigned
    case .unspecified, .unrecognized: return nil
    }
  }
}

extension EntitlementSubstate {
  fileprivate init?(_ mode: Wire.PaymentMode) {
    switch mode {
    case .standard: self = .standard
    case .freeTrial: self = .freeTrial
    case .introductoryOffer: self = .introductoryOffer
    case .subscriptionOffer: self = .subscriptionOffer
    case .unspecified, .unrecognized: return nil
    }
  }
}

extension Wire.PaymentMode {
  fileprivate init(_ mode: EntitlementSubstate) {
    switch mode {
    case .standard: self = .standard
    case .freeTrial: self = .freeTrial
    case .introductoryOffer: self = .introductoryOffer
    case .subscriptionOffer: self = .subscriptionOffer
    }
  }
}

extension Status {
  fileprivate static func invalidFilter(_ field: String, _ problem: String) -> Status {
    .invalidField("filter.\(field)", problem)
  }
}
