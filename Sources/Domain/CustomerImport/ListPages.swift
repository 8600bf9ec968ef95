internal import JSON

/// The pages of RevenueCat's lists that were read. A list is complete when its last page, which names no next one, was
/// read, too.
struct ListPages: Sendable {
  /// The customers of the lists with a page that names the next one, by the path of the list.
  private var continued: [String: String] = [:]
  /// The paths of the lists whose last page was read.
  private var finished: Set<String> = []

  /// Adds a page of a list about `customer`, which is empty for a list of customers.
  mutating func add(_ list: JSONObject, of customer: String) {
    if let next = list["next_page"]?.stringValue {
      continued[Self.path(of: next)] = customer
    } else if let url = list["url"]?.stringValue {
      finished.insert(Self.path(of: url))
    }
  }

  /// Adds the pages that were read from another file.
  mutating func formUnion(_ other: ListPages) {
    continued.merge(other.continued) { first, _ in first }
    finished.formUnion(other.finished)
  }

  /// The lists without their last page, in the order of their paths.
  var unfinished: [(list: String, customer: String)] {
    continued.filter { !finished.contains($0.key) }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  private static func path(of url: String) -> String { String(url.prefix { $0 != "?" }) }
}
