internal import AppStore
internal import Entitlements

/// When a payer has paid for a subscription group for one year, and when that count is reset.
struct PaidServicePostings {
  private(set) var postings: [Posting] = []

  init(_ facts: borrowing CustomerFacts, _ history: borrowing PayerHistory) {
    for (group, spans) in history.paidYears.spans.sorted(by: { $0.key < $1.key }) {
      let starts = Self.starts(ofGroup: group, history)
      addBands(history.paidYears.bands[group] ?? [], starts, history)
      for span in spans {
        guard let at = starts.last(where: { $0.instant < span.reached }) else { continue }
        let year = Self.posting(.yearReached, at: span.reached, of: at, history)
        // The reset is the first instant at which the year no longer counts.
        let reset = span.reset.advanced(byMilliseconds: 1)
        postings.append(year)
        postings.append(year.with { $0.kind = .pastOneYear })
        postings.append(year.with { ($0.kind, $0.effectiveAt) = (.yearReset, reset) })
        postings.append(year.with { ($0.kind, $0.effectiveAt, $0.count) = (.pastOneYear, reset, -1) })
        let charged = starts.first {
          span.reached <= $0.instant && $0.instant <= span.reset
            && history.lines[$0.line].periods[$0.period].price > 0
        }
        guard let charged else { continue }
        postings.append(Self.posting(.firstChargeAfterYear, at: charged.instant, of: charged, history))
      }
    }
  }

  /// The start of a period, by its place in ``PayerHistory/lines``.
  private struct Start {
    let instant: Instant
    let line: Int
    let period: Int
  }

  /// The starts of the periods of a group, line by line.
  private static func starts(ofGroup group: String, _ history: borrowing PayerHistory) -> [Start] {
    var starts: [Start] = []
    for line in history.lines.indices {
      for index in history.lines[line].periods.indices
      where history.lines[line].periods[index].dimensions.group == group {
        let start = history.lines[line].periods[index].start
        starts.append(Start(instant: start, line: line, period: index))
      }
    }
    return starts
  }

  /// A posting that counts one subscription, with the dimensions of the period at whose start it is.
  private static func posting(
    _ kind: Posting.Kind, at instant: Instant, of start: Start, _ history: borrowing PayerHistory
  ) -> Posting {
    let period = history.lines[start.line].periods[start.period]
    return Posting(
      kind, at: instant, line: history.lines[start.line].line, transactionID: period.transactionID,
      period.dimensions
    ).with { $0.count = 1 }
  }

  /// Counts the payer in one band from the first paid day until the paid service is reset.
  private mutating func addBands(
    _ bands: [(starts: [Instant], reset: Instant)], _ starts: [Start], _ history: borrowing PayerHistory
  ) {
    for band in bands {
      for (number, start) in band.starts.enumerated() {
        guard let at = starts.last(where: { $0.instant <= start }) else { continue }
        let end =
          number + 1 < band.starts.count
          ? band.starts[number + 1] : band.reset.advanced(byMilliseconds: 1)
        let entered = Self.posting(.paidDays, at: start, of: at, history).with {
          $0.reason = PaidDays.allCases[number].rawValue
        }
        postings.append(entered)
        postings.append(entered.with { ($0.effectiveAt, $0.count) = (end, -1) })
      }
    }
  }
}
