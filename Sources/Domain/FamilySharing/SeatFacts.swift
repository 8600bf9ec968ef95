internal import AppStore
package import Entitlements

// What a seat gives: the purchase, as its holder has it.
extension CustomerFacts {
  /// The facts of a seat's holder: each period of the purchase from the claim on, as a transaction of the
  /// seat's own line that is `ASSIGNED`, without a price and without an offer.
  ///
  /// Where fewer seats were bought for a period than are claimed, those that were claimed first have access
  /// and the others wait until one is given back or more are bought. The purchaser's access is never touched.
  ///
  /// - `self`: all that is known of the purchase line.
  /// - `seats`: all claims of this purchase, `seat` among them.
  package func assigned(to seat: Seat, among seats: [Seat]) -> CustomerFacts {
    let bought = SeatCapacity(self)
    let earlier = seats.filter { $0.precedes(seat) }
    var assigned: [TransactionFact] = []
    for transaction in transactions {
      let free = seat.claimedAt.orLater(Self.firstFree(bought.count(transaction), behind: earlier))
      guard let free, free < transaction.expiresDate ?? transaction.purchaseDate,
        free < seat.releasedAt ?? .distantEnd
      else {
        assigned.cutLast(at: transaction.purchaseDate)
        continue
      }
      assigned.append(transaction.assigned(to: seat, from: max(transaction.purchaseDate, free)))
    }
    return CustomerFacts(
      transactions: assigned, renewals: seat.isHeld ? renewals.map { $0.assigned(to: seat) } : [])
  }

  /// From when on fewer than `count` of the earlier claims are held; the beginning of time if that always
  /// was so, `nil` if it never is.
  private static func firstFree(_ count: Int64, behind earlier: [Seat]) -> Instant? {
    let tooMany = Int64(earlier.count) - count
    guard count > 0 else { return nil }
    guard tooMany >= 0 else { return .distantStart }
    let released = earlier.compactMap(\.releasedAt).sorted()
    return tooMany < released.count ? released[Int(tooMany)] : nil
  }
}

extension TransactionFact {
  /// This period as the holder of `seat` has it, from `start` on.
  fileprivate func assigned(to seat: Seat, from start: Instant) -> TransactionFact {
    var fact = TransactionFact(
      transactionID: transactionID, originalTransactionID: seat.seatID, productID: productID, type: type,
      purchaseDate: start, expiresDate: expiresDate, revocationDate: Revocation(of: self)?.endOfAccess,
      revocationReason: revocationReason, revocationType: revocationType, isUpgraded: isUpgraded,
      ownership: .assigned, subscriptionGroupID: subscriptionGroupID, signedDate: signedDate)
    fact.details.additionalTransactionReason = details.additionalTransactionReason
    guard let released = seat.releasedAt, released < fact.revocationDate ?? .distantEnd,
      released < fact.expiresDate ?? .distantEnd
    else { return fact }
    fact.revocationDate = released
    fact.revocationType = .familyRevoke
    return fact
  }
}

extension RenewalFact {
  /// What becomes of the subscription, for who does not pay for it.
  fileprivate func assigned(to seat: Seat) -> RenewalFact {
    RenewalFact(
      originalTransactionID: seat.seatID, productID: productID, autoRenewProductID: autoRenewProductID,
      autoRenewStatus: autoRenewStatus, isInBillingRetry: isInBillingRetry,
      gracePeriodExpiresDate: gracePeriodExpiresDate, expirationIntent: expirationIntent,
      renewalDate: renewalDate, signedDate: signedDate)
  }
}

extension [TransactionFact] {
  /// A period without a seat begins at `instant`: the one before ends there, even if it was paid for longer.
  fileprivate mutating func cutLast(at instant: Instant) {
    guard let last = indices.last, instant < self[last].expiresDate ?? instant,
      instant < self[last].revocationDate ?? .distantEnd, self[last].purchaseDate <= instant
    else { return }
    self[last].revocationDate = instant
    self[last].revocationType = .familyRevoke
  }
}

extension Instant {
  fileprivate static let distantStart = Instant(millisecondsSince1970: .min)
  fileprivate static let distantEnd = Instant(millisecondsSince1970: .max)

  /// The later of the two; `nil` if the other is.
  fileprivate func orLater(_ other: Instant?) -> Instant? { other.map { Swift.max(self, $0) } }
}
