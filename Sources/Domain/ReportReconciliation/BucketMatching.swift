internal import AppStore
internal import AppStoreReports
internal import Reports

/// Matches Apple's buckets with ours, and explains what is left over.
struct BucketMatching {
  var days: [DayKey: DayReconciliation] = [:]
  let zone: ReportZone
  let own: OwnItems
  /// The items that Apple counts beyond ours.
  var appleRest = AppleRest()
  /// The items that we count beyond Apple's, newest first to be taken.
  var ownRest: [ReconciliationBucket: [Candidate]] = [:]
  /// The buckets of ``ownRest``, in order.
  private(set) var ownBuckets: [ReconciliationBucket] = []
  private var ownTotals: [ReconciliationBucket: Int64] = [:]
  private let apple: [ReconciliationBucket: (quantity: Int64, rows: [String])]

  /// One report of one day.
  struct DayKey: Hashable {
    let report: AppStoreReport
    let day: CalendarDay
  }

  init(
    _ items: [ReportedItem], _ own: OwnItems, _ days: [AppStoreReport: Set<CalendarDay>], _ zone: ReportZone
  ) {
    self.own = own
    self.zone = zone
    var apple: [ReconciliationBucket: (quantity: Int64, rows: [String])] = [:]
    for item in items {
      apple[item.bucket, default: (0, [])].quantity += item.quantity
      apple[item.bucket]?.rows.append("\(item.file):\(item.line)")
    }
    self.apple = apple
    for (report, all) in days {
      for day in all {
        self.days[DayKey(report: report, day: day)] = DayReconciliation(report: report, day: day)
      }
    }
    match()
    ownBuckets = ownRest.keys.sorted()
    explain()
    listUnexplained()
  }

  // MARK: Matching

  /// Sets off the units of each bucket against each other; those of one side that are left over are
  /// explained afterwards.
  private mutating func match() {
    let buckets = Set(apple.keys).union(own.quantities.keys)
    for bucket in buckets.sorted() {
      let (ours, theirs) = (own.quantities[bucket] ?? 0, apple[bucket]?.quantity ?? 0)
      ownTotals[bucket] = ours
      if bucket.isRecurring {
        compareRecurring(bucket, theirs, ours)
        continue
      }
      days[bucket.dayKey]?.matched += max(0, min(theirs, ours))
      if theirs > ours { appleRest.add(theirs - max(0, ours), to: bucket) }
      if ours > theirs { ownRest[bucket] = rest(of: bucket, Int(ours - max(0, theirs))) }
    }
  }

  /// Candidates for postings that Apple does not count. Equal ones cannot be told apart.
  private func rest(of bucket: ReconciliationBucket, _ count: Int) -> [Candidate] {
    let all = (own.candidates[bucket] ?? []).sorted { ($0.at, $0.transactionID) > ($1.at, $1.transactionID) }
    let unknown = Candidate(
      transactionID: "", at: zone.start(of: bucket.day), knownAt: zone.start(of: bucket.day), reason: "")
    return Array(all.prefix(count)) + Array(repeating: unknown, count: max(0, count - all.count))
  }

  /// Recurring revenue is compared as an amount: half a hundredth for each price of the year is rounding.
  private mutating func compareRecurring(_ bucket: ReconciliationBucket, _ theirs: Int64, _ ours: Int64) {
    let count = bucket.with {
      $0.subject = .stock(SubscriptionColumn.standard.rawValue)
      $0.currency = ""
    }
    // A difference of the counts is a finding already.
    guard own.quantities[count] ?? 0 == apple[count]?.quantity ?? 0 else { return }
    let rounding: Int64 = 5 * 52
    let tolerance = rounding * min(max(1, apple[count]?.quantity ?? 1), .max / rounding)
    guard abs(theirs - ours) > tolerance else { return }
    if theirs > ours {
      appleRest.add(theirs - ours, to: bucket)
    } else {
      ownRest[bucket] = rest(of: bucket, 1)
    }
  }

  // MARK: Findings

  private static let maxListed = 100

  /// Lists the buckets with items that are left over.
  private mutating func listUnexplained() {
    for bucket in appleRest.buckets { add(.neverSeen, bucket) }
    for (bucket, rest) in ownRest where !rest.isEmpty { add(.notPaid, bucket) }
  }

  /// Notes a bucket that no cause explains, with some of its rows and transactions.
  private mutating func add(_ kind: ReconciliationFinding.Kind, _ bucket: ReconciliationBucket) {
    var finding = ReconciliationFinding(
      kind: kind, bucket: bucket, appleQuantity: apple[bucket]?.quantity ?? 0,
      ourQuantity: ownTotals[bucket] ?? 0)
    let candidates = Set((own.candidates[bucket] ?? []).map(\.transactionID)).sorted()
    finding.candidates = Array(candidates.prefix(Self.maxListed))
    finding.rows = Array((apple[bucket]?.rows ?? []).prefix(Self.maxListed))
    days[bucket.dayKey]?.unexplained.append(finding)
  }
}

extension ReconciliationBucket {
  var dayKey: BucketMatching.DayKey { BucketMatching.DayKey(report: report, day: day) }

  fileprivate var isRecurring: Bool { subject == .stock(recurringRevenue) }
}
