internal import AppStore
internal import Entitlements

/// Parts of amounts, in thousandths of a percent.
enum Share {
  static let whole: Int64 = 100_000
  /// Apple's commission is 30 %, and 15 % of charges after one year of paid service in the group and in the Small
  /// Business Program.
  static let standard: Int64 = 70_000
  static let reduced: Int64 = 85_000

  /// Returns a part of `amount`, rounded to a thousandth, half to even; the whole amount on overflow.
  static func part(_ share: Int64, of amount: Int64) -> Int64 {
    quotient(of: amount, times: min(max(0, share), whole), by: whole)
  }

  /// Returns `amount * factor / divisor`, rounded half to even; `amount` on overflow.
  static func quotient(of amount: Int64, times factor: Int64, by divisor: Int64) -> Int64 {
    let (high, low) = amount.magnitude.multipliedFullWidth(by: factor.magnitude)
    guard divisor > 0, high < divisor.magnitude else { return amount }
    let (quotient, remainder) = divisor.magnitude.dividingFullWidth((high, low))
    let rest = divisor.magnitude - remainder
    let isUp = remainder > rest || (remainder == rest && quotient % 2 == 1)
    guard let rounded = Int64(exactly: quotient + (isUp ? 1 : 0)) else { return amount }
    return (amount < 0) != (factor < 0) ? -rounded : rounded
  }
}

/// The times in which a payer has paid for each subscription group for one year.
///
/// The rules are those of ``PaidService``.
struct PaidYears {
  /// The spans by group; each end is the last instant of its span.
  let spans: [String: [(reached: Instant, reset: Instant)]]
  private let smallBusinessProgram: [Range<Instant>]

  init(
    _ facts: borrowing CustomerFacts, _ groups: borrowing SubscriptionGroups,
    smallBusinessProgram: [Range<Instant>]
  ) {
    self.smallBusinessProgram = smallBusinessProgram
    var indices: [String: [Int]] = [:]
    for index in facts.transactions.indices where !facts.transactions[index].isShared {
      guard let group = groups.group(of: facts.transactions[index]) else { continue }
      indices[group, default: []].append(index)
    }
    var spans: [String: [(reached: Instant, reset: Instant)]] = [:]
    for (group, indices) in indices { spans[group] = Self.spans(PaidService.periods(indices, facts)) }
    self.spans = spans
  }

  /// Whether a charge for `group` at `instant` is after one year of paid service.
  func isPast(_ group: String, at instant: Instant) -> Bool {
    spans[group]?.contains { $0.reached <= instant && instant <= $0.reset } ?? false
  }

  /// The operator's share of a charge for `group` at `instant`.
  func share(of group: String, at instant: Instant) -> Int64 {
    let isReduced = isPast(group, at: instant) || smallBusinessProgram.contains { $0.contains(instant) }
    return isReduced ? Share.reduced : Share.standard
  }

  private static func spans(_ periods: [PaidService.Period]) -> [(reached: Instant, reset: Instant)] {
    var spans: [(reached: Instant, reset: Instant)] = []
    var (total, reached) = (Int64(0), Instant?.none)
    var coveredUntil: Instant?
    func finish() {
      guard let reached, let coveredUntil else { return }
      spans.append((reached, coveredUntil.advanced(byMilliseconds: PaidService.maxPause)))
    }
    for period in periods {
      if let end = coveredUntil, period.start.milliseconds(since: end) > PaidService.maxPause {
        finish()
        (total, reached) = (0, nil)
      }
      let from = max(period.start, coveredUntil ?? period.start)
      let paid = period.isPaid ? max(0, period.end.milliseconds(since: from)) : 0
      if reached == nil, total + paid >= PaidService.year {
        reached = from.advanced(byMilliseconds: PaidService.year - total)
      }
      total += paid
      coveredUntil = max(period.end, coveredUntil ?? period.end)
    }
    finish()
    return spans
  }
}
