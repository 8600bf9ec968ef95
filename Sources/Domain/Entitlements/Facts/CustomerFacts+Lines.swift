internal import AppStore

// The position of a transaction in its purchase line.
extension CustomerFacts {
  /// The indices of the transactions of a line.
  func range(ofLine originalTransactionID: String) -> Range<Int> {
    // By index, because an element has about 300 bytes and a dozen reference counts.
    let all = transactions.indices
    let start = all.firstInOrder { transactions[$0].originalTransactionID >= originalTransactionID }
    let rest = start..<all.endIndex
    return start..<rest.firstInOrder { transactions[$0].originalTransactionID > originalTransactionID }
  }

  /// The index of the history of a line; `nil` without renewal info.
  func renewalHistory(ofLine originalTransactionID: String) -> Int? {
    let index = renewalHistories.indices.firstInOrder {
      renewalHistories[$0].originalTransactionID >= originalTransactionID
    }
    guard index < renewalHistories.endIndex,
      renewalHistories[index].originalTransactionID == originalTransactionID
    else { return nil }
    return index
  }

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

extension Range<Int> {
  /// The first index that matches, or the end; all indices after it match too. By binary search.
  func firstInOrder(where matches: (Int) -> Bool) -> Int {
    var (low, high) = (lowerBound, upperBound)
    while low < high {
      let middle = low + (high - low) / 2
      if matches(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
