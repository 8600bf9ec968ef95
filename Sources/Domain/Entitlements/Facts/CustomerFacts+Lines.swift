internal import AppStore

// The position of a transaction in its purchase line.
extension CustomerFacts {
  /// The index of the transaction that replaced the one at `index`: the first later purchase of the same
  /// line. Several transactions can cover one period, for example after adding seats; they do not replace
  /// each other (Apple's `revokedSeatQuantity`: access ends when all of them are revoked).
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

  /// Whether `next` only adds seats to the period at `index`.
  func adds(_ next: Int, toPeriodAt index: Int) -> Bool {
    transactions[next].details.additionalTransactionReason != nil
      && transactions[next].expiresDate == transactions[index].expiresDate
      && transactions[next].productID == transactions[index].productID
  }

  /// When the period at `index` was cut: at its revocation or by the `next` purchase of its line.
  func cut(_ index: Int, _ next: Int?) -> Instant {
    let revoked = transactions[index].accessRevokedAt ?? .openEnd
    guard let next else { return revoked }
    return min(revoked, transactions[next].purchaseDate)
  }

  /// The end of the paid access at `index`; `next` as in ``cut(_:_:)``.
  func paidEnd(_ index: Int, _ next: Int?) -> Instant {
    min(transactions[index].expiresDate ?? transactions[index].purchaseDate, cut(index, next))
  }

  /// The index of the period that a renewal info describes: the one of its line that ends on its
  /// `renewalDate`, "when the most recent auto-renewable subscription purchase expires" (Apple, renewalDate).
  /// Apple renews up to a day early, so that period can start after the renewal info was signed. If no period
  /// ends then, because the date is missing or was moved by an extension, it is the latest period that had
  /// started when Apple signed. Renewal info of an older period says nothing about a newer one.
  func transaction(describedBy renewal: Int) -> Int? {
    let signed = renewals[renewal].signedDate
    var begunLast: Int?
    // By index, because an element has about 300 bytes and a dozen reference counts.
    for index in transactions.indices.reversed()
    where transactions[index].originalTransactionID == renewals[renewal].originalTransactionID {
      if let date = renewals[renewal].renewalDate, transactions[index].expiresDate == date { return index }
      if begunLast == nil, transactions[index].purchaseDate <= signed { begunLast = index }
    }
    return begunLast
  }

  /// The index of the renewal info that describes the period at `index`. See ``transaction(describedBy:)``.
  func renewal(describing index: Int) -> Int? {
    let ofLine = renewals.indices.first {
      renewals[$0].originalTransactionID == transactions[index].originalTransactionID
    }
    guard let renewal = ofLine, let described = transaction(describedBy: renewal),
      transactions[described].purchaseDate == transactions[index].purchaseDate
    else { return nil }
    return renewal
  }

  /// The payment mode of the period at `index`.
  func substate(_ index: Int) -> EntitlementSubstate {
    switch transactions[index].offerType {
    case nil, .unrecognized: .standard
    case .introductory:
      if case .freeTrial = transactions[index].offerDiscountType { .freeTrial } else { .introductoryOffer }
    case .promotional, .offerCode, .winBack: .subscriptionOffer
    }
  }
}
