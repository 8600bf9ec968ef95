internal import AppStore
internal import Entitlements

/// Parts of amounts, in thousandths of a percent.
enum Share {
  /// 100 %.
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
  /// By group, each time without a reset: when the paid service reached the days of each ``PaidDays``, and the last instant.
  let bands: [String: [(starts: [Instant], reset: Instant)]]
  private let smallBusinessProgram: [Range<Instant>]
  /// The spans of all groups; mostly there are none, and no group is looked up for each charge.
  private let years: [(group: String, reached: Instant, reset: Instant)]

  init(
    _ facts: borrowing CustomerFacts, _ transactions: [ReportedTransaction],
    smallBusinessProgram: [Range<Instant>]
  ) {
    self.smallBusinessProgram = smallBusinessProgram
    var indices: [String: [Int]] = [:]
    // The transactions of a group mostly follow each other.
    var (group, ofGroup) = ("", [Int]())
    for index in transactions.indices where !transactions[index].isShared {
      if transactions[index].dimensions.group != group {
        if !group.isEmpty { indices[group, default: []] += ofGroup }
        (group, ofGroup) = (transactions[index].dimensions.group, [])
      }
      ofGroup.append(index)
    }
    if !group.isEmpty { indices[group, default: []] += ofGroup }
    bands = indices.mapValues { Self.bands(PaidService.periods($0, facts)) }
    spans = bands.mapValues { bands in
      bands.compactMap { band in
        band.starts.count == PaidDays.allCases.count ? band.starts.last.map { ($0, band.reset) } : nil
      }
    }
    years = spans.flatMap { name, spans in
      spans.map { (group: name, reached: $0.reached, reset: $0.reset) }
    }
  }

  /// Whether a charge for `group` at `instant` is after one year of paid service.
  func isPast(_ group: String, at instant: Instant) -> Bool {
    years.contains { $0.reached <= instant && instant <= $0.reset && $0.group == group }
  }

  /// The operator's share of a charge for `group` at `instant`.
  func share(of group: String, at instant: Instant) -> Int64 {
    let isReduced = isPast(group, at: instant) || smallBusinessProgram.contains { $0.contains(instant) }
    return isReduced ? Share.reduced : Share.standard
  }

  /// The paid time with which each of ``PaidDays`` begins, in milliseconds.
  private static let thresholds = PaidDays.allCases.map { $0.first * ReportDay.length }

  /// The runs of paid service without a pause that is too long, each with the instants at which it reaches
  /// the thresholds of ``PaidDays``, and the instant from which the count begins again.
  private static func bands(_ periods: [PaidService.Period]) -> [(starts: [Instant], reset: Instant)] {
    var bands: [(starts: [Instant], reset: Instant)] = []
    var (total, starts) = (Int64(0), [Instant]())
    var coveredUntil: Instant?
    func finish() {
      guard !starts.isEmpty, let coveredUntil else { return }
      bands.append((starts, coveredUntil.advanced(byMilliseconds: PaidService.maxPause)))
    }
    for period in periods {
      if let end = coveredUntil, period.start.milliseconds(since: end) > PaidService.maxPause {
        finish()
        (total, starts) = (0, [])
      }
      let from = max(period.start, coveredUntil ?? period.start)
      let paid = period.isPaid ? max(0, period.end.milliseconds(since: from)) : 0
      while paid > 0, starts.count < Self.thresholds.count, total + paid >= Self.thresholds[starts.count] {
        starts.append(from.advanced(byMilliseconds: Self.thresholds[starts.count] - total))
      }
      total += paid
      coveredUntil = max(period.end, coveredUntil ?? period.end)
    }
    finish()
    return bands
  }
}
