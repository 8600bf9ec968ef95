internal import Bytes
internal import Pages
internal import RPC

/// The customers in a list or a CSV (RFC 4180).
enum CustomerList {
  private static let heads: Set<String> = ["customer", "customer_id", "customerid", "id"]

  /// The first field of each record, each id once. A first record that names the column is left out, as are empty lines.
  /// White space belongs to an id. An id that the console's own CSV has with an apostrophe is returned without it.
  static func ids(_ text: String) throws(Status) -> [String] {
    let bytes = Array(text.utf8)
    var reader = CSVReader(bytes[...], separator: separator(in: bytes))
    var ids: [String] = []
    var line = reader.line
    while let fields = reader.next() {
      guard !reader.endsInQuotes else { throw .field("customers", Text.openQuote(line)) }
      line = reader.line
      guard let id = fields.first, fields.count > 1 || !id[...].trimmed.isEmpty else { continue }
      ids.append(CSVField.fromSpreadsheet(String(decoding: id, as: UTF8.self)))
    }
    if let first = ids.first, heads.contains(first.trimmed.lowercased()) { ids.removeFirst() }
    return ids.filter { !$0.isEmpty }.distinctIDs
  }

  /// The first separator outside quotes, so that an id in a file may contain the others.
  private static func separator(in text: [UInt8]) -> UInt8 {
    var isInQuotes = false
    for byte in text {
      if byte == UInt8(ascii: "\"") { isInQuotes.toggle() }
      if !isInQuotes, separators.contains(byte) { return byte }
    }
    return separators[0]
  }

  private static let separators = Array(",;\t".utf8)
}
