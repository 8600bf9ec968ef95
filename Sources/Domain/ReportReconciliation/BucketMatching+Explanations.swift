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
    for bucket in ownBuckets where bucket.report != .subscription {
      explainEach(of: bucket) { matching, candidate in
        let moved = days(matching.zone, bucket, candidate).lazy.map { day in bucket.with { $0.day = day } }
        guard let target = moved.first(where: { matching.appleRest[$0] > 0 }) else { return false }
        matching.settle(target, bucket, candidate, rule)
        return true
      }
    }
  }

  /// Explains periods that Apple's event and ours name differently.
  private mutating func explainNames() {
    for bucket in ownBuckets {
      guard case .flow(let flow) = bucket.subject else { continue }
      explainEach(of: bucket) { matching, candidate in
        let target = matching.appleRest.buckets(like: bucket).filter { other in
          guard case .flow(let name) = other.subject else { return false }
          return name.isSibling(of: flow)
        }.min()
        guard let target else { return false }
        matching.settle(target, bucket, candidate, .eventName)
        return true
      }
    }
  }

  /// Explains payments in the grace period for periods that start before the days of the comparison: their product and their
  /// country are known, and not their price.
  private mutating func explainEarlierPeriods() {
    for (bucket, candidate) in own.earlierPeriods {
      let target = appleRest.buckets(like: bucket).filter { other in
        other.subject == bucket.subject || other.subject == .flow(.changed)
      }.min()
      if let target { settle(target, nil, candidate, .gracePeriod) }
    }
  }

  /// Explains charges with the higher share of a programme: Apple states no reason for it.
  private mutating func explainPrograms() {
    for bucket in ownBuckets where bucket.isAfterOneYear {
      let target = bucket.with { $0.isAfterOneYear = false }
      explainEach(of: bucket) { matching, candidate in
        guard matching.appleRest[target] > 0 else { return false }
        matching.settle(target, bucket, candidate, .program)
        return true
      }
    }
  }

  /// Explains several pieces of one transaction, and parts of prices that Apple rounds.
  private mutating func explainMoney() {
    for bucket in ownBuckets {
      guard let price = bucket.price else { continue }
      explainEach(of: bucket) { matching, candidate in
        let others = matching.appleRest.buckets(like: bucket).filter { $0.isSaleLike(bucket) }.sorted()
        if bucket.subject == .refund, !RefundReason.isFull(candidate.reason),
          let near = others.first(where: { abs(($0.price ?? 0) - price) <= 1 })
        {
          matching.settle(near, bucket, candidate, .partialRefund)
          return true
        }
        guard let parts = Self.parts(of: price, others, matching.appleRest), let first = parts.first else {
          return false
        }
        for (part, count) in parts { matching.appleRest.take(count, from: part) }
        matching.settle(nil, bucket, candidate, .quantity, at: first.bucket)
        return true
      }
    }
  }

  /// The pieces that make up a price: of one price, or all that are left over.
  private static func parts(
    of price: Int64, _ others: [ReconciliationBucket], _ rest: AppleRest
  ) -> [(bucket: ReconciliationBucket, count: Int64)]? {
    for other in others {
      guard let piece = other.price, piece > 0, piece < price else { continue }
      let needed = (price + piece / 2) / piece
      if needed <= rest[other], abs(needed * piece - price) <= needed { return [(other, needed)] }
    }
    let sum = others.reduce(0) { $0 + ($1.price ?? 0) * rest[$1] }
    let count = others.reduce(0) { $0 + rest[$1] }
    guard count > 1, abs(sum - price) <= count else { return nil }
    return others.map { ($0, rest[$0]) }
  }

  /// Explains refunds of Apple's that are near our estimate of the credit for an upgrade.
  private mutating func explainCredits() {
    for (bucket, candidate) in own.credits {
      let target = appleRest.buckets(like: bucket).filter { other in
        guard other.isSaleLike(bucket) else { return false }
        return abs((other.price ?? 0) - (bucket.price ?? 0)) <= (bucket.price ?? 0) / 4 + 1
      }.min()
      if let target { settle(target, nil, candidate, .upgradeCredit) }
    }
  }

  /// Explains what became known after Apple had made the report.
  private mutating func explainLateKnowledge() {
    for bucket in ownBuckets {
      let made = zone.start(of: bucket.day.advanced(by: 1)).advanced(byMilliseconds: 8 * 3_600_000)
      explainEach(of: bucket) { matching, candidate in
        guard candidate.knownAt > made else { return false }
        matching.settle(nil, bucket, candidate, .lateClose)
        return true
      }
    }
  }

  /// Calls `explain` for each of our items of a bucket that are left over, and takes those that it explains.
  private mutating func explainEach(
    of bucket: ReconciliationBucket, _ explain: (inout BucketMatching, Candidate) -> Bool
  ) {
    let rest = (ownRest[bucket] ?? []).filter { !explain(&self, $0) }
    ownRest[bucket] = rest
  }

  /// Takes one piece of Apple's, if there is one, and records why.
  private mutating func settle(
    _ target: ReconciliationBucket?, _ bucket: ReconciliationBucket?, _ candidate: Candidate,
    _ rule: ExplanationRule, at shown: ReconciliationBucket? = nil
  ) {
    if let target { appleRest.take(1, from: target) }
    guard let place = shown ?? target ?? bucket else { return }
    // The day of a report that is not compared shows it on the other side's day.
    let key = days[place.dayKey] == nil ? bucket?.dayKey ?? place.dayKey : place.dayKey
    let candidates = candidate.transactionID.isEmpty ? [] : [candidate.transactionID]
    days[key]?.explained.append(
      ReconciliationExplanation(rule: rule, bucket: place, quantity: 1, candidates: candidates))
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

  /// Whether both are charges, or both refunds, at the same rate, whatever the price.
  fileprivate func isSaleLike(_ other: ReconciliationBucket) -> Bool {
    subject == other.subject && currency == other.currency && isAfterOneYear == other.isAfterOneYear
  }
}
