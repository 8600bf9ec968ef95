internal import ArgumentParser
internal import Wire

/// The conditions of a segment. All of them must hold.
struct SegmentFilterOptions: ParsableArguments {
  @Option(help: "State, such as billing-retry; repeatable (default: all).") var state: [String] = []
  @Option(help: "Product id; repeatable (default: all).") var product: [String] = []
  @Option(help: "Subscription group; repeatable (default: all).") var group: [String] = []
  @Option(help: "Entitlement of the product; repeatable (default: all).") var entitlement: [String] = []
  @Option(help: "Country of the storefront, such as USA; repeatable (default: all).")
  var storefront: [String] = []
  @Option(help: "standard, free-trial, introductory-offer or subscription-offer; repeatable.")
  var paymentMode: [String] = []
  @Option(help: "purchased, family-shared or assigned (a seat); repeatable (default: all).")
  var ownership: [String] = []
  @Option(help: "First start of the state, RFC 3339 or a date.") var sinceFrom: String?
  @Option(help: "Start of the state before this time, RFC 3339 or a date.") var sinceBefore: String?
  @Option(help: "Days since the state began, at least.") var minDays: Int32?
  @Option(help: "Days since the state began, fewer than.") var maxDays: Int32?
  @Option(help: "Days until the period, grace period or billing retry ends, at most.") var endsWithin: Int32?
  @Option(help: "Days until the commitment ends, at most.") var commitmentEndsWithin: Int32?
  @Option(help: "Days of paid service, at least.") var minPaidDays: Int32?
  @Flag(help: "Only purchases with a price increase that needs consent.") var needsConsent = false
  @Flag(help: "Only customers with an eligible win-back offer.") var winBack = false
  @Flag(help: "Only purchases without an owner.") var unclaimed = false

  /// The conditions as the contract has them.
  ///
  /// - Throws: ``Failure`` for a value that an option does not have.
  func message() throws -> SegmentFilter {
    var filter = SegmentFilter.with {
      $0.productIds = product
      $0.subscriptionGroups = group
      $0.entitlements = entitlement
      $0.storefronts = storefront
      $0.minDaysInState = minDays
      $0.maxDaysInState = maxDays
      $0.endsWithinDays = endsWithin
      $0.commitmentEndsWithinDays = commitmentEndsWithin
      $0.minPaidDays = minPaidDays
      $0.needsPriceConsent = needsConsent
      $0.hasWinBackOffer = winBack
      if unclaimed { $0.unclaimed = true }
    }
    filter.states = try state.map { try EnumOption.parse($0, "ENTITLEMENT_STATE_", "--state") }
    filter.paymentModes = try paymentMode.map { try EnumOption.parse($0, "PAYMENT_MODE_", "--payment-mode") }
    filter.inAppOwnershipTypes = try ownership.map {
      try EnumOption.parse($0, "IN_APP_OWNERSHIP_TYPE_", "--ownership")
    }
    filter.sinceFrom = try TimeOption.parse(sinceFrom, "--since-from")
    filter.sinceBefore = try TimeOption.parse(sinceBefore, "--since-before")
    return filter
  }
}
