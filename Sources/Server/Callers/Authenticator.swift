package import AppStore
internal import Bytes
package import HTTP

/// Authenticates callers and caches the result for each credential, so that a client with a thousand calls a
/// second is not looked up a thousand times.
///
/// An entry is discarded when another policy or other keys of the issuer take effect, and when its signed token
/// expires. Invalid signed tokens are limited for each network, because verifying one takes a tenth of a millisecond, and
/// anyone can make any number. Confined to one event loop.
package final class Authenticator {
  private struct Entry {
    let credential: [UInt8]
    let match: CallerDirectory.Match
  }

  /// The number of cache slots; two credentials in one slot evict each other, which costs a hash.
  private static let slots = 256

  private let callers: CurrentCallers
  private let now: @Sendable () -> Instant
  private let invalidTokens: AddressLimiter?
  private var policy: CallerPolicy
  private var generation: UInt64
  private var entries = [Entry?](repeating: nil, count: slots)

  /// Creates an authenticator.
  ///
  /// - Parameters:
  ///   - callers: the callers of the configuration.
  ///   - now: the clock against which signed tokens expire.
  ///   - invalidTokens: counts the invalid signed tokens of each network; `nil`: they are not limited.
  package init(
    _ callers: CurrentCallers, now: @escaping @Sendable () -> Instant, invalidTokens: AddressLimiter? = nil
  ) {
    self.callers = callers
    self.now = now
    self.invalidTokens = invalidTokens
    generation = callers.generation
    policy = callers.value
  }

  /// Returns the caller, by the `authorization` field or, without one, by the names of the client
  /// certificate. `network` is that of the client; `nil`: unknown, and its tokens are not limited.
  ///
  /// - Throws: ``CallerError``; its text never contains the token.
  package func caller(
    _ headers: HeaderFields, certificateNames: [String] = [], network: PeerNetwork? = nil
  ) throws(CallerError) -> Caller {
    if callers.generation != generation { reset() }
    guard case .listed(let directory) = policy else { return .anyone }
    var outcome: Result<Caller, CallerError> = .failure(.noCredential)
    headers.withAuthorization { field in
      guard let field else {
        outcome = Self.find(nil, certificateNames, directory, now).map(\.caller)
        return
      }
      outcome = caller(field, directory, network)
    }
    return try outcome.get()
  }

  private func caller(
    _ field: UnsafeRawBufferPointer, _ directory: CallerDirectory, _ network: PeerNetwork?
  ) -> Result<Caller, CallerError> {
    let slot = Self.slot(of: field)
    if let entry = entries[slot], entry.credential.withUnsafeBytes({ constantTimeEquals($0, field) }),
      entry.match.expiresAt.map({ now() < $0 }) ?? true
    {
      return .success(entry.match.caller)
    }
    if let network, directory.verifiesSignature(of: field),
      let wait = invalidTokens?.remainingDelay(of: network)
    {
      return .failure(.tooManyBadTokens(retryAfterMilliseconds: wait))
    }
    let match = Self.find(field, [], directory, now)
    switch match {
    case .success(let found): entries[slot] = Entry(credential: Array(field), match: found)
    case .failure(.badToken): if let network { invalidTokens?.delay(of: network) }
    case .failure: break
    }
    return match.map(\.caller)
  }

  private static func find(
    _ field: UnsafeRawBufferPointer?, _ names: [String], _ directory: CallerDirectory,
    _ now: () -> Instant
  ) -> Result<CallerDirectory.Match, CallerError> {
    do throws(CallerError) {
      return .success(try directory.find(authorization: field, certificateNames: names, at: now))
    } catch {
      return .failure(error)
    }
  }

  private func reset() {
    generation = callers.generation
    policy = callers.value
    entries = [Entry?](repeating: nil, count: Self.slots)
  }

  /// Returns the slot by the last bytes, which are random in every token: in a signed one, those of its
  /// signature.
  private static func slot(of field: UnsafeRawBufferPointer) -> Int {
    guard field.count >= 8 else { return 0 }
    let word = field.loadUnaligned(fromByteOffset: field.count - 8, as: UInt64.self)
    return Int((word &* 0x9E37_79B9_7F4A_7C15) >> 56)
  }
}
