internal import Markup
internal import Pages

/// The operator's other tools, from the configuration. Each is an `http` or `https` URL; `nil`: no link.
package struct OperatorLinks: Sendable {
  private let grafanaURL: String?
  private let customerURL: String?
  private let ticketURL: String?

  /// - Parameters:
  ///   - grafana: the dashboards.
  ///   - customer: the customer in the operator's customer database, with `{customer_id}`.
  ///   - ticket: a ticket, with `{ticket}`.
  package init(grafana: String? = nil, customer: String? = nil, ticket: String? = nil) {
    grafanaURL = grafana
    customerURL = customer
    ticketURL = ticket
  }

  var grafana: Link? { grafanaURL.map { Link(configured: $0) } }

  /// The customer in the operator's database; the id is encoded for its address.
  func customer(_ id: String) -> Link? { customerURL.map { Link(configured: $0, value: id) } }

  /// A note in which ticket numbers, such as `#12` and `CRM-8812`, are links.
  func note(_ text: String) -> Markup {
    guard let ticketURL else { return Format.name(text) }
    let words = text.split(separator: " ", omittingEmptySubsequences: false).map { word -> Markup in
      let (ticket, rest) = Self.ticket(word)
      guard let ticket else { return "\(String(word))" }
      let number = ticket.hasPrefix("#") ? String(ticket.dropFirst()) : ticket
      return
        "<a href=\"\(Link(configured: ticketURL, value: number))\" rel=\"noreferrer\">\(ticket)</a>\(rest)"
    }
    return "<bdi>\(words.joined(separator: " "))</bdi>"
  }

  /// The ticket at the beginning of a word, and what follows it.
  private static func ticket(_ word: Substring) -> (ticket: String?, rest: String) {
    let rest = word.reversed().prefix { ".,;:!?)".contains($0) }.count
    let name = word.dropLast(rest)
    let parts = name.split(separator: "-", omittingEmptySubsequences: false)
    let isNumber = name.hasPrefix("#") && isDigits(name.dropFirst())
    let isKey =
      parts.count == 2 && isDigits(parts[1]) && parts[0].count > 1
      && parts[0].utf8.allSatisfy { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 }
    return isNumber || isKey ? (String(name), String(word.suffix(rest))) : (nil, "")
  }

  private static func isDigits(_ text: Substring) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
  }
}
