internal import Callers
internal import Synchronization

/// Limits the posts of each address: rejected notifications, or requests of devices.
///
/// Of notifications, only those that do not verify count, so Apple's never reach the limit, even if strangers post
/// through the same proxy, whose address then stands for all of them.
package final class AddressLimiter: Sendable {
  /// The default: posts per second of one address.
  package static let postsPerSecond: Int64 = 10
  /// The number of addresses with a bucket of their own.
  private static let maxAddresses = 4096

  private let limit: RateLimit
  private let ticks: @Sendable () -> Int64
  private let buckets = Mutex<[String: TokenBucket]>([:])

  /// Creates a limiter of `perSecond` posts, at least 1; those of a minute may arrive at once. `ticks` returns
  /// nanoseconds of a monotonic clock.
  package init(perSecond: Int64 = postsPerSecond, ticks: @escaping @Sendable () -> Int64) {
    limit = RateLimit(perSecond: perSecond, burst: 60 * perSecond)
    self.ticks = ticks
  }

  /// Counts a post.
  ///
  /// - Returns: `nil` if it is within the limit; otherwise the milliseconds until another one may.
  package func delay(of address: String) -> Int64? {
    bucket(of: Self.group(address)).take(at: ticks()).map { $0 / 1_000_000 + 1 }
  }

  private func bucket(of address: String) -> TokenBucket {
    buckets.withLock { buckets in
      if let bucket = buckets[address] { return bucket }
      // A sender with this many addresses is bounded by the daily limit of the store only.
      if buckets.count >= Self.maxAddresses { buckets.removeAll(keepingCapacity: true) }
      let bucket = TokenBucket(limit)
      buckets[address] = bucket
      return bucket
    }
  }

  /// The network of an address: one subscriber usually has all IPv6 addresses of a /64 (RFC 6177).
  private static func group(_ address: String) -> String {
    guard address.contains(":"), !address.contains(".") else { return address }
    // The first four groups of the address; `::` stands for the missing ones.
    let halves = address.split(separator: "::", maxSplits: 1, omittingEmptySubsequences: false)
    let head = halves[0].split(separator: ":")
    guard halves.count == 2 else { return head.prefix(4).joined(separator: ":") }
    let tail = halves[1].split(separator: ":")
    let zeros = Array(repeating: Substring("0"), count: max(0, 8 - head.count - tail.count))
    return (head + zeros + tail).prefix(4).joined(separator: ":")
  }
}
