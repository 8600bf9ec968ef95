package import AppStore
package import Entitlements

/// A claimed seat of a purchase. With Apple's `invitationManagement` `DEVELOPER` members have no
/// transactions, so this record alone shows who has access.
///
/// The customer is not part of it: seats are linked to customers like purchases. A member who releases a seat
/// and returns gets another claim.
package struct Seat: Hashable, Sendable {
  /// The id of the claim in this service, such as `seat-12`.
  package let seatID: String
  /// The `originalTransactionId` of the purchase.
  package let originalTransactionID: String
  /// Apple's `seatClaimId`; `nil` if the claim was not sent to Apple.
  package var seatClaimID: String?
  /// The idempotency key of the claim request.
  package let requestIdentifier: String
  /// When it was claimed.
  package let claimedAt: Instant
  /// When it was released or revoked; `nil` while it is held.
  package var releasedAt: Instant?

  package init(
    seatID: String, originalTransactionID: String, seatClaimID: String? = nil, requestIdentifier: String = "",
    claimedAt: Instant, releasedAt: Instant? = nil
  ) {
    self.seatID = seatID
    self.originalTransactionID = originalTransactionID
    self.seatClaimID = seatClaimID
    self.requestIdentifier = requestIdentifier
    self.claimedAt = claimedAt
    self.releasedAt = releasedAt
  }

  /// Whether the seat has not been released.
  package var isHeld: Bool { releasedAt == nil }

  /// Releases the seat, not before its claim; one that was released before stays as it was.
  package mutating func release(at instant: Instant) {
    guard isHeld else { return }
    releasedAt = max(instant, claimedAt)
  }

  /// Whether this claim is older than `other`: older claims win if there are too few seats.
  func precedes(_ other: Seat) -> Bool {
    (claimedAt, seatID.utf8.count, seatID) < (other.claimedAt, other.seatID.utf8.count, other.seatID)
  }
}

/// The number of seats of a purchase, period by period.
package struct SeatCapacity: Sendable {
  /// The reason why no seat of a purchase can be claimed.
  package enum Problem: Hashable, Sendable {
    /// The purchase is not a subscription with seats.
    case noSeats
    /// Apple invites the members, and each has a transaction.
    case invitedByApple
  }

  private let facts: CustomerFacts
  /// The transactions that count: not those that were withdrawn before their period started.
  private let indices: [Int]

  /// Reads the seats of the transactions of one line.
  package init(_ line: CustomerFacts) {
    let facts = line.withoutCopies
    self.facts = facts
    indices = facts.transactions.indices.filter { !facts.isWithdrawnBeforeStart($0) }
  }

  /// The reason for which no seat can be claimed; `nil` if seats can be claimed. The latest period decides.
  package var problem: Problem? {
    guard let last = indices.last.map({ facts.transactions[$0] }), last.type == .autoRenewableSubscription,
      !last.isShared
    else { return .noSeats }
    switch last.details.invitationManagement {
    case .apple: return .invitedByApple
    case .developer, .unrecognized: return nil
    // A subscription with a quantity has seats, even without `invitationManagement`.
    case nil: return last.quantity > 1 ? nil : .noSeats
    }
  }

  /// The seats whose facts a release can change: the released one, and the later claims that had to wait in a period,
  /// because it has fewer seats than there are claims before theirs.
  ///
  /// - `seats`: all claims of the purchase, including `released`.
  package func seats(affectedByReleaseOf released: Seat, among seats: [Seat]) -> [Seat] {
    let fewest: Int64 = indices.flatMap { steps(at: $0) }.map(\.count).filter { $0 > 0 }.min() ?? .max
    return seats.sorted { $0.precedes($1) }.enumerated()
      .filter { earlier, seat in
        seat.seatID == released.seatID || released.precedes(seat) && Int64(earlier) >= fewest
      }
      .map(\.element)
  }

  /// The seats of the latest period, as of all documents.
  package var current: Int64 { indices.last.flatMap { steps(at: $0).last?.count } ?? 0 }

  /// A number of seats from an instant on.
  struct Step {
    let start: Instant
    let count: Int64
  }

  /// The numbers of seats in the period at `index`, in order of time. Adding seats to a period makes a further transaction;
  /// each says how many seats it covers. A refund takes seats from its date or, if Apple sent none, from the first document
  /// that reports it.
  func steps(at index: Int) -> [Step] {
    let transactions = facts.period(at: index).map { facts.transactions[$0] }
    return Set(transactions.flatMap(\.seatChanges)).sorted().map { instant in
      let count = transactions.reduce(0) { (sum: Int64, transaction) in
        let (total, isTooLarge) = sum.addingReportingOverflow(transaction.seats(at: instant))
        return isTooLarge ? .max : total
      }
      return Step(start: instant, count: count)
    }
  }
}

extension TransactionFact {
  /// The instants at which the number of its seats changes.
  fileprivate var seatChanges: [Instant] {
    [purchaseDate] + refundsOfSeats.map(\.reportedAt) + [revocationDate].compactMap(\.self)
  }

  /// Its seats at an instant, less the refunded ones.
  fileprivate func seats(at instant: Instant) -> Int64 {
    guard purchaseDate <= instant, revocationDate.map({ instant < $0 }) ?? true else { return 0 }
    let refunded = refundsOfSeats.last { $0.reportedAt <= instant }?.quantity ?? 0
    // Documents of Xcode have any numbers.
    return quantity - min(max(0, refunded), quantity)
  }
}
