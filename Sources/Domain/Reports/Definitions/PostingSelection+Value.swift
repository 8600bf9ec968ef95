extension PostingSelection {
  /// Returns the amount that a posting adds; `nil` if it is none of the selected ones. What was known when is not compared.
  package func value(of posting: Posting) -> Int64? {
    guard let sign = signs[posting.kind], hasMark(posting), isInTime(posting), hasDimensions(posting) else {
      return nil
    }
    if let reasons, !reasons.contains(posting.reason) { return nil }
    if let currency, posting.currency != currency { return nil }
    return sign < 0 ? 0 &- measured(posting) : measured(posting)
  }

  private func measured(_ posting: Posting) -> Int64 {
    switch measure {
    case .count: posting.count
    case .amount: posting.amount
    case .proceeds: posting.proceeds
    case .sign: posting.count.signum()
    }
  }

  private func hasMark(_ posting: Posting) -> Bool {
    guard let mark else { return true }
    return posting.marks >> mark & 1 == 1
  }

  /// Whether a posting is of the days of the selection: by its own day, or by the day of its cohort.
  private func isInTime(_ posting: Posting) -> Bool {
    let day = ReportDay(posting.effectiveAt)
    guard isOfCohort else {
      if let reachedPeriod {
        let due = CohortLength(posting.reason).day(ofPeriod: reachedPeriod, from: day)
        guard let due, due < until else { return false }
      }
      return day < to && (from.map { $0 <= day } ?? true)
    }
    guard let cohort = posting.cohort, cohort.day < to, from.map({ $0 <= cohort.day }) ?? true,
      day < until
    else { return false }
    return ages?.contains(cohort.age) ?? true
  }

  /// Whether a posting has the dimensions that the selection allows.
  private func hasDimensions(_ posting: Posting) -> Bool {
    let places = isOfCohort ? posting.cohort?.dimensions : posting.dimensions
    guard let places else { return false }
    return dimensions.allSatisfy { dimension, allowed in
      guard !allowed.isEmpty else { return true }
      return switch dimension {
      case .product: allowed.contains(places.productID)
      case .group: allowed.contains(places.group)
      case .storefront: allowed.contains(places.storefront)
      case .offerKind: allowed.contains(places.offerKind)
      case .reason: allowed.contains(posting.reason)
      // A length selects its products.
      case .duration: true
      }
    }
  }
}
