internal import AppStore
internal import Bytes
internal import Callers
internal import SignedData

/// Tokens that bind a form to the person who got it and to what it showed. The key is in memory, so a restart
/// invalidates them.
struct FormTokens: Sendable {
  /// In milliseconds.
  private static let lifetime: Int64 = 10 * 60_000

  private let key = (0..<32).map { _ in UInt8.random(in: .min ... .max) }

  /// A token for `person` and the texts of `binding`, valid for ten minutes from `now`.
  func token(for person: Person, _ binding: [String], at now: Instant) -> String {
    self.token(person, binding, now.advanced(byMilliseconds: Self.lifetime).millisecondsSince1970)
  }

  /// Whether `token` was made for the same person and texts, and is still valid.
  func accepts(_ token: String?, for person: Person, _ binding: [String], at now: Instant) -> Bool {
    guard let token, let expiry = Int64(token.prefix { $0 != "." }), now.millisecondsSince1970 < expiry else {
      return false
    }
    // The whole token: a form is performed once for each, and an expiry in other digits would make it another one.
    return constantTimeEquals(Array(self.token(person, binding, expiry).utf8), Array(token.utf8))
  }

  /// Each text is preceded by its length, so that no other texts have the same token.
  private func token(_ person: Person, _ binding: [String], _ expiry: Int64) -> String {
    let texts = ([person.caller.name, person.name, String(expiry)] + binding).map { "\($0.utf8.count):\($0)" }
    return "\(expiry).\(Hex.encode(HMACSHA256.code(of: Array(texts.joined().utf8), key: key)))"
  }
}
