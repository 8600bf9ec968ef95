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
    let expiry = now.advanced(byMilliseconds: Self.lifetime).millisecondsSince1970
    return "\(expiry).\(tag(person, binding, expiry))"
  }

  /// Whether `token` was made for the same person and texts, and is still valid.
  func accepts(_ token: String?, for person: Person, _ binding: [String], at now: Instant) -> Bool {
    let parts = (token ?? "").split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let expiry = Int64(parts[0]), now.millisecondsSince1970 < expiry else {
      return false
    }
    return constantTimeEquals(Array(tag(person, binding, expiry).utf8), Array(parts[1].utf8))
  }

  /// Each text is preceded by its length, so that no other texts have the same tag.
  private func tag(_ person: Person, _ binding: [String], _ expiry: Int64) -> String {
    let texts = ([person.caller.name, person.name, String(expiry)] + binding).map { "\($0.utf8.count):\($0)" }
    return Hex.encode(HMACSHA256.code(of: Array(texts.joined().utf8), key: key))
  }
}
