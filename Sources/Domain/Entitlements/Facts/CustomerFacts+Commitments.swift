internal import AppStore

// The renewal at the end of a commitment, which is that of all its payments.
extension CustomerFacts {
  /// The renewal info in force for the period at `index` at `now` (``renewal(of:at:)``). For a payment of a commitment that
  /// none describes yet, it is the newest one about an earlier payment: a cancellation is about the end of the commitment,
  /// so a payment after it takes nothing back.
  func renewalOrCommitment(of index: Int, at now: Instant) -> RenewalFact? {
    if let info = renewal(of: index, at: now) { return info }
    guard let first = firstPayment(ofCommitmentAt: index), let info = renewal(of: first, at: now),
      info.inDetails({ $0.commitment != nil })
    else { return nil }
    return info.withoutFailure
  }

  /// The first stored payment of the commitment that the period at `index` is a later payment of; `nil` if there is none.
  private func firstPayment(ofCommitmentAt index: Int) -> Int? {
    var first: Int?
    var current = index
    while let before = predecessor(of: current), isPayment(current, after: before) {
      first = before
      current = before
    }
    return first
  }

  /// Whether the period at `index` is a later payment of the commitment that the one at `earlier` belongs to. A payment that
  /// was recovered moves the end of the commitment.
  private func isPayment(_ index: Int, after earlier: Int) -> Bool {
    guard let later = transactions[index].inDetails({ $0.commitment }),
      let before = transactions[earlier].inDetails({ $0.commitment }),
      transactions[index].productID == transactions[earlier].productID,
      later.totalBillingPeriods == before.totalBillingPeriods,
      before.billingPeriodNumber < later.billingPeriodNumber
    else { return false }
    guard let end = later.expiresDate, let endBefore = before.expiresDate else { return true }
    return (0...BillingRetry.ofCommitment).contains(end.milliseconds(since: endBefore))
  }
}
