package import HTTP

/// The header fields of every response of a page.
package enum SecurityHeaders {
  /// Scripts, styles and requests of this server only, none of them in the page itself, and no frames around it.
  static let contentSecurityPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    + "trusted-types console"

  /// Adds the fields to `response`. `isSecure` is whether the listener has TLS.
  package static func add(to response: inout HTTPResponse, isSecure: Bool) {
    for (name, value) in fields { response.headers.append(name: name, value: value) }
    if response.headers["cache-control"] == nil {
      response.headers.append(name: "cache-control", value: "no-store")
    }
    if isSecure { response.headers.append(name: "strict-transport-security", value: "max-age=31536000") }
  }

  private static let fields = [
    ("content-security-policy", contentSecurityPolicy), ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"), ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"), ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
  ]
}
