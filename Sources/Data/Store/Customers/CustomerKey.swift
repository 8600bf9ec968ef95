package import AppStore
package import Entitlements

/// One customer of one app in one environment.
package struct CustomerKey: Hashable, Sendable {
  /// The operator's name for the app.
  package let appID: String
  /// Where the purchases were made; environments never mix.
  package let environment: Environment
  /// The operator's name for the customer.
  package let customerID: String

  /// A customer by app, environment and the operator's name.
  package init(appID: String, environment: Environment, customerID: String) {
    self.appID = appID
    self.environment = environment
    self.customerID = customerID
  }

  /// A line of the same app and environment.
  package func line(_ originalTransactionID: String) -> LineKey {
    LineKey(appID: appID, environment: environment, originalTransactionID: originalTransactionID)
  }
}

/// One configured app in one of Apple's environments.
package struct AppEnvironment: Hashable, Sendable {
  /// The operator's name for the app, as the catalog has it.
  package let appID: String
  package let environment: Environment

  package init(appID: String, environment: Environment) {
    self.appID = appID
    self.environment = environment
  }
}

/// One purchase line of one app in one environment: a subscription with its renewals, or one purchase.
///
/// What else can be a customer's is kept in the same way, under a number that is none of Apple's: a grant
/// of the operator's, a seat, and a copy of the app.
package struct LineKey: Hashable, Sendable {
  /// The operator's name for the app.
  package let appID: String
  /// Where the purchases were made; environments never mix.
  package let environment: Environment
  /// Apple's number, the same in every transaction of the line; else a grant's number, or that of an app
  /// transaction behind ``appTransactionPrefix``.
  package let originalTransactionID: String

  /// A line by app, environment and Apple's number.
  package init(appID: String, environment: Environment, originalTransactionID: String) {
    self.appID = appID
    self.environment = environment
    self.originalTransactionID = originalTransactionID
  }

  /// What the numbers of grants begin with; Apple's are digits.
  package static let grantPrefix = "grant-"
  /// What the numbers of app transactions begin with.
  package static let appTransactionPrefix = "app-"

  /// What the numbers of seats begin with.
  package static let seatPrefix = "seat-"

  /// Whether it is a grant.
  package var isGrant: Bool { originalTransactionID.hasPrefix(Self.grantPrefix) }
  /// Whether it is a seat of a purchase that was claimed.
  package var isSeat: Bool { originalTransactionID.hasPrefix(Self.seatPrefix) }
  /// Whether it is a purchase: neither a grant nor a seat nor an app transaction.
  package var isPurchase: Bool {
    !isGrant && !isSeat && !originalTransactionID.hasPrefix(Self.appTransactionPrefix)
  }

  /// Another line of the same app and environment.
  package func other(_ originalTransactionID: String) -> LineKey {
    LineKey(appID: appID, environment: environment, originalTransactionID: originalTransactionID)
  }

  /// A customer of the same app and environment.
  package func customer(_ id: String) -> CustomerKey {
    CustomerKey(appID: appID, environment: environment, customerID: id)
  }
}

/// One customer with all that is known of it, for those who go through all of them.
package struct CustomerRecord: Hashable, Sendable {
  /// Who it is.
  package let key: CustomerKey
  /// What is known.
  package let facts: CustomerFacts

  /// A customer and its facts.
  package init(key: CustomerKey, facts: CustomerFacts) {
    self.key = key
    self.facts = facts
  }
}
