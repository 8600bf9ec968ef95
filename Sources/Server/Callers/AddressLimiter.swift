package import HTTP
internal import Synchronization

/// Limits what the peers of each network may send: rejected notifications, requests of devices, receipts, invalid tokens.
///
/// Of notifications, only those that do not verify count, so Apple's never reach the limit, even if other peers post
/// through the same proxy, whose address then stands for all of them.
package final class AddressLimiter: Sendable {
  /// The default: posts per second of one address.
  package static let postsPerSecond: Int64 = 10
  /// The number of networks that have a separate bucket.
  private static let maxNetworks = 4096
  /// The networks of an IPv6 site that may send at their limit at the same time.
  private static let networksOfSite: Int64 = 16

  private let limit: RateLimit
  private let siteLimit: RateLimit
  private let ticks: @Sendable () -> Int64
  private let buckets = Mutex<[PeerNetwork: TokenBucket]>([:])

  /// Creates a limiter of `perSecond` posts, at least 1; those of `burstSeconds` may arrive at once. `ticks` returns
  /// nanoseconds of a monotonic clock.
  package init(
    perSecond: Int64 = postsPerSecond, burstSeconds: Int64 = 60, ticks: @escaping @Sendable () -> Int64
  ) {
    limit = RateLimit(perSecond: perSecond, burst: burstSeconds * perSecond)
    siteLimit = RateLimit(
      perSecond: Self.networksOfSite * limit.perSecond, burst: Self.networksOfSite * limit.burst)
    self.ticks = ticks
  }

  /// A limiter of invalid signed tokens: a fiftieth of a processor core for each network, or a tenth of a second of one at
  /// once.
  package static func ofInvalidTokens(ticks: @escaping @Sendable () -> Int64) -> AddressLimiter {
    AddressLimiter(perSecond: 200, burstSeconds: 5, ticks: ticks)
  }

  /// Counts a post of an IP address in its usual text, as `cost` posts; addresses of one network (``PeerNetwork``) share a
  /// bucket. Any other text is the name of one sender.
  ///
  /// - Returns: `nil` if it is within the limit; otherwise the milliseconds until another one may.
  package func delay(of address: String, cost: Int64 = 1) -> Int64? {
    delay(of: PeerNetwork(address: address), cost: cost)
  }

  /// Counts a post of a network. It needs a token of the network's bucket and, for IPv6, one of the site's: otherwise
  /// the owner of a /48 could send from each of its 65,536 networks at the limit.
  ///
  /// - Returns: `nil` if it is within the limit; otherwise the milliseconds until another one may.
  @discardableResult
  package func delay(of network: PeerNetwork, cost: Int64 = 1) -> Int64? {
    let now = ticks()
    let (bucket, site) = buckets.withLock { buckets in
      (
        Self.bucket(of: network, limit, in: &buckets, at: now),
        network.site.map { Self.bucket(of: $0, siteLimit, in: &buckets, at: now) }
      )
    }
    if let wait = site?.delay(at: now) ?? bucket.take(at: now, cost: cost) { return Self.milliseconds(wait) }
    _ = site?.take(at: now, cost: cost)
    return nil
  }

  /// Returns the bucket of a network. When there are ``maxNetworks``, those that are full are discarded. If more than
  /// half are left, all are discarded: the memory stays bounded, and at worst a limit begins again.
  private static func bucket(
    of network: PeerNetwork, _ limit: RateLimit, in buckets: inout [PeerNetwork: TokenBucket], at now: Int64
  ) -> TokenBucket {
    if let bucket = buckets[network] { return bucket }
    if buckets.count >= maxNetworks {
      buckets = buckets.filter { !$0.value.isFull(at: now) }
      // A sender with this many networks is bounded by the limits of all connections only.
      if buckets.count > maxNetworks / 2 { buckets.removeAll(keepingCapacity: true) }
    }
    let bucket = TokenBucket(limit)
    buckets[network] = bucket
    return bucket
  }

  /// The milliseconds until a network is within the limit again; `nil` if it is. Takes no token: ``Authenticator``
  /// calls it before it verifies a signature, and counts only the tokens that turn out to be invalid.
  package func remainingDelay(of network: PeerNetwork) -> Int64? {
    let now = ticks()
    let (bucket, site) = buckets.withLock { buckets in
      (buckets[network], network.site.flatMap { buckets[$0] })
    }
    return (site?.delay(at: now) ?? bucket?.delay(at: now)).map(Self.milliseconds)
  }

  private static func milliseconds(_ nanoseconds: Int64) -> Int64 { nanoseconds / 1_000_000 + 1 }
}
