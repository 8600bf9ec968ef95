internal import AppStore

// What evaluation asks about a transaction's place in its purchase line.
extension CustomerFacts {
  /// The transaction that took over from the one at `index`: the first of the same line that was bought
  /// later. Several transactions can be about one period, as where seats were added to it; they do not cut
  /// each other off (Apple's `revokedSeatQuantity`: access ends when every one of them was revoked).
  func nextInLine(after index: Int) -> Int? {
    var next = index + 1
    while next < transactions.endIndex,
      transactions[next].originalTransactionID == transactions[index].originalTransactionID
    {
      let isLater = transactions[next].purchaseDate > transactions[index].purchaseDate
      if isLater, !adds(next, toPeriodAt: index) { return next }
      next += 1
    }
    return nil
  }

  /// Whether `next` only adds to the period at `index`.
  private func adds(_ next: Int, toPeriodAt index: Int) -> Bool {
    transactions[next].details.additionalTransactionReason != nil
      && transactions[next].expiresDate == transactions[index].expiresDate
      && transactions[next].productID == transactions[index].productID
  }

  /// When the period at `index` was cut off: at its revocation or by the `next` purchase of its line.
  func cut(_ index: Int, _ next: Int?) -> Instant {
    let revoked = transactions[index].accessRevokedAt ?? .openEnd
    guard let next else { return revoked }
    return min(revoked, transactions[next].purchaseDate)
  }

  /// The end of the access that was paid for at `index`; `next` as in ``cut(_:_:)``.
  func paidEnd(_ index: Int, _ next: Int?) -> Instant {
    min(transactions[index].expiresDate ?? transactions[index].purchaseDate, cut(index, next))
  }

  /// The period that a renewal info describes: the one of its line that ends on its `renewalDate`, "when the most
  /// recent auto-renewable subscription purchase expires" (Apple's page of that property). Apple renews up to a
  /// day early, so the period may begin after the renewal info was signed. Where no period ends then, since the
  /// date is not there or was moved by an extension: the one that had begun last when Apple signed it. News of
  /// an older period says nothing of a newer one.
  func transaction(describedBy renewal: Int) -> Int? {
    let signed = renewals[renewal].signedDate
    var begunLast: Int?
    // By index and not by element: an element is some 300 bytes with a dozen reference counts.
    for index in transactions.indices.reversed()
    where transactions[index].originalTransactionID == renewals[renewal].originalTransactionID {
      if let date = renewals[renewal].renewalDate, transactions[index].expiresDate == date { return index }
      if begunLast == nil, transactions[index].purchaseDate <= signed { begunLast = index }
    }
    return begunLast
  }

  /// The renewal info that describes the period at `index`. See ``transaction(describedBy:)``.
  func renewal(describing index: Int) -> Int? {
    let ofLine = renewals.indices.first {
      renewals[$0].originalTransactionID == transactions[index].originalTransactionID
    }
    guard let renewal = ofLine, let described = transaction(describedBy: renewal),
      transactions[described].purchaseDate == transactions[index].purchaseDate
    else { return nil }
    return renewal
  }

  /// How the period at `index` was paid for.
  func substate(_ index: Int) -> EntitlementSubstate {
    switch transactions[index].offerType {
    case nil, .unrecognized: .standard
    case .introductory:
      if case .freeTrial = transactions[index].offerDiscountType { .freeTrial } else { .introductoryOffer }
    case .promotional, .offerCode, .winBack: .subscriptionOffer
    }
  }
}
