internal import AppStore
internal import Entitlements

/// The periods of subscriptions that an upgrade replaced.
///
/// Only the transaction history marks them (`isUpgraded`): notifications contain the new period alone. So a period that
/// another product or billing plan of the line cuts short counts as upgraded, unless it was signed again since: a renewal
/// begins where the period before ends.
struct UpgradedPeriods: Sendable {
  private var transactionIDs: Set<String> = []

  /// Finds them in transactions ordered as ``CustomerFacts/transactions``: by line, then by purchase date.
  init(in transactions: [TransactionFact]) {
    var rest = transactions[...]
    while let line = rest.first?.originalTransactionID {
      let ofLine = rest.prefix { $0.originalTransactionID == line }
      add(ofLine)
      rest = rest[ofLine.endIndex...]
    }
  }

  func contains(_ fact: TransactionFact) -> Bool { transactionIDs.contains(fact.transactionID) }

  private mutating func add(_ line: ArraySlice<TransactionFact>) {
    let periods = PeriodIndex(line.map(\.period))
    // Whether a period is upgraded depends on later ones.
    for index in line.indices.reversed() where isUpgraded(index, in: line, periods) {
      transactionIDs.insert(line[index].transactionID)
    }
  }

  private func isUpgraded(
    _ index: Int, in line: ArraySlice<TransactionFact>, _ periods: PeriodIndex<TransactionFact.Plan>
  ) -> Bool {
    let fact = line[index]
    guard !fact.isUpgraded else { return true }
    guard fact.revocationDate == nil, let end = fact.expiresDate else { return false }
    // A period that renewed is not cut short; its renewal is. The upgrade replaces both if the renewal was only charged.
    if let last = line[(index + 1)...].last(startingBy: end), last.purchaseDate == end, !contains(last) {
      return false
    }
    // A period that was charged ahead of its time begins after the one that replaced it.
    let since = periods.positions(after: fact.signedDate, before: end)
    return periods.firstStart(in: since, besides: fact.plan) != nil
  }
}

extension TransactionFact {
  /// What an upgrade changes: the product, or the billing plan of the same product.
  fileprivate struct Plan: Equatable {
    let productID: String
    let isOfCommitment: Bool
  }

  fileprivate var plan: Plan { Plan(productID: productID, isOfCommitment: isOfCommitment) }

  fileprivate var period: PeriodIndex<Plan>.Period {
    .init(
      transactionID: transactionID, plan: plan, start: purchaseDate, end: expiresDate ?? .distantFuture)
  }
}

extension ArraySlice<TransactionFact> {
  /// The last one that was purchased by an instant, of transactions in the order of their purchase dates.
  fileprivate func last(startingBy instant: Instant) -> TransactionFact? {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if self[middle].purchaseDate <= instant { low = middle + 1 } else { high = middle }
    }
    return low > startIndex ? self[low - 1] : nil
  }
}
