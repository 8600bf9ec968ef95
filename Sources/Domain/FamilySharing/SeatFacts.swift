internal import AppStore
package import Entitlements

// The facts of a seat.
extension CustomerFacts {
  /// Returns the facts of a seat: each period of the purchase from the claim on, as an `ASSIGNED` transaction
  /// of the seat's own line, without price and offer.
  ///
  /// If a period has fewer seats than claims, the oldest claims have access and the others wait for a
  /// released or additional seat. The purchaser's access is not affected.
  ///
  /// - `self`: all facts of the purchase.
  /// - `seats`: all claims of this purchase, including `seat`.
  package func assigned(to seat: Seat, among seats: [Seat]) -> CustomerFacts {
    let capacity = SeatCapacity(self)
    let earlier = seats.filter { $0.precedes(seat) }
    var assigned: [TransactionFact] = []
    let purchase = withoutCopies
    for (index, transaction) in purchase.transactions.enumerated()
    where !purchase.isWithdrawnBeforeStart(index) {
      let free = seat.claimedAt.orLater(Self.firstFree(capacity.count(at: index), after: earlier))
      guard let free, free < transaction.expiresDate ?? transaction.purchaseDate,
        free < seat.releasedAt ?? .distantFuture
      else {
        assigned.cutLast(at: transaction.purchaseDate)
        continue
      }
      assigned.append(transaction.assigned(to: seat, from: max(transaction.purchaseDate, free)))
    }
    var facts = CustomerFacts(transactions: assigned)
    guard seat.isHeld else { return facts }
    for history in renewalHistories {
      for (index, signature) in history.signatures.enumerated() {
        facts.insert(history.document(index).assigned(to: seat), knownAt: signature.knownAt)
      }
    }
    return facts
  }

  /// When fewer than `count` of the earlier claims are held; the beginning of time if always, `nil` if never.
  private static func firstFree(_ count: Int64, after earlier: [Seat]) -> Instant? {
    guard count > 0 else { return nil }
    let tooMany = Int64(earlier.count) - count
    guard tooMany >= 0 else { return .distantPast }
    let released = earlier.compactMap(\.releasedAt).sorted()
    return tooMany < released.count ? released[Int(tooMany)] : nil
  }
}

extension TransactionFact {
  /// The period as the seat has it, from `start` on.
  fileprivate func assigned(to seat: Seat, from start: Instant) -> TransactionFact {
    var fact = TransactionFact(
      transactionID: transactionID, originalTransactionID: seat.seatID, productID: productID, type: type,
      purchaseDate: start, expiresDate: expiresDate, revocationDate: Revocation(of: self)?.endOfAccess,
      revocationReason: revocationReason, revocationType: revocationType, isUpgraded: isUpgraded,
      ownership: .assigned, subscriptionGroupID: subscriptionGroupID, signedDate: signedDate)
    fact.details.additionalTransactionReason = details.additionalTransactionReason
    fact.details.wasWithoutAdditions = details.wasWithoutAdditions
    // A failed payment of a commitment ends the access of its seats at once, too.
    fact.details.billingPlanType = details.commitment == nil ? details.billingPlanType : .monthly
    guard let released = seat.releasedAt, released < fact.revocationDate ?? .distantFuture,
      released < fact.expiresDate ?? .distantFuture
    else { return fact }
    fact.revocationDate = released
    fact.revocationType = .familyRevoke
    return fact
  }
}

extension RenewalFact {
  /// The renewal info without the fields that concern the payer.
  fileprivate func assigned(to seat: Seat) -> RenewalFact {
    var fact = RenewalFact(
      originalTransactionID: seat.seatID, productID: productID, autoRenewProductID: autoRenewProductID,
      autoRenewStatus: autoRenewStatus, isInBillingRetry: isInBillingRetry,
      gracePeriodExpiresDate: gracePeriodExpiresDate, expirationIntent: expirationIntent,
      renewalDate: renewalDate, signedDate: signedDate)
    if let plan = details.billingPlanType { fact.details.billingPlanType = plan }
    return fact
  }
}

extension [TransactionFact] {
  /// Ends the previous period at `instant`, where a period without this seat starts.
  fileprivate mutating func cutLast(at instant: Instant) {
    guard let last = indices.last, instant < self[last].expiresDate ?? instant,
      instant < self[last].revocationDate ?? .distantFuture, self[last].purchaseDate <= instant
    else { return }
    self[last].revocationDate = instant
    self[last].revocationType = .familyRevoke
  }
}

extension Instant {
  /// The later of the two; `nil` if `other` is.
  fileprivate func orLater(_ other: Instant?) -> Instant? { other.map { Swift.max(self, $0) } }
}
