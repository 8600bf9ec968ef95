internal import AppStore
internal import AppStoreReports
internal import Reports

// The known causes of items that are left over.
extension BucketMatching {
  /// Explains the units that are left over by causes that are known, the most specific ones first, because
  /// an explained unit is not explained again.
  mutating func explain() {
    explainMoves(.timeZone) { zone, bucket, candidate in
      let other: ReportZone = zone == .pacific ? .utc : .pacific
      let day = other.day(of: candidate.at)
      return day == bucket.day ? [] : [day]
    }
    explainMoves(.gracePeriod) { zone, bucket, candidate in
      candidate.periodStart.map { zone.day(of: $0) }.map { $0 == bucket.day ? [] : [$0] } ?? []
    }
    explainMoves(.lateClose) { _, bucket, _ in (1...3).map { bucket.day.advanced(by: $0) } }
    explainMoves(.earlyRenewal) { zone, bucket, candidate in
      guard bucket.canBeEarly else { return [] }
      return [-1, 1].map { zone.day(of: candidate.at.advanced(byDays: $0)) }
        .filter { $0 != bucket.day }
    }
    explainNames()
    explainEarlierPeriods()
    explainPrograms()
    explainMoney()
    explainCredits()
    explainLateKnowledge()
  }

  /// Explains what Apple has on another day than we.
  private mutating func explainMoves(
    _ rule: ExplanationRule,
    _ days: (ReportZone, ReconciliationBucket, Candidate) -> [CalendarDay]
  ) {
    for bucket in ownRest.keys.sorted() where bucket.report != .subscription {
      for candidate in ownRest[bucket] ?? [] {
        let moved = days(zone, bucket, candidate).lazy.map { day in bucket.with { $0.day = day } }
        guard let target = moved.first(where: { appleRest[$0] ?? 0 > 0 }) else { continue }
        settle(target, bucket, candidate, rule)
      }
    }
  }

  /// Explains periods that Apple's event and ours name differently.
  private mutating func explainNames() {
    for bucket in ownRest.keys.sorted() {
      guard case .flow(let flow) = bucket.subject else { continue }
      for candidate in ownRest[bucket] ?? [] {
        let target = appleRest.keys.filter { other in
          guard case .flow(let name) = other.subject, appleRest[other] ?? 0 > 0 else { return false }
          return name.isSibling(of: flow) && other.isSame(as: bucket)
        }.min()
        if let target { settle(target, bucket, candidate, .eventName) }
      }
    }
  }

  /// Explains payments in the grace period for periods that start before the days of the comparison: their product and their
  /// country are known, and not their price.
  private mutating func explainEarlierPeriods() {
    for (bucket, candidate) in own.earlierPeriods {
      let target = appleRest.keys.filter { other in
        appleRest[other] ?? 0 > 0 && other.isSame(as: bucket)
          && (other.subject == bucket.subject || other.subject == .flow(.changed))
      }.min()
      if let target { settle(target, nil, candidate, .gracePeriod) }
    }
  }

  /// Explains charges with the higher share of a programme: Apple states no reason for it.
  private mutating func explainPrograms() {
    for bucket in ownRest.keys.sorted() where bucket.isAfterOneYear {
      let target = bucket.with { $0.isAfterOneYear = false }
      for candidate in ownRest[bucket] ?? [] where appleRest[target] ?? 0 > 0 {
        settle(target, bucket, candidate, .program)
      }
    }
  }

  /// Explains several pieces of one transaction, and parts of prices that Apple rounds.
  private mutating func explainMoney() {
    for bucket in ownRest.keys.sorted() where bucket.price != nil {
      for candidate in ownRest[bucket] ?? [] {
        let others = appleRest.keys.filter { appleRest[$0] ?? 0 > 0 && $0.isSaleLike(bucket) }.sorted()
        let price = bucket.price ?? 0
        if bucket.subject == .refund, !RefundReason.isFull(candidate.reason),
          let near = others.first(where: { abs(($0.price ?? 0) - price) <= 1 })
        {
          settle(near, bucket, candidate, .partialRefund)
        } else if let parts = Self.parts(of: price, others, appleRest) {
          for (part, count) in parts { take(part, count) }
          if let first = parts.first { settle(nil, bucket, candidate, .quantity, at: first.bucket) }
        }
      }
    }
  }

  /// The pieces that make up a price: of one price, or all that are left over.
  private static func parts(
    of price: Int64, _ others: [ReconciliationBucket], _ rest: [ReconciliationBucket: Int64]
  ) -> [(bucket: ReconciliationBucket, count: Int64)]? {
    for other in others {
      guard let piece = other.price, piece > 0, piece < price, let count = rest[other] else { continue }
      let needed = (price + piece / 2) / piece
      if needed <= count, abs(needed * piece - price) <= needed { return [(other, needed)] }
    }
    let sum = others.reduce(0) { $0 + ($1.price ?? 0) * (rest[$1] ?? 0) }
    let count = others.reduce(0) { $0 + (rest[$1] ?? 0) }
    guard count > 1, abs(sum - price) <= count else { return nil }
    return others.map { ($0, rest[$0] ?? 0) }
  }

  /// Explains refunds of Apple's that are near our estimate of the credit for an upgrade.
  private mutating func explainCredits() {
    for (bucket, candidate) in own.credits {
      let target = appleRest.keys.filter { other in
        guard appleRest[other] ?? 0 > 0, other.isSaleLike(bucket) else { return false }
        return abs((other.price ?? 0) - (bucket.price ?? 0)) <= (bucket.price ?? 0) / 4 + 1
      }.min()
      if let target { settle(target, nil, candidate, .upgradeCredit) }
    }
  }

  /// Explains what became known after Apple had made the report.
  private mutating func explainLateKnowledge() {
    for bucket in ownRest.keys.sorted() {
      let made = zone.start(of: bucket.day.advanced(by: 1)).advanced(byMilliseconds: 8 * 3_600_000)
      for candidate in ownRest[bucket] ?? [] where candidate.knownAt > made {
        settle(nil, bucket, candidate, .lateClose)
      }
    }
  }

  /// Takes one piece from both sides, or from one, and records why.
  private mutating func settle(
    _ target: ReconciliationBucket?, _ bucket: ReconciliationBucket?, _ candidate: Candidate,
    _ rule: ExplanationRule, at shown: ReconciliationBucket? = nil
  ) {
    if let target { take(target, 1) }
    if let bucket, let index = ownRest[bucket]?.firstIndex(of: candidate) {
      ownRest[bucket]?.remove(at: index)
    }
    guard let place = shown ?? target ?? bucket else { return }
    // The day of a report that is not compared shows it on the other side's day.
    let key = days[place.dayKey] == nil ? bucket?.dayKey ?? place.dayKey : place.dayKey
    let candidates = candidate.transactionID.isEmpty ? [] : [candidate.transactionID]
    days[key]?.explained.append(
      ReconciliationExplanation(rule: rule, bucket: place, quantity: 1, candidates: candidates))
  }

  private mutating func take(_ bucket: ReconciliationBucket, _ count: Int64) {
    appleRest[bucket, default: 0] -= count
  }
}

extension ReconciliationBucket {
  /// Whether it can be charged before the period.
  fileprivate var canBeEarly: Bool {
    switch subject {
    case .charge, .flow(.continued), .flow(.changed): true
    default: false
    }
  }

  /// Whether both are about one product on one day, whatever the event and the offer.
  fileprivate func isSame(as other: ReconciliationBucket) -> Bool {
    (report, day, productID, country) == (other.report, other.day, other.productID, other.country)
  }

  /// Whether both are charges, or both refunds, of one product on one day at the same rate, whatever the price.
  fileprivate func isSaleLike(_ other: ReconciliationBucket) -> Bool {
    isSame(as: other) && subject == other.subject && currency == other.currency
      && isAfterOneYear == other.isAfterOneYear
  }
}
