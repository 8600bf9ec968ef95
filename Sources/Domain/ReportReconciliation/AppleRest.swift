internal import AppStoreReports

/// The items that Apple counts beyond ours.
struct AppleRest {
  /// What a bucket and its explanation have in common.
  private struct Place: Hashable {
    let report: AppStoreReport
    let day: CalendarDay
    let productID: String
    let country: String

    init(_ bucket: ReconciliationBucket) {
      (report, day) = (bucket.report, bucket.day)
      (productID, country) = (bucket.productID, bucket.country)
    }
  }

  private var counts: [Place: [ReconciliationBucket: Int64]] = [:]

  /// The buckets with items, in no order.
  var buckets: some Sequence<ReconciliationBucket> { counts.values.lazy.flatMap(\.keys) }

  /// The number of items in a bucket.
  subscript(bucket: ReconciliationBucket) -> Int64 { counts[Place(bucket)]?[bucket] ?? 0 }

  /// The buckets with items about the same product on the same day, whatever the event, the offer and the price, in no
  /// order.
  func buckets(like bucket: ReconciliationBucket) -> some Sequence<ReconciliationBucket> {
    (counts[Place(bucket)] ?? [:]).keys
  }

  mutating func add(_ count: Int64, to bucket: ReconciliationBucket) {
    guard count > 0 else { return }
    counts[Place(bucket), default: [:]][bucket, default: 0] += count
  }

  mutating func take(_ count: Int64, from bucket: ReconciliationBucket) {
    let rest = self[bucket] - count
    counts[Place(bucket)]?[bucket] = rest > 0 ? rest : nil
  }
}
