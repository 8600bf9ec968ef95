internal import AppStore
internal import RPC
internal import Store
internal import Wire

/// The text of a search box, and the numbers and names in it.
struct SearchQuery: Sendable {
  /// The text without surrounding white space, unless it is ``exact``; not empty.
  let text: String
  /// The text with the white space around it, which may belong to an id; `nil` if there is none.
  let exactText: String?
  /// The sequence of an event: `#12`, `event 12`, or a bare number.
  let sequence: Int64?
  /// The id of a piece of evidence: `evidence 12`, or a bare number.
  let evidenceID: Int64?
  /// The command in `transfer-12`.
  let transferEvidenceID: Int64?
  /// `NAME=VALUE`.
  let attribute: (name: String, value: String)?

  /// - Throws: `INVALID_ARGUMENT` for a text without a character that is not white space.
  init(_ query: String) throws(Status) {
    var characters = Substring(query)
    while characters.first?.isWhitespace == true { characters.removeFirst() }
    while characters.last?.isWhitespace == true { characters.removeLast() }
    let text = String(characters)
    try RequestValidation.given(text, "query")
    self.init(text: text, exactText: text.utf8.count == query.utf8.count ? nil : query)
  }

  /// The query for ``exactText``; `nil` without one.
  var exact: SearchQuery? { exactText.map { SearchQuery(text: $0, exactText: nil) } }

  private init(text: String, exactText: String?) {
    (self.text, self.exactText) = (text, exactText)
    let bare = Self.number(text[...])
    sequence = Self.number(text[...], after: ["#", "event ", "event #"]) ?? bare
    evidenceID = Self.number(text[...], after: ["evidence ", "evidence #"]) ?? bare
    transferEvidenceID = Self.number(text[...], after: ["transfer-"])
    let parts = text.split(separator: "=", maxSplits: 1)
    attribute = parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
  }

  /// The number after the first prefix that matches, in any case.
  private static func number(_ text: Substring, after prefixes: [String]) -> Int64? {
    let lower = text.lowercased()
    return prefixes.lazy.filter(lower.hasPrefix).compactMap { number(text.dropFirst($0.count)) }.first
  }

  /// A number above 0 of ASCII digits; `nil` for any other text, and beyond 64 bits.
  private static func number(_ text: Substring) -> Int64? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text),
      number > 0
    else { return nil }
    return number
  }
}

/// The position of a page of hits: the number of exact hits before it, and the last customer whose id begins with the
/// text, if the previous page had one.
struct SearchPosition: Hashable, Sendable, CustomStringConvertible {
  /// The number of exact hits on the pages before.
  var exactHits = 0
  /// The last customer on them whose id begins with the text; `nil` while exact hits are left.
  var customer: CustomerKey?

  init(exactHits: Int, customer: CustomerKey? = nil) {
    self.exactHits = exactHits
    self.customer = customer
  }

  /// The position that ``description`` returned; `nil` begins.
  init(_ text: String?) {
    let parts = (text ?? "").split(separator: "\0", maxSplits: 3, omittingEmptySubsequences: false)
    exactHits = parts.first.flatMap { Int($0) } ?? 0
    guard parts.count == 4, let environment = AppStore.Environment(rawValue: String(parts[2])) else { return }
    customer = CustomerKey(
      appID: String(parts[1]), environment: environment, customerID: String(parts[3]))
  }

  /// The position as a page token contains it. NUL separates its parts, because an id of a customer may contain any
  /// other separator.
  var description: String {
    guard let customer else { return String(exactHits) }
    return [String(exactHits), customer.appID, customer.environment.rawValue, customer.customerID]
      .joined(separator: "\0")
  }
}
