internal import AppStore
package import Entitlements

/// A call that Apple would reject because the customer did not pay for the transaction. It is rejected before
/// it is made and uses no rate limit.
package struct DisallowedCall: Error, Hashable, Sendable {
  /// The calls that Apple allows only for the purchaser.
  package enum Call: Hashable, Sendable, CaseIterable {
    /// Extend a Subscription Renewal Date.
    case extendRenewalDate
    /// Send Consumption Information.
    case sendConsumptionInformation
  }

  package let call: Call
  /// The role of the customer of the transaction.
  package let role: PurchaseRole

  /// Returns `nil` if the purchaser may make the call.
  package init?(_ call: Call, about fact: TransactionFact) {
    let role = PurchaseRole(of: fact)
    guard role == .familyMember || role == .seat else { return nil }
    self.call = call
    self.role = role
  }

  /// Apple's error code; `nil` if Apple's pages name the error without its code.
  package var appleCode: Int64? {
    switch (call, role) {
    case (.sendConsumptionInformation, _): APIErrorCode.familyTransactionNotSupported.rawValue
    case (.extendRenewalDate, .familyMember):
      APIErrorCode.familySharedSubscriptionExtensionIneligible.rawValue
    case (.extendRenewalDate, _): nil
    }
  }

  /// Apple's name of the error.
  package var appleName: String {
    switch (call, role) {
    case (.sendConsumptionInformation, _): "FamilyTransactionNotSupportedError"
    case (.extendRenewalDate, .familyMember): "FamilySharedSubscriptionExtensionIneligibleError"
    case (.extendRenewalDate, _): "AssignedSubscriptionExtensionIneligibleError"
    }
  }
}

extension DisallowedCall: CustomStringConvertible {
  package var description: String {
    let source = role == .seat ? "is an assigned seat" : "is shared by a family member"
    let limit =
      call == .extendRenewalDate ? "extends own purchases only" : "accepts consumption of own purchases only"
    let code = appleCode.map { " (\($0))" } ?? ""
    return "the transaction \(source); Apple \(limit): \(appleName)\(code)"
  }
}
