package import HTTP
internal import Synchronization

/// Limits what the peers of each network may send: rejected notifications, requests of devices, receipts, invalid tokens.
///
/// Of notifications, only those that do not verify count, so Apple's never reach the limit, even if strangers post
/// through the same proxy, whose address then stands for all of them.
package final class AddressLimiter: Sendable {
  /// The default: posts per second of one address.
  package static let postsPerSecond: Int64 = 10
  /// The number of networks with a bucket of their own.
  private static let maxNetworks = 4096

  private let limit: RateLimit
  private let ticks: @Sendable () -> Int64
  private let buckets = Mutex<[PeerNetwork: TokenBucket]>([:])

  /// Creates a limiter of `perSecond` posts, at least 1; those of `burstSeconds` may arrive at once. `ticks` returns
  /// nanoseconds of a monotonic clock.
  package init(
    perSecond: Int64 = postsPerSecond, burstSeconds: Int64 = 60, ticks: @escaping @Sendable () -> Int64
  ) {
    limit = RateLimit(perSecond: perSecond, burst: burstSeconds * perSecond)
    self.ticks = ticks
  }

  /// A limiter of invalid signed tokens: a fiftieth of a processor core for each network, or a tenth of a second of one at
  /// once.
  package static func ofInvalidTokens(ticks: @escaping @Sendable () -> Int64) -> AddressLimiter {
    AddressLimiter(perSecond: 200, burstSeconds: 5, ticks: ticks)
  }

  /// Counts a post.
  ///
  /// - Returns: `nil` if it is within the limit; otherwise the milliseconds until another one may.
  package func delay(of address: String) -> Int64? { delay(of: PeerNetwork(address: address)) }

  /// Counts a post of a network; the result is that for an address.
  @discardableResult
  package func delay(of network: PeerNetwork) -> Int64? {
    let bucket = buckets.withLock { buckets in
      if let bucket = buckets[network] { return bucket }
      // A sender with this many addresses is bounded by the daily limit of the store only.
      if buckets.count >= Self.maxNetworks { buckets.removeAll(keepingCapacity: true) }
      let bucket = TokenBucket(limit)
      buckets[network] = bucket
      return bucket
    }
    return bucket.take(at: ticks()).map(Self.milliseconds)
  }

  /// The milliseconds until a network is within the limit again; `nil` if it is. Counts nothing.
  package func remainingDelay(of network: PeerNetwork) -> Int64? {
    buckets.withLock { $0[network] }?.delay(at: ticks()).map(Self.milliseconds)
  }

  private static func milliseconds(_ nanoseconds: Int64) -> Int64 { nanoseconds / 1_000_000 + 1 }
}
