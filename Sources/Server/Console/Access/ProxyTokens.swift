internal import AppStore
internal import Callers
internal import HTTP
internal import Synchronization

/// Reads the signed tokens of the proxy, and limits the invalid ones of each network: verifying one takes a tenth of a
/// millisecond, and those who reach the console without the proxy can send any number.
///
/// Over the limit a token is verified only if it was valid before, so that people behind the same address are served.
final class ProxyTokens: Sendable {
  private let invalid: AddressLimiter
  private let valid = Mutex<Set<TokenHash>>([])

  /// The number of tokens that are known to have been valid.
  private static let maxValid = 1_024

  /// - Parameter invalid: counts the invalid tokens of each network.
  init(invalid: AddressLimiter) { self.invalid = invalid }

  /// The person of the signed token in the field `name` of a request.
  func person(
    of request: HTTPRequest, _ name: String, _ policy: CallerPolicy, at now: () -> Instant
  ) throws(CallerError) -> Person {
    let token = try Person.signedToken(in: request.headers, name)
    let (hash, network) = (TokenHash(of: token.utf8), PeerNetwork(address: request.address))
    if let wait = invalid.remainingDelay(of: network), !valid.withLock({ $0.contains(hash) }) {
      throw .tooManyBadTokens(retryAfterMilliseconds: wait)
    }
    do throws(CallerError) {
      let person = try Person(signedToken: token, policy, at: now)
      remember(hash)
      return person
    } catch {
      if case .badToken = error { invalid.delay(of: network) }
      throw error
    }
  }

  private func remember(_ hash: TokenHash) {
    valid.withLock { valid in
      if valid.count >= Self.maxValid, !valid.contains(hash) { valid.removeAll() }
      valid.insert(hash)
    }
  }
}
