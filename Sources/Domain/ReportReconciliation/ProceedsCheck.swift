internal import AppStoreReports

/// Checks the proceeds of each row: the developer's share of the price, less taxes that are the same for a country.
struct ProceedsCheck {
  /// A country is taxed alike if this many rows agree, and two thirds of all.
  private static let minRows = 3

  /// The rows that Apple taxes and pays alike.
  struct Market: Hashable {
    let country: String
    let currency: String
    let isAfterOneYear: Bool
  }

  private(set) var explanations: [ReconciliationExplanation] = []
  private(set) var findings: [ReconciliationFinding] = []

  init(_ rows: [ReportedProceeds]) {
    let usual = Self.usualRatios(rows)
    for row in rows where !row.isShare(of: 1000) {
      if let ratio = usual[row.market], row.isShare(of: ratio) {
        explanations.append(
          ReconciliationExplanation(
            rule: ratio > 1000 ? .program : .tax, bucket: row.bucket, quantity: row.quantity))
      } else {
        var finding = ReconciliationFinding(
          kind: .proceeds, bucket: row.bucket, appleQuantity: row.quantity, ourQuantity: row.quantity)
        finding.proceeds = (row.proceeds, row.estimate)
        finding.rows = ["\(row.file):\(row.line)"]
        findings.append(finding)
      }
    }
  }

  /// Returns the usual ratio of each market: the part of the share, in thousandths, that most of its rows have.
  private static func usualRatios(_ rows: [ReportedProceeds]) -> [Market: Int64] {
    var ratios: [Market: [Int64: Int]] = [:]
    for row in rows where row.estimate > 0 { ratios[row.market, default: [:]][row.ratio, default: 0] += 1 }
    return ratios.compactMapValues { counts in
      let total = counts.values.reduce(0, +)
      guard let most = counts.max(by: { ($0.value, $0.key) < ($1.value, $1.key) }),
        most.value >= minRows, most.value * 3 >= total * 2
      else { return nil }
      return most.key
    }
  }
}

extension ReportedProceeds {
  /// 70 % of the price, or 85 % after one year of paid service.
  fileprivate var estimate: Int64 { price * (bucket.isAfterOneYear ? 85 : 70) / 100 }

  /// The proceeds as thousandths of the estimate, at most ten times the estimate: no programme pays more than the price.
  fileprivate var ratio: Int64 { min(10_000, (proceeds * 1000 + estimate / 2) / max(1, estimate)) }

  /// Whether the proceeds are that part of the estimate, in thousandths, except for rounding to a hundredth.
  fileprivate func isShare(of ratio: Int64) -> Bool {
    let expected = (estimate * ratio + 500) / 1000
    return abs(proceeds - expected) <= 10 + (ratio == 1000 ? 0 : estimate / 1000)
  }

  fileprivate var market: ProceedsCheck.Market {
    ProceedsCheck.Market(
      country: bucket.country, currency: bucket.currency, isAfterOneYear: bucket.isAfterOneYear)
  }
}
