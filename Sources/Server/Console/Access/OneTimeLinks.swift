package import AppStore
internal import Bytes
internal import Markup
internal import Pages
internal import SignedData
internal import Synchronization

/// Codes that sign a person in once, for a console that only this machine can reach.
///
/// A code is an expiry and a nonce, authenticated with a key of the installation: a person who can read the files of the
/// service can make one, also while the service runs. The used codes are in memory, so those of before its start are
/// rejected.
package final class OneTimeLinks: Sendable {
  /// The path of the page that a link opens.
  package static let path = "/session/once"

  private static let lifetime: Int64 = 15 * 60_000
  private static let maxUsed = 10_000

  private let key: [UInt8]
  private let start: Instant
  private let used = Mutex<[String: Instant]>([:])

  /// - Parameters:
  ///   - key: a secret of the installation.
  ///   - start: the time from which on codes are valid.
  package init(key: [UInt8], start: Instant) {
    self.key = key
    self.start = start
  }

  /// A new code, valid for 15 minutes from `now`.
  package func makeCode(at now: Instant) -> String {
    let expiry = now.advanced(byMilliseconds: Self.lifetime).millisecondsSince1970
    let nonce = Hex.encode((0..<32).map { _ in UInt8.random(in: .min ... .max) })
    return code(expiry, nonce)
  }

  /// Whether `code` is valid and was not used before. It cannot be used again.
  func use(_ code: String, at now: Instant) -> Bool {
    guard isValid(code, at: now) else { return false }
    return used.withLock { used in
      used = used.filter { $0.value > now }
      guard used[code] == nil, used.count < Self.maxUsed else { return false }
      used[code] = now.advanced(byMilliseconds: Self.lifetime)
      return true
    }
  }

  private func isValid(_ code: String, at now: Instant) -> Bool {
    let parts = code.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, let expiry = Int64(parts[0]), now.millisecondsSince1970 < expiry,
      // Perhaps used in an earlier process.
      expiry >= start.advanced(byMilliseconds: Self.lifetime).millisecondsSince1970,
      // Signed or not: no code is valid for longer than a new one.
      expiry <= now.advanced(byMilliseconds: Self.lifetime).millisecondsSince1970
    else { return false }
    // The whole code: an expiry in other digits, such as with a leading zero, would make it another one, not yet used.
    return constantTimeEquals(Array(self.code(expiry, parts[1]).utf8), Array(code.utf8))
  }

  private func code(_ expiry: Int64, _ nonce: String) -> String {
    let tag = HMACSHA256.code(of: Array("console link \(expiry) \(nonce)".utf8), key: key)
    return "\(expiry).\(nonce).\(Hex.encode(tag))"
  }
}

/// The form behind a one-time link.
enum SignInForm {
  static func body(code: String, problem: String? = nil) -> Markup {
    """
    <p>\(Text.signInHint)</p>
    \(problem.map { "<p class=\"problem\" role=\"alert\">\($0)</p>" as Markup } ?? "")
    <form class="form" method="post" action="\(Link(["session", "once"]))">
    <input type="hidden" name="code" value="\(code)">
    <label for="name">\(Text.yourName)</label>
    <p class="hint" id="name-hint">\(Text.nameHint)</p>
    <input type="text" id="name" name="name" maxlength="64" autocomplete="name" required autofocus aria-describedby="name-hint">
    <p class="row"><button class="primary">\(Text.signIn)</button></p>
    </form>
    """
  }
}
