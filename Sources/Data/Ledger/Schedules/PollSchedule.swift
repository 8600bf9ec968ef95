internal import AppStore
internal import Entitlements

/// When Apple is to be asked how a subscription stands, because it may have ended or gone on without anybody
/// telling (WWDC18-705, "status polling").
///
/// What Apple signed about the subscription's renewal, however it came, and each time that it was asked, answers
/// the questions of all moments before. So where notifications arrive, nothing is asked. A transaction alone answers
/// none of them, whenever it was signed: a device gets it signed anew at any time, and it says nothing of grace or
/// of a charge that failed.
struct PollSchedule {
  private static let minute: Int64 = 60_000
  private static let hour = 60 * minute
  private static let day = 24 * hour

  /// Milliseconds behind the end of a period at which it is asked whether the subscription was renewed:
  /// first soon, since a customer who paid wants in, then less and less often.
  private static let untold = [
    15 * minute, hour, 6 * hour, day, 3 * day, 7 * day, 16 * day, 30 * day, 60 * day + hour,
  ]
  /// The same where it is known that the charge failed. Apple tries for 60 days, and most of what it recovers
  /// it recovers in the first 16 (WWDC19-302).
  private static let inRetry = [
    day, 3 * day, 7 * day, 16 * day, 30 * day, 45 * day, 60 * day + hour,
  ]

  /// When to ask next; `nil` if nothing is open.
  ///
  /// `facts` are those of one line; `askedAt` says when Apple was last asked about it.
  static func next(_ facts: CustomerFacts, askedAt: Instant?) -> Instant? {
    let latest = facts.transactions.indices.last {
      facts.transactions[$0].type == .autoRenewableSubscription
    }
    guard let latest, let end = facts.transactions[latest].expiresDate else { return nil }
    let transaction = facts.transactions[latest]
    // What was refunded ended; that it is given back, or bought again, is no question of a moment.
    guard transaction.accessRevokedAt == nil else { return nil }
    let renewal = facts.renewals.first
    let heard = max(transaction.purchaseDate, renewal?.signedDate ?? .distantPast, askedAt ?? .distantPast)
    // What was signed before the period began is about the one before.
    let isOfThis = renewal.map { $0.signedDate >= transaction.purchaseDate } ?? false
    let moments = PollSchedule(
      transaction: transaction, renewal: isOfThis ? renewal : nil, end: end, heard: heard
    ).moments
    // An old purchase that is handed in late: what could have become of it then is decided long since.
    guard let last = moments.last, transaction.signedDate <= last else { return nil }
    return moments.first { $0 > heard }
  }

  private let transaction: TransactionFact
  /// What Apple said last of the end of the period; `nil` if nothing.
  private let renewal: RenewalFact?
  private let end: Instant
  private let heard: Instant

  /// The moments at which to ask, in order, heard of or not.
  private var moments: [Instant] {
    if transaction.isUpgraded {
      // What took its place is missing.
      return Self.untold.map { after(transaction.signedDate, $0) }
    }
    guard let renewal else { return momentBefore + Self.untold.map { after(end, $0) } }
    if renewal.isInBillingRetry || renewal.gracePeriodExpiresDate != nil {
      let endOfGrace = renewal.gracePeriodExpiresDate.map { [after($0, 15 * Self.minute)] } ?? []
      return (Self.inRetry.map { after(end, $0) } + endOfGrace).sorted()
    }
    guard renewal.signedDate < end || renewal.expirationIntent == nil else { return [] }
    return momentBefore + Self.untold.map { after(end, $0) }
  }

  /// Shortly before the end, if nothing was heard in the last day: Apple charges in these hours. Who turned
  /// renewal off is not asked about twice.
  private var momentBefore: [Instant] {
    guard after(heard, Self.day) < end, renewal?.autoRenewStatus != .off else { return [] }
    return [after(end, -30 * Self.minute)]
  }

  /// A moment so many milliseconds behind another one; closer where periods are shorter than a week, as they
  /// are in Apple's sandbox.
  private func after(_ moment: Instant, _ milliseconds: Int64) -> Instant {
    let week = 7 * Self.day
    let period = max(0, end.milliseconds(since: transaction.purchaseDate))
    guard period < week else { return moment.advanced(byMilliseconds: milliseconds) }
    return moment.advanced(byMilliseconds: milliseconds / 1_000 * period / (week / 1_000))
  }
}

extension Instant {
  /// Before everything that Apple signed.
  fileprivate static let distantPast = Instant(millisecondsSince1970: 0)
}
