package import AppStore
package import Entitlements
package import JSON
package import SignedData

/// The configuration of the service: the content of the YAML file, which a reload (SIGHUP) reads again.
package struct ServiceConfiguration: Hashable, Sendable {
  /// The apps, ordered by id.
  package let apps: [AppConfiguration]
  /// Trusted roots in addition to Apple's.
  package let roots: [TrustedRoot]
  /// The settings of entitlement tokens; `nil` turns them off.
  package let tokens: TokenConfiguration?
  /// The form and the level of log lines; a change needs a restart.
  package let log: LogConfiguration
  /// The number of days after which bodies of evidence are purged, by group.
  package let retention: [RetainedEvidence: Int]
  /// The number of days after which audit entries are deleted; `nil`: never.
  package let auditRetentionDays: Int?
  /// The number of days after which requests for retention messages are deleted.
  package let retentionRequestDays: Int
  /// The callers of the API and their roles; a reload (SIGHUP) applies changes.
  package let callers: CallerConfiguration
  /// The trusted identity provider, if there is one.
  package let tokenIssuer: TokenIssuerConfiguration?
  /// Limits and TLS of the listeners; a reload applies new certificates only.
  package let listeners: ListenersConfiguration
  /// The place of the list of erasures.
  package let erasures: ErasureConfiguration
  /// The address of the edge for Apple; `nil` if it is not configured.
  package let publicURL: PublicURL?
  /// The place of the backups; `nil` if it is not configured.
  package let backup: BackupConfiguration?
  /// The database; a change needs a restart.
  package let store: StoreConfiguration
  /// `nil` records no spans.
  package let traces: TraceConfiguration?
  /// The file as JSON, without secrets: for operators who want to see what is in force.
  package let document: JSONObject

  /// The catalog of all apps.
  package var catalog: Catalog { Catalog(apps.map(\.definition)) }
}

/// One app, with its sale terms in the sandbox.
package struct AppConfiguration: Hashable, Sendable {
  /// The part that determines entitlements.
  package let definition: AppDefinition
  /// Sale terms by product id.
  package let terms: [String: SaleTerms]
  /// The key that signs offers and calls to Apple's API; `nil` turns both off.
  package let key: InAppPurchaseKey?
  /// The key that signs calls to DeviceCheck; `nil` turns them off.
  package let deviceCheckKey: DeviceCheckKey?
  /// URLs that replace Apple's App Store Server API and DeviceCheck.
  package let servers: [Environment: String]
  /// The shared secret of version 1 notifications; `nil` rejects them.
  package let sharedSecret: SecretSource?
  /// Whether offers are signed only for eligible customers.
  package let checksOfferEligibility: Bool
  /// Whether status polling is on.
  package let pollsStatuses: Bool
  /// Whether gap repair is on.
  package let repairsGaps: Bool
  /// The interval of full polls of all purchases; `nil` turns them off.
  package let fullPollInterval: Period?
  /// Whether the certificates of documents are checked at Apple's OCSP responders.
  package let onlineChecks: OnlineCheckPolicy
  /// How legacy receipts are verified.
  package let receipts: ReceiptConfiguration
  /// The webhooks that receive events.
  package let webhooks: [WebhookConfiguration]
  /// The webhooks of `forward_notifications`, which receive Apple's notifications unchanged.
  package let forwardings: [WebhookConfiguration]
  /// The settings by which RevenueCat's events are received and compared; `nil` turns it off.
  package let revenueCatEvents: RevenueCatEventsConfiguration?
}

/// The sale terms of a product in the sandbox. They do not affect entitlements.
package struct SaleTerms: Hashable, Sendable {
  /// In thousandths of the currency unit, as in Apple's documents.
  package let price: Int64?
  /// An ISO 4217 code, such as `USD`.
  package let currency: String?
  /// The renewal period of an auto-renewable subscription.
  package let period: Period?
  /// The price of one payment of the monthly billing plan, in thousandths of the currency unit; `nil` without one.
  package let monthlyPrice: Int64?
}

/// A root certificate that is trusted for one environment.
package struct TrustedRoot: Hashable, Sendable {
  /// The environment whose documents the root may sign.
  package let environment: Environment
  /// The certificate file, PEM or DER.
  package let path: String
}

/// The section `log`.
package struct LogConfiguration: Hashable, Sendable {
  /// The form of log lines.
  package enum Format: String, Hashable, Sendable, CaseIterable {
    case text
    /// One JSON object a line.
    case json
  }

  /// The levels of swift-log, most verbose first.
  package enum Level: String, Hashable, Sendable, CaseIterable {
    case trace, debug, info, notice, warning, error, critical
  }

  /// The form of customer ids.
  package enum Customers: String, Hashable, Sendable, CaseIterable {
    /// The ids themselves.
    case id
    /// Keyed hashes, so that no log has to be erased.
    case alias
  }

  /// The form of log lines; by default ``Format/text``.
  package let format: Format
  /// The least severe level that is logged; by default ``Level/info``.
  package let level: Level
  /// Whether log lines name customers by their ids, which is the default, or by aliases.
  package let customers: Customers

  /// The default.
  package static let standard = LogConfiguration(format: .text, level: .info, customers: .id)
}

extension LogConfiguration {
  static let memberNames = ["format", "level", "customers"]

  /// Parses `log`. Each key is optional and has one of the raw values of its enumeration.
  init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members(Self.memberNames)
    format = try members["format"]?.choice() ?? .text
    level = try members["level"]?.choice() ?? .info
    customers = try members["customers"]?.choice() ?? .id
  }
}

/// The section `erasures`: files that are not in the store and its backups. `nil` places a file in the data directory.
package struct ErasureConfiguration: Hashable, Sendable {
  /// The list of erasures.
  package let list: String?
  /// The key of the installation, base64 of 32 bytes or more. A configured one is never created.
  package let key: String?

  /// Parses `erasures`; without the section, both files are in the data directory.
  init(_ node: ConfigurationNode?) throws(ConfigurationError) {
    let members = try node?.members(["list", "key"])
    list = try members?["list"]?.path()
    key = try members?["key"]?.path()
  }
}

/// The groups of evidence in `retention`. Bodies of groups that are not configured are kept.
package enum RetainedEvidence: String, Hashable, Sendable, CaseIterable {
  /// Rejected evidence.
  case rejected
  /// Apple's notifications.
  case notifications
  /// Signed transactions, renewal infos and app transactions.
  case documents
  /// Contents of app receipts, and stored receipts.
  case receipts

  private static let auditName = "audit"
  private static let requestsName = "retention_requests"
  /// Thirteen months, so that a month can be compared with the same one of the year before.
  static let standardRequestDays = 400

  /// The members of `retention`: the groups of evidence and the two kinds of records, which have functions of their
  /// own.
  private static func members(
    _ node: ConfigurationNode?
  ) throws(ConfigurationError) -> ConfigurationNode.Members? {
    try node?.members(allCases.map(\.rawValue) + [auditName, requestsName])
  }

  /// Parses `retention.audit`: the number of days after which audit entries are deleted, 1 to 36,500; `nil`: never.
  static func auditDays(_ node: ConfigurationNode?) throws(ConfigurationError) -> Int? {
    guard let node = try members(node)?[auditName] else { return nil }
    return Int(try node.number(in: 1...36_500))
  }

  /// Parses `retention.retention_requests`: the number of days after which requests for retention messages are deleted,
  /// 91 to 36,500. The outcome of a request may take 90 days, so a shorter time would delete requests without one.
  static func requestDays(_ node: ConfigurationNode?) throws(ConfigurationError) -> Int {
    guard let node = try members(node)?[requestsName] else { return standardRequestDays }
    return Int(try node.number(in: 91...36_500))
  }

  /// Parses `retention`: the number of days after which bodies are purged, 1 to 36,500, by group. Groups without a
  /// number are missing from the result.
  static func days(_ node: ConfigurationNode?) throws(ConfigurationError) -> [RetainedEvidence: Int] {
    var days: [RetainedEvidence: Int] = [:]
    let members = try Self.members(node)
    for group in allCases {
      guard let node = members?[group.rawValue] else { continue }
      days[group] = Int(try node.number(in: 1...36_500))
    }
    return days
  }
}
