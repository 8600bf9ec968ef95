package import AppStore

/// The apps that this service answers for, by the operator's app id.
package struct Catalog: Hashable, Sendable {
  private let apps: [String: AppDefinition]

  /// A catalog of `apps`. Of two apps with the same id the later one wins.
  package init(_ apps: [AppDefinition]) {
    self.apps = Dictionary(apps.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
  }

  /// The app with this id, or `nil` if the operator configured none.
  package subscript(id: String) -> AppDefinition? { apps[id] }

  /// The app with this id. An app that was removed from the configuration has an empty definition and grants
  /// nothing, so stored facts of it remain readable.
  package func definition(of id: String) -> AppDefinition {
    apps[id]
      ?? AppDefinition(
        id: id, identity: AppIdentity(bundleID: "", appAppleID: nil), environments: [], products: [])
  }

  /// The ids of all apps, in alphabetical order.
  package var appIDs: [String] { apps.keys.sorted() }

  /// A hash of the fingerprints of all apps, equal in every process on every machine.
  package var fingerprint: UInt64 {
    var fingerprint = Fingerprint()
    for (id, app) in apps.sorted(by: { $0.key < $1.key }) {
      fingerprint.add(id)
      fingerprint.add(app.fingerprint)
    }
    return fingerprint.value
  }
}

/// One app: its identity at Apple, the environments it accepts purchases from, and its products.
package struct AppDefinition: Hashable, Sendable {
  /// The operator's id of the app, used in requests (`app_id`).
  package let id: String
  /// The app's identity at Apple.
  package let identity: AppIdentity
  /// The environments that purchases may come from. The first one is the default of requests that name none.
  package let environments: [Environment]
  /// The products by their App Store product id.
  package let products: [String: ProductDefinition]
  /// The decision about a purchase that is submitted for, or linked to, a customer other than its owner,
  /// unless the request makes the decision. Not part of ``fingerprint``: it decides only which customer has
  /// the facts.
  package let ownershipPolicy: OwnershipPolicy

  /// The rules around a renewal.
  package let renewalPolicy: RenewalPolicy

  /// Whether an `appAccountToken` is the operator's id of the customer, so that a purchase without an owner is
  /// linked to that customer when it arrives. Not part of ``fingerprint``.
  package let customerFromAppAccountToken: Bool

  /// The first purchase date of consumables that are listed for delivery; `nil`: all. Not part of
  /// ``fingerprint``.
  package let fulfillmentSince: Instant?

  /// The rules for answers to consumption requests. Not part of ``fingerprint``.
  package let consumptionPolicy: ConsumptionPolicy

  /// The rules for tokens of apps without a backend; `nil` turns it off. Not part of ``fingerprint``.
  package let deviceSync: DeviceSyncPolicy?

  /// The bit of a device that means that a free trial was used on it; `nil` turns the policy off. Not part of
  /// ``fingerprint``.
  package let trialBit: DeviceBit?

  /// The rules by which reports close days, convert amounts and estimate proceeds. Not part of
  /// ``fingerprint``.
  package let reports: ReportPolicy

  /// The effect of a withdrawn consent of a parent or guardian to use the app.
  package let rescindConsent: RescindConsentPolicy
  /// The days after a withdrawal of consent in which the operator settles it. Not part of ``fingerprint``.
  package let rescindConsentDays: Int64

  /// The saved segments that the configuration defines, by name. Not part of ``fingerprint``.
  package let segments: [String: SegmentFilter]

  /// The rules for answers to requests for retention messages; `nil`: no message. Not part of
  /// ``fingerprint``.
  package let retention: RetentionPolicy?

  /// The catalog fingerprint: a hash of everything besides facts and time that can change an answer, that is
  /// products, entitlements and ``rulesVersion``. Equal in every process on every machine, because
  /// precomputed answers are stored with it.
  package let fingerprint: UInt64

  private let rules: [String: EntitlementRules]

  /// Creates an app. Of two products with the same id the later one wins.
  package init(
    id: String, identity: AppIdentity, environments: [Environment], products: [ProductDefinition],
    boughtBefore: [BoughtBeforeVersion] = [], familySharing: [String: FamilySharingPolicy] = [:],
    retention: RetentionPolicy? = nil,
    renewalPolicy: RenewalPolicy = .exact, ownershipPolicy: OwnershipPolicy = .keep,
    customerFromAppAccountToken: Bool = false, fulfillmentSince: Instant? = nil,
    consumptionPolicy: ConsumptionPolicy = .manual, rescindConsent: RescindConsentPolicy = .notify,
    rescindConsentDays: Int64 = 30,
    deviceSync: DeviceSyncPolicy? = nil, trialBit: DeviceBit? = nil, reports: ReportPolicy = .standard,
    segments: [String: SegmentFilter] = [:]
  ) {
    self.id = id
    self.identity = identity
    self.environments = environments
    self.retention = retention
    self.products = Dictionary(products.map { ($0.productID, $0) }, uniquingKeysWith: { $1 })
    self.renewalPolicy = renewalPolicy
    self.ownershipPolicy = ownershipPolicy
    self.customerFromAppAccountToken = customerFromAppAccountToken
    self.fulfillmentSince = fulfillmentSince
    self.rescindConsent = rescindConsent
    self.rescindConsentDays = rescindConsentDays
    self.consumptionPolicy = consumptionPolicy
    self.deviceSync = deviceSync
    self.trialBit = trialBit
    self.reports = reports
    self.segments = segments
    rules = EntitlementRules.all(
      self.products.values, boughtBefore, familySharing, renewalPolicy, rescindConsent)
    fingerprint = Fingerprint(rules: rules, products: self.products).value
  }

  /// When a withdrawn consent has to be settled.
  package func settleBy(withdrawnAt: Instant) -> Instant {
    withdrawnAt.advanced(byDays: rescindConsentDays)
  }

  /// Every entitlement that the app can grant, in alphabetical order.
  package var entitlements: [String] { rules.keys.sorted() }

  /// Whether a product or a legacy version rule of the app grants `entitlement`.
  package func grants(_ entitlement: String) -> Bool { rules[entitlement] != nil }

  /// The type of a purchase: Apple's, or the catalog's if this version does not know Apple's.
  package func type(of transaction: TransactionFact) -> ProductType {
    guard case .unrecognized = transaction.type else { return transaction.type }
    return products[transaction.productID]?.type ?? transaction.type
  }

  /// The rules of `entitlement`; `nil` if nothing grants it.
  func rules(of entitlement: String) -> EntitlementRules? { rules[entitlement] }
}
