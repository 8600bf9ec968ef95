internal import AppStore
internal import Bytes
internal import SignedData

/// Cookies that name the person who signed in with a one-time link. There is no store of sessions: a cookie is the name
/// and an expiry, authenticated with a key in memory, so that a restart signs all people out.
struct SessionCookies: Sendable {
  /// In milliseconds.
  private static let lifetime: Int64 = 12 * 3_600_000
  private static let maxNameBytes = 64

  private let key: [UInt8]
  /// Whether the listener has TLS; the name of the cookie then binds it to this host.
  private let isSecure: Bool

  /// Creates cookies with a new key; those of an earlier process are invalid.
  init(isSecure: Bool) {
    key = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
    self.isSecure = isSecure
  }

  /// The name under which a person signs in: as it was typed, without control characters, at most 64 bytes.
  static func name(_ text: String) -> String? {
    let name = String(
      String.UnicodeScalarView(text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F })
    )
    .split(separator: " ").joined(separator: " ")
    return name.isEmpty || name.utf8.count > maxNameBytes ? nil : name
  }

  /// The value of `set-cookie` for a person who signs in at `now`.
  func issue(to name: String, at now: Instant) -> String {
    let expiry = now.advanced(byMilliseconds: Self.lifetime).millisecondsSince1970
    let content = Base64.url.encode(Array("\(expiry) \(name)".utf8))
    return header("\(content).\(tag(content))", maxAge: Self.lifetime / 1_000)
  }

  /// The value of `set-cookie` that signs out.
  var removal: String { header("", maxAge: 0) }

  /// The person of a `cookie` field; `nil` if it has no valid cookie of this process.
  func name(in field: String?, at now: Instant) -> String? {
    let prefix = cookieName + "="
    let values = (field ?? "").split(separator: ";").map { $0.drop { $0 == " " } }
      .filter { $0.hasPrefix(prefix) }.map { $0.dropFirst(prefix.count) }
    for value in values {
      let parts = value.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, constantTimeEquals(Array(tag(parts[0]).utf8), Array(parts[1].utf8)),
        let bytes = Base64.url.decode(parts[0]), let text = String(validating: bytes, as: UTF8.self),
        let space = text.firstIndex(of: " "), let expiry = Int64(text[..<space]),
        now.millisecondsSince1970 < expiry
      else { continue }
      return String(text[text.index(after: space)...])
    }
    return nil
  }

  private var cookieName: String { isSecure ? "__Host-entitled" : "entitled-console" }

  private func header(_ value: String, maxAge: Int64) -> String {
    [cookieName, "=", value, "; Path=/; Max-Age=", String(maxAge), "; HttpOnly; SameSite=Strict"].joined()
      + (isSecure ? "; Secure" : "")
  }

  private func tag(_ content: String) -> String {
    Hex.encode(HMACSHA256.code(of: Array("console session \(content)".utf8), key: key))
  }
}
