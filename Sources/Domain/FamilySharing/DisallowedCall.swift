package import AppStore
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

  /// Apple's error code.
  package var appleCode: APIErrorCode {
    switch (call, role) {
    case (.sendConsumptionInformation, .familyMember): .familyTransactionNotSupported
    case (.sendConsumptionInformation, _): .assignedTransactionNotSupported
    case (.extendRenewalDate, .familyMember): .familySharedSubscriptionExtensionIneligible
    case (.extendRenewalDate, _): .assignedSubscriptionExtensionIneligible
    }
  }

  /// Apple's name of the error.
  package var appleName: String {
    switch (call, role) {
    case (.sendConsumptionInformation, .familyMember): "FamilyTransactionNotSupportedError"
    case (.sendConsumptionInformation, _): "InvalidAssignedTransactionNotSupportedError"
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
    return "the transaction \(source); Apple \(limit): \(appleName) (\(appleCode.rawValue))"
  }
}
