internal import AppStore
internal import JSON

/// Counters and the rate limit of the Server API and `verifyReceipt`. They are not persisted.
struct ServerAPITraffic: Sendable {
  /// The remaining calls of a token bucket in machine time, unlike the buckets of Callers and AppStoreClient.
  private struct Bucket: Sendable {
    var level: Double
    var updatedAt: Instant
  }

  /// The rate limit of each kind of call. It is a token bucket, unlike Apple's, which counts the calls of an hour: a
  /// test need not wait that long.
  struct Limit: Sendable {
    var perSecond: Double
    var burst: Double

    var json: JSONValue { ["perSecond": JSONValue(Int64(perSecond)), "burst": JSONValue(Int64(burst))] }
  }

  /// The counters of one kind of call.
  private struct Count: Sendable {
    var calls: Int64 = 0
    var limited: Int64 = 0
  }

  private(set) var limit: Limit?
  private var buckets: [String: Bucket] = [:]
  private var counts: [String: Count] = [:]

  /// Sets the rate limit per kind of call: `{"perSecond": 50, "burst": 500}`. 0 removes the limit. The
  /// default `burst` is ten seconds' worth of calls.
  mutating func set(_ parameters: Parameters) throws(ActionError) {
    try parameters.allow(only: ["perSecond", "burst"])
    let perSecond = try parameters.integer("perSecond", in: 0...1_000_000)
    let burst = try parameters.json["burst"].map { _ throws(ActionError) in
      try parameters.integer("burst", in: 1...10_000_000)
    }
    limit = perSecond > 0 ? Limit(perSecond: Double(perSecond), burst: Double(burst ?? 10 * perSecond)) : nil
    buckets = [:]
  }

  /// No calls, with a rate limit.
  init(limit: Limit? = nil) { self.limit = limit }

  /// Counts a call without a limit.
  mutating func count(_ kind: String) { counts[kind, default: Count()].calls += 1 }

  /// Counts a call. Returns `nil` if it is allowed, otherwise the milliseconds until the next one is.
  mutating func take(_ kind: String, at now: Instant) -> Int64? {
    count(kind)
    guard let limit else { return nil }
    var bucket = buckets[kind] ?? Bucket(level: limit.burst, updatedAt: now)
    let elapsed = Double(max(0, now.milliseconds(since: bucket.updatedAt))) / 1000
    bucket.level = min(limit.burst, bucket.level + elapsed * limit.perSecond)
    bucket.updatedAt = now
    defer { buckets[kind] = bucket }
    guard bucket.level < 1 else {
      bucket.level -= 1
      return nil
    }
    counts[kind]?.limited += 1
    return Int64(((1 - bucket.level) / limit.perSecond * 1000).rounded(.up))
  }

  /// The numbers of calls by kind.
  var views: [CallCountView] {
    counts.sorted { $0.key < $1.key }.map {
      CallCountView(kind: $0.key, calls: $0.value.calls, limited: $0.value.limited)
    }
  }

  /// The numbers of calls and of rate limited calls by kind.
  var json: JSONObject {
    JSONObject(
      counts.sorted { $0.key < $1.key }.map { kind, count in
        (kind, ["asked": JSONValue(count.calls), "limited": JSONValue(count.limited)])
      })
  }
}
