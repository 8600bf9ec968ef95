internal import Markup
internal import Synchronization

/// Forms that were confirmed, so that a second click or a reload does not act again.
final class PerformedForms: Sendable {
  private static let limit = 10_000

  private let results = Mutex<[String: Link?]>([:])

  /// The decision about a confirmed form.
  enum Decision: Sendable {
    case perform
    /// Another request does it; `nil`: it has not finished.
    case done(Link?)
  }

  /// Reserves the form with this token.
  func begin(_ token: String) -> Decision {
    results.withLock { results in
      if let result = results[token] { return .done(result) }
      // Tokens live for ten minutes; the oldest are not distinguished.
      if results.count >= Self.limit { results.removeAll(keepingCapacity: true) }
      results[token] = .some(nil)
      return .perform
    }
  }

  /// The decision about the form with this token, without a reservation.
  func result(of token: String) -> Decision {
    results.withLock { results in
      if let result = results[token] { .done(result) } else { .perform }
    }
  }

  /// Keeps where the browser went after the action.
  func finish(_ token: String, _ link: Link) { results.withLock { $0[token] = .some(link) } }

  /// Allows another attempt after a failure.
  func abandon(_ token: String) { _ = results.withLock { $0.removeValue(forKey: token) } }
}
