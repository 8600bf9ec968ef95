internal import Bytes

/// A roster: the customers who are to hold the seats of purchases.
package struct Roster: Hashable, Sendable {
  /// A valid row.
  package struct Row: Hashable, Sendable {
    /// The number of the row in the file; the header is row 1.
    package let number: Int
    /// The original transaction id.
    package let purchase: String
    /// The customer id, without spaces around it.
    package let customer: String
  }

  /// A row that names no customer of a purchase.
  package struct Fault: Hashable, Sendable {
    /// The number of the row in the file; the header is row 1.
    package let row: Int
    /// The purchase, if the row names one.
    package let purchase: String?
    /// The reason, for people.
    package let problem: String
  }

  /// The first row of each customer of a purchase, in the order of the file.
  package private(set) var rows: [Row] = []
  /// Later rows of the same customer and purchase.
  package private(set) var repeated: [Row] = []
  /// The rows that name no customer of a purchase, in the order of the file.
  package private(set) var faults: [Fault] = []

  /// The column of the customer id.
  package static let customerColumn = "customer_id"
  /// The column of the original transaction id.
  package static let purchaseColumn = "original_transaction_id"
  /// The maximum size of an id in the contract.
  private static let maxIDBytes = 256

  /// Reads a roster in CSV with a header; other columns are ignored. Rows without a valid customer or purchase become
  /// ``faults`` and do not prevent the others.
  ///
  /// - purchase: the purchase of rows that name none; `nil` if each row must name one.
  ///
  /// - Throws: ``RosterError`` if the file has no such columns.
  package init(csv bytes: [UInt8], purchase: String? = nil) throws(RosterError) {
    let records = Self.records(in: CSVReader.withLineFeeds(bytes))
    guard let first = records.first else {
      throw RosterError("the roster is empty; expected a header with the column \(Self.customerColumn)")
    }
    guard let header = first.fields?.map(Self.trimmed) else {
      throw RosterError("the header is not in UTF-8; convert the file, for example with iconv")
    }
    guard let customerIndex = header.firstIndex(of: Self.customerColumn) else {
      throw RosterError("the header has no column \(Self.customerColumn)")
    }
    let purchaseIndex = header.firstIndex(of: Self.purchaseColumn)
    guard purchaseIndex != nil || purchase != nil else {
      throw RosterError("the header has no column \(Self.purchaseColumn), and no purchase is given")
    }
    var known: Set<[OpaqueID]> = []
    for record in records.dropFirst() {
      guard let fields = record.fields, fields.count == header.count else {
        let problem =
          record.fields.map { "\($0.count) columns, but the header has \(header.count)" } ?? record.problem
        faults.append(Fault(row: record.number, purchase: nil, problem: problem))
        continue
      }
      let named = purchaseIndex.map { Self.trimmed(fields[$0]) } ?? ""
      let row = Row(
        number: record.number, purchase: named.isEmpty ? purchase ?? "" : named,
        customer: Self.trimmed(fields[customerIndex]))
      if let problem = Self.problem(of: row) {
        faults.append(
          Fault(
            row: row.number, purchase: row.purchase.isEmpty ? nil : row.purchase, problem: problem))
      } else if known.insert([OpaqueID(row.purchase), OpaqueID(row.customer)]).inserted {
        rows.append(row)
      } else {
        repeated.append(row)
      }
    }
  }

  /// Returns the rows that are not empty, with their numbers; without fields but with a problem if a row is not UTF-8, or
  /// if a quote without an end makes it of all rows below.
  ///
  /// The number of a row counts all rows from 1, as spreadsheets do.
  private static func records(in bytes: [UInt8]) -> [(number: Int, fields: [String]?, problem: String)] {
    var reader = CSVReader(bytes[...])
    var records: [(number: Int, fields: [String]?, problem: String)] = []
    var number = 0
    while let record = reader.next() {
      number += 1
      guard record != [[]] else { continue }
      guard !reader.endsInQuotes else {
        records.append((number, nil, "a quoted field has no end, so this row and all below it are left out"))
        continue
      }
      let fields = record.map { String(validating: $0, as: UTF8.self) }
      records.append((number, fields.contains(nil) ? nil : fields.compactMap(\.self), "not UTF-8"))
    }
    return records
  }

  /// The purchases of the rows, in the order of the file.
  package var purchases: [String] {
    var known: Set<String> = []
    return rows.map(\.purchase).filter { known.insert($0).inserted }
  }

  /// The rows of a purchase.
  package func rows(of purchase: String) -> [Row] { rows.filter { $0.purchase == purchase } }

  /// Whether a row of this purchase may be among the ``faults``: then the roster does not say who is
  /// no member.
  package func isIncomplete(_ purchase: String) -> Bool {
    faults.contains { $0.purchase == nil || $0.purchase == purchase }
  }

  /// The reason why the row names no customer of a purchase; `nil` if it does.
  private static func problem(of row: Row) -> String? {
    if row.purchase.isEmpty { return "\(purchaseColumn) is empty" }
    if row.customer.isEmpty { return "\(customerColumn) is empty" }
    if row.customer.utf8.count > maxIDBytes { return "\(customerColumn) has more than \(maxIDBytes) bytes" }
    if row.purchase.utf8.count > maxIDBytes { return "\(purchaseColumn) has more than \(maxIDBytes) bytes" }
    return nil
  }

  /// The text without spaces and tabs around it.
  private static func trimmed(_ text: String) -> String {
    let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    let start = text.drop(while: isSpace)
    return String(start.prefix(start.count - start.reversed().prefix(while: isSpace).count))
  }
}

/// The reason a roster cannot be read.
package struct RosterError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The reason, for people.
  package let description: String

  init(_ description: String) { self.description = description }
}
