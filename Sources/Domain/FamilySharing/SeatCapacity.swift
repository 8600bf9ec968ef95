internal import AppStore
package import Entitlements

/// How many seats a purchase line has, period by period.
package struct SeatCapacity: Sendable {
  /// Why no seat of a purchase can be claimed, whoever asks.
  package enum Problem: Hashable, Sendable {
    /// It is no subscription that somebody bought with seats.
    case noSeats
    /// Apple invites the members, and each has a transaction of their own.
    case invitedByApple
  }

  private let transactions: [TransactionFact]

  /// The seats that the transactions of one line bought.
  package init(_ line: CustomerFacts) {
    transactions = line.transactions
  }

  /// What stands against claiming any seat; `nil` if nothing does. The setting of the newest period counts.
  package var problem: Problem? {
    guard let last = transactions.last, last.type == .autoRenewableSubscription,
      !last.isShared
    else { return .noSeats }
    switch last.details.invitationManagement {
    case .apple: return .invitedByApple
    case .developer, .unrecognized: return nil
    // Several of one subscription are seats, even if Apple did not say who invites to them.
    case nil: return last.quantity > 1 ? nil : .noSeats
    }
  }

  /// The seats of the newest period.
  package var current: Int64 { transactions.last.map(count) ?? 0 }

  /// The seats of the period that `transaction` is about, less those that were refunded. Several
  /// transactions stand for one period if seats were added to it; each says how many it covers.
  func count(_ transaction: TransactionFact) -> Int64 {
    transactions.lazy.filter { $0.expiresDate == transaction.expiresDate && $0.accessRevokedAt == nil }
      .reduce(0) { $0 + max(0, $1.quantity - ($1.revokedSeatQuantity ?? 0)) }
  }
}
