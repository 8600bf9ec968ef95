internal import AppStore
package import AppStoreReports

/// A report that was read from a file.
package struct ReportDocument: Hashable, Sendable {
  /// The name of the file.
  package let name: String
  /// The report that its columns show.
  package let kind: AppStoreReport
  /// Its columns and rows, as they are in the file.
  package let table: TabularText
  /// The day in the name of the file; `nil` without one.
  package let day: CalendarDay?
  /// The days of the rows. Of a report without dates in its rows, the day in the name: a file may be named after its download.
  package let days: Set<CalendarDay>

  /// Recognizes a report by its columns.
  ///
  /// - Throws: ``ReportError`` if it is none, or lacks a column that is needed.
  package init(name: String, text: String) throws(ReportError) {
    let table = TabularText(parsing: text)
    guard let kind = Self.kind(of: table) else { throw .unknownReport(name) }
    let missing = kind.requiredColumns.filter { table.position(of: $0) == nil }
    guard missing.isEmpty else { throw .missingColumns(name, missing) }
    (self.name, self.kind, self.table) = (name, kind, table)
    day = Self.day(in: name)
    let inside = table.days(in: kind)
    days = inside.isEmpty ? Set([day].compactMap(\.self)) : inside
    guard kind != .subscription || day != nil else { throw .noDate(name) }
  }

  /// The columns that are not Apple's as far as known.
  package var unknownColumns: [String] {
    let known = Set(kind.columns.map { $0.lowercased() } + ["promotional offer name", "auto renew status"])
    return table.columns.filter { !known.contains($0.lowercased()) }
  }

  private static func kind(of table: TabularText) -> AppStoreReport? {
    func has(_ column: String) -> Bool { table.position(of: column) != nil }
    if has("Active Standard Price Subscriptions") { return .subscription }
    if has("Event"), has("Quantity") { return .subscriptionEvent }
    if has("Subscriber ID") { return .subscriber }
    if has("SKU") { return .sales }
    return has("Vendor Identifier") ? .finance : nil
  }

  /// The first day in a name such as `Subscription_85012345_20261024_V1_3.txt.gz`.
  private static func day(in name: String) -> CalendarDay? {
    let words = name.split { !($0.isASCII && ($0.isNumber || $0 == "-")) }
    for word in words {
      let characters = Array(word)
      for length in [10, 8] where characters.count >= length {
        for start in 0...(characters.count - length) {
          let text = String(characters[start..<(start + length)])
          guard (length == 10) == text.contains("-") else { continue }
          // A vendor number has eight digits, too.
          if let day = CalendarDay(text), ("2008"..<"2100").contains(day.description) { return day }
        }
      }
    }
    return nil
  }
}

extension TabularText {
  /// The days in the rows of a report.
  fileprivate func days(in kind: AppStoreReport) -> Set<CalendarDay> {
    let column: String? =
      switch kind {
      case .sales: "Begin Date"
      case .subscriptionEvent, .subscriber: "Event Date"
      case .subscription, .finance: nil
      }
    guard let column else { return [] }
    return Set(rows.compactMap { CalendarDay(value(column, in: $0)) })
  }
}

/// The reason why a file is not read.
package enum ReportError: Error, Hashable, Sendable, CustomStringConvertible {
  /// No report of Apple's has these columns.
  case unknownReport(String)
  /// The report lacks columns that it always has.
  case missingColumns(String, [String])
  /// Neither a column nor the name of the file has the day.
  case noDate(String)
  /// A value is not of the type of its column; lines count from 1.
  case malformed(String, line: Int, column: String, value: String)
  /// The row makes the sums of the reports larger than any that Apple could state; lines count from 1.
  case sumTooLarge(String, line: Int)

  package var description: String {
    switch self {
    case .unknownReport(let name):
      "'\(name)' is no Subscription, Subscription Event, Subscriber, Sales or Finance report"
    case .missingColumns(let name, let columns):
      "'\(name)' lacks the columns \(columns.map { "'\($0)'" }.joined(separator: ", "))"
    case .noDate(let name):
      "a Subscription report has no date inside; name the file with one, such as '2026-10-24-\(name)'"
    case .malformed(let name, let line, let column, let value):
      "'\(name)' line \(line): column '\(column)' cannot have the value '\(value.prefix(100))'"
    case .sumTooLarge(let name, let line):
      "'\(name)' line \(line): the numbers of this row and the rows before it are too large to be added; check the file"
    }
  }
}

/// The subject of Apple's rows.
struct ReportedItem {
  let bucket: ReconciliationBucket
  let quantity: Int64
  /// The name of the file and the number of the line, from 2.
  let file: String
  let line: Int
}

/// A row whose proceeds are checked.
struct ReportedProceeds {
  let bucket: ReconciliationBucket
  let quantity: Int64
  /// Of one piece, in thousandths, without sign.
  let price: Int64
  let proceeds: Int64
  let line: Int
  let file: String
}

/// A number that no rule covers, such as an unknown event.
package struct ReportNote: Hashable, Sendable {
  /// The reason of the note; the raw values are part of the output of `entitled reconcile`.
  package enum Code: String, Hashable, Sendable {
    case unknownEvent = "UNKNOWN_EVENT"
    case unknownProduct = "UNKNOWN_PRODUCT"
    /// A product of another app in the Sales report.
    case otherProduct = "OTHER_PRODUCT"
    case unknownCountry = "UNKNOWN_COUNTRY"
    case unknownColumn = "UNKNOWN_COLUMN"
    /// Apple leaves small numbers blank.
    case privacy = "PRIVACY"
    case notCompared = "NOT_COMPARED"
    /// Apple counts subscriptions in the grace period in their own column only.
    case graceApart = "GRACE_APART"
  }

  package let code: Code
  /// The value that the note is about, such as an unknown column with its report, or an English phrase.
  package let text: String
  /// The number of items in Apple's reports; 0 for a note that counts none.
  package var quantity: Int64
}
