internal import Bytes

/// A URL for a link or a form: a path on this server, or an `https` page of a host in a list. Data cannot select another
/// scheme or another host.
package struct Link: Hashable, Sendable {
  /// The URL, not yet escaped for an attribute.
  package let text: String

  /// A path on this server. Each segment and each query value is percent-encoded.
  ///
  /// - Parameters:
  ///   - segments: the segments of the path, each one not encoded; none is the root.
  ///   - query: the query; items without a value are left out.
  ///   - fragment: the id of an element of the page.
  package init(
    _ segments: [String], query: [(name: String, value: String?)] = [], fragment: StaticString? = nil
  ) {
    var text = segments.map { "/" + Self.encoded(segment: $0) }.joined()
    if text.isEmpty { text = "/" }
    let items = query.compactMap { item in
      item.value.map { "\(PercentEncoding.encode(item.name))=\(PercentEncoding.encode($0))" }
    }
    if !items.isEmpty { text += "?" + items.joined(separator: "&") }
    if let fragment { text += "#\(fragment)" }
    self.text = text
  }

  /// The same path with more items in its query.
  package func adding(query: [(name: String, value: String?)]) -> Link {
    let items = Link([], query: query).text.dropFirst(2)
    return Link(text: text + (text.contains("?") ? "&" : "?") + items)
  }

  private init(text: String) { self.text = text }

  /// A page of another host; `nil` unless it is an `https` URL of one of `hosts`, without user and port.
  package init?(external url: String, hosts: Set<String>) {
    let scheme = "https://"
    guard url.hasPrefix(scheme), url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") })
    else { return nil }
    let host = url.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
    guard hosts.contains(String(host)) else { return nil }
    text = url
  }

  /// A page of the operator's own tools. `url` is from the configuration, so it is trusted; a placeholder in braces in it
  /// is replaced by `value`, percent-encoded.
  package init(configured url: String, value: String = "") {
    guard let open = url.firstIndex(of: "{"), let close = url[open...].firstIndex(of: "}") else {
      text = url
      return
    }
    text = url[..<open] + PercentEncoding.encode(value) + url[url.index(after: close)...]
  }

  /// The segments of a path as ``init(_:query:fragment:)`` got them; malformed UTF-8 becomes U+FFFD.
  package static func segments(ofPath path: String) -> [String] {
    path.split(separator: "/").map { segment in
      let text = PercentEncoding.decode(segment)
      return text.hasPrefix(escape) ? String(text.dropFirst()) : text
    }
  }

  /// Precedes a segment that would not arrive otherwise: an empty one, and `.` and `..`, which browsers resolve also if
  /// they are encoded.
  private static let escape = "~"

  private static func encoded(segment: String) -> String {
    let needsEscape = ["", ".", ".."].contains(segment) || segment.hasPrefix(escape)
    return (needsEscape ? escape : "") + PercentEncoding.encode(segment)
  }
}
