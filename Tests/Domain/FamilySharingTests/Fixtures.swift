import AppStore
import Entitlements
import FamilySharing
import TestSupport

/// An app with a subscription and a non-consumable; both grant `pro`.
let app = AppDefinition(
  id: "ocean", identity: AppIdentity(bundleID: "com.example.ocean", appAppleID: nil),
  environments: [.sandbox],
  products: [
    ProductDefinition(
      productID: "monthly", type: .autoRenewableSubscription, subscriptionGroup: "pro", level: 1,
      entitlements: ["pro"]),
    ProductDefinition(productID: "lifetime", type: .nonConsumable, entitlements: ["pro"]),
  ])

/// A period of the subscription, by days.
func period(
  _ days: ClosedRange<Int64>, line: String, id: String? = nil, _ ownership: InAppOwnershipType = .purchased
) -> TransactionFact {
  TransactionFact(
    transactionID: id ?? "\(line)-\(days.lowerBound)", originalTransactionID: line, productID: "monthly",
    type: .autoRenewableSubscription, purchaseDate: at(days.lowerBound), expiresDate: at(days.upperBound),
    ownership: ownership, signedDate: at(days.lowerBound))
}

/// A purchase of the non-consumable.
func lifetime(on day: Int64, line: String, _ ownership: InAppOwnershipType = .purchased) -> TransactionFact {
  TransactionFact(
    transactionID: line, originalTransactionID: line, productID: "lifetime", type: .nonConsumable,
    purchaseDate: at(day), ownership: ownership, signedDate: at(day))
}

extension TransactionFact {
  /// The transaction as Apple signs it after a revocation on `day`.
  func revoked(on day: Int64, _ type: RevocationType? = nil) -> TransactionFact {
    with {
      $0.revocationDate = at(day)
      $0.revocationReason = .other
      $0.revocationType = type ?? (ownership == .purchased ? .refundFull : .familyRevoke)
      $0.signedDate = at(day)
    }
  }

  /// The transaction as Apple signs it on `day` without a revocation.
  func givenBack(on day: Int64) -> TransactionFact {
    with {
      $0.revocationDate = nil
      $0.revocationReason = nil
      $0.revocationType = nil
      $0.signedDate = at(day)
    }
  }
}

/// The answer for `pro` after these documents arrived in this order.
func pro(_ documents: [TransactionFact], on day: Int64, hours: Int64 = 12) -> EntitlementStatus {
  evaluate(
    CustomerFacts(transactions: documents), entitlement: "pro", in: app, at: at(day, hours: hours))
}

/// All permutations of `elements`.
func permutations<Element>(_ elements: [Element]) -> [[Element]] {
  guard elements.count > 1 else { return [elements] }
  return elements.indices.flatMap { index -> [[Element]] in
    var rest = elements
    let first = rest.remove(at: index)
    return permutations(rest).map { [first] + $0 }
  }
}

/// A seat of the purchase `team`, claimed and released on these days.
func seat(_ number: Int, claimed day: Int64, released: Int64? = nil) -> Seat {
  Seat(
    seatID: "seat-\(number)", originalTransactionID: "team", claimedAt: at(day),
    releasedAt: released.map { at($0) })
}
