internal import AppStore
internal import Entitlements

/// When a payer has paid for a subscription group for one year, and when that count is reset.
struct PaidServicePostings {
  private(set) var postings: [Posting] = []

  init(_ facts: borrowing CustomerFacts, _ history: borrowing PayerHistory) {
    for (group, spans) in history.paidYears.spans.sorted(by: { $0.key < $1.key }) {
      let periods = history.lines.flatMap { line, periods in
        periods.filter { $0.dimensions.group == group }.map { (line: line, period: $0) }
      }
      addBands(history.paidYears.bands[group] ?? [], periods)
      for span in spans {
        guard let at = periods.last(where: { $0.period.start < span.reached }) else { continue }
        let year = Posting(
          .yearReached, at: span.reached, line: at.line, transactionID: at.period.transactionID,
          at.period.dimensions
        ).with { $0.count = 1 }
        // The reset is the first instant at which the year no longer counts.
        let reset = span.reset.advanced(byMilliseconds: 1)
        postings.append(year)
        postings.append(year.with { $0.kind = .pastOneYear })
        postings.append(year.with { ($0.kind, $0.effectiveAt) = (.yearReset, reset) })
        postings.append(year.with { ($0.kind, $0.effectiveAt, $0.count) = (.pastOneYear, reset, -1) })
        let charged = periods.first {
          span.reached <= $0.period.start && $0.period.start <= span.reset && $0.period.price > 0
        }
        guard let charged else { continue }
        postings.append(
          Posting(
            .firstChargeAfterYear, at: charged.period.start, line: charged.line,
            transactionID: charged.period.transactionID, charged.period.dimensions
          ).with { $0.count = 1 })
      }
    }
  }

  /// Counts the payer in one band from the first paid day until the paid service is reset.
  private mutating func addBands(
    _ bands: [(starts: [Instant], reset: Instant)], _ periods: [(line: String, period: SubscriptionPeriod)]
  ) {
    for band in bands {
      for (number, start) in band.starts.enumerated() {
        guard let at = periods.last(where: { $0.period.start <= start }) else { continue }
        let end =
          number + 1 < band.starts.count
          ? band.starts[number + 1] : band.reset.advanced(byMilliseconds: 1)
        let entered = Posting(
          .paidDays, at: start, line: at.line, transactionID: at.period.transactionID, at.period.dimensions
        ).with { ($0.count, $0.reason) = (1, PaidDays.allCases[number].rawValue) }
        postings.append(entered)
        postings.append(entered.with { ($0.effectiveAt, $0.count) = (end, -1) })
      }
    }
  }
}
