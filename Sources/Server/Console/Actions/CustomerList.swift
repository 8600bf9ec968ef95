internal import Bytes

/// The customers in a list or a CSV (RFC 4180).
enum CustomerList {
  private static let heads: Set<String> = ["customer", "customer_id", "customerid", "id"]

  /// The first column of each line, each id once. A first line that names the column is left out.
  static func ids(_ text: String) -> [String] {
    var ids = text.replacing("\r\n", with: "\n").split(separator: "\n").map { firstCell($0).trimmed }
    if let first = ids.first, heads.contains(first.lowercased()) { ids.removeFirst() }
    return ids.filter { !$0.isEmpty }.distinctIDs
  }

  /// The first cell of a line; one in quotes may contain separators and doubled quotes.
  private static func firstCell(_ line: Substring) -> String {
    let line = line.drop { $0 == "\u{FEFF}" || $0 == " " }
    guard line.first == "\"" else {
      return String(line.prefix { $0 != "," && $0 != ";" && $0 != "\t" })
    }
    var cell = ""
    var isQuoted = true
    var rest = line.dropFirst()
    while isQuoted, let character = rest.popFirst() {
      guard character == "\"" else {
        cell.append(character)
        continue
      }
      isQuoted = rest.first == "\""
      if isQuoted { cell.append(rest.removeFirst()) }
    }
    return cell
  }
}
