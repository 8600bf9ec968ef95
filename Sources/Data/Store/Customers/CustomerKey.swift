package import AppStore
internal import Bytes
package import Entitlements

/// One customer of one app in one environment. Ids with other bytes are other customers.
package struct CustomerKey: Hashable, Sendable {
  /// The operator's name for the app.
  package let appID: String
  /// Apple's environment of the purchases; environments never mix.
  package let environment: Environment
  /// The operator's name for the customer.
  package let customerID: String

  /// Creates a key from its parts.
  package init(appID: String, environment: Environment, customerID: String) {
    self.appID = appID
    self.environment = environment
    self.customerID = customerID
  }

  package static func == (left: CustomerKey, right: CustomerKey) -> Bool {
    left.customerID.hasSameBytes(as: right.customerID) && left.environment == right.environment
      && left.appID == right.appID
  }

  /// Hashes the id alone, because few customers of different apps and environments have the same one.
  package func hash(into hasher: inout Hasher) {
    customerID.utf8.span.bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
  }

  /// Whether one of these ids is that of the customer.
  package func isAmong(_ ids: [String]) -> Bool { ids.contains { $0.hasSameBytes(as: customerID) } }

  /// Returns another customer of the same app and environment.
  package func other(_ customerID: String) -> CustomerKey {
    CustomerKey(appID: appID, environment: environment, customerID: customerID)
  }

  /// Returns a line of the same app and environment.
  package func line(_ lineID: String) -> LineKey {
    LineKey(appID: appID, environment: environment, lineID: lineID)
  }
}

/// The key under which facts are stored: a purchase with all its transactions, a grant, a seat or an app
/// install, of one app in one environment.
///
/// A purchase has Apple's id. The ids of the others have a prefix that no id of Apple's has.
package struct LineKey: Hashable, Sendable {
  /// The operator's name for the app.
  package let appID: String
  /// Apple's environment of the purchases; environments never mix.
  package let environment: Environment
  /// Apple's `originalTransactionId`, the same in every transaction of the line; otherwise the id of a grant,
  /// a seat or an app transaction, with its prefix.
  package let lineID: String

  /// Creates a key from its parts.
  package init(appID: String, environment: Environment, lineID: String) {
    self.appID = appID
    self.environment = environment
    self.lineID = lineID
  }

  /// Hashes the id alone, because few lines of different apps and environments have the same one.
  package func hash(into hasher: inout Hasher) { hasher.combine(lineID) }

  /// The prefix of grant ids; Apple's ids consist of digits.
  package static let grantPrefix = "grant-"
  /// The prefix of app transaction ids.
  package static let appTransactionPrefix = "app-"

  /// The prefix of seat ids.
  package static let seatPrefix = "seat-"
  /// The prefix of Apple's ids of seat claims, under which the end of a claim waits for the claim. These lines have no facts.
  package static let seatClaimPrefix = "seat-claim-"

  /// Whether the line is a grant.
  package var isGrant: Bool { lineID.hasPrefix(Self.grantPrefix) }
  /// Whether the line is a claimed seat.
  package var isSeat: Bool { lineID.hasPrefix(Self.seatPrefix) }
  /// Whether the line is a purchase: neither a grant nor a seat nor an app transaction.
  package var isPurchase: Bool {
    !isGrant && !isSeat && !lineID.hasPrefix(Self.appTransactionPrefix)
  }

  package var appEnvironment: AppEnvironment { AppEnvironment(appID: appID, environment: environment) }

  /// Returns another line of the same app and environment.
  package func other(_ lineID: String) -> LineKey {
    LineKey(appID: appID, environment: environment, lineID: lineID)
  }

  /// Returns the line of an app install of the same app and environment.
  package func appInstall(_ appTransactionID: String) -> LineKey {
    other(Self.appTransactionPrefix + appTransactionID)
  }

  /// Returns the line under which the evidence of a state of this grant is found; it has no facts.
  package func grantState(_ revision: Int64) -> LineKey { other("\(lineID)@\(revision)") }

  /// Returns a customer of the same app and environment.
  package func customer(_ id: String) -> CustomerKey {
    CustomerKey(appID: appID, environment: environment, customerID: id)
  }
}

/// A customer with all its facts, as returned by a scan of all customers.
package struct CustomerRecord: Hashable, Sendable {
  /// The identity of the customer.
  package let key: CustomerKey
  /// All facts of the customer.
  package let facts: CustomerFacts

  /// Creates a record from its parts.
  package init(key: CustomerKey, facts: CustomerFacts) {
    self.key = key
    self.facts = facts
  }
}
