internal import AppStore
package import Entitlements

/// A call to Apple about a transaction that Apple would refuse, since the customer is not the one who paid.
/// It is refused before it is made: it would only use up the rate limit.
package struct DisallowedCall: Error, Hashable, Sendable {
  /// What Apple can be asked to do with a customer's transaction, as far as it matters who paid.
  package enum Call: Hashable, Sendable, CaseIterable {
    /// Extend a Subscription Renewal Date.
    case extendRenewalDate
    /// Send Consumption Information.
    case sendConsumptionInformation
  }

  /// The call.
  package let call: Call
  /// What the customer is who was meant.
  package let role: PurchaseRole

  /// Refuses nothing (`nil`) of those who paid.
  package init?(_ call: Call, about fact: TransactionFact) {
    let role = PurchaseRole(of: fact)
    guard role == .familyMember || role == .seat else { return nil }
    self.call = call
    self.role = role
  }

  /// Apple's number of the error; `nil` where Apple's published pages name the error without its number.
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
    let whose = role == .seat ? "is an assigned seat" : "is shared by a family member"
    let what = call == .extendRenewalDate ? "extends only purchases" : "takes consumption only of purchases"
    let number = appleCode.map { " (\($0))" } ?? ""
    return "the transaction \(whose), and Apple \(what): \(appleName)\(number)"
  }
}
