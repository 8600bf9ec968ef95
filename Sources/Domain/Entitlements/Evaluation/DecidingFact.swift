/// The one fact that an answer rests on, by its number.
package enum DecidingFact: Hashable, Sendable {
  /// A purchase or period, by Apple's number of it, of a purchase line or a seat.
  case transaction(String, ofLine: String)
  /// What the operator gave, by its number.
  case grant(String)
}

extension EntitlementStatus {
  /// The transaction or the grant that gives the entitlement, or that gave it last; `nil` where it is neither: nothing
  /// was bought, or a copy of the app gives it.
  package var decidingFact: DecidingFact? {
    if let deciding { return .transaction(deciding.transactionID, ofLine: deciding.originalTransactionID) }
    return grantID.map(DecidingFact.grant)
  }
}
