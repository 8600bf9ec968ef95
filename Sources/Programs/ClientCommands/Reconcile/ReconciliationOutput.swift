internal import AppStoreReports
internal import Foundation
internal import JSON
internal import ReportReconciliation

/// The result of a reconciliation for people and for programs.
struct ReconciliationOutput {
  let result: ReconciliationResult
  let documents: [ReportDocument]
  /// The paths of files that repeat one before them, and do not count.
  let duplicates: [String]

  // MARK: Text

  var text: String {
    var lines: [String] = []
    for day in result.days { lines += text(of: day) }
    if !result.finance.isEmpty { lines += financeText }
    for note in result.notes {
      let count = note.quantity > 0 ? "  \(note.quantity)" : ""
      lines.append("note  \(note.code.rawValue)  \(note.text)\(count)")
    }
    for file in duplicates { lines.append("note  DUPLICATE_FILE  \(file)") }
    let unexplained = result.unexplained.count
    lines.append(
      "matched \(result.matched), explained \(result.explained), unexplained \(unexplained) "
        + (unexplained == 1 ? "bucket" : "buckets"))
    return lines.joined(separator: "\n")
  }

  private func text(of day: DayReconciliation) -> [String] {
    var explained: [ExplanationRule: Int64] = [:]
    for one in day.explained { explained[one.rule, default: 0] += one.quantity }
    let rules = explained.sorted { $0.key.rawValue < $1.key.rawValue }.map {
      "\($0.key.rawValue) \($0.value)"
    }
    let summary = [
      "\(day.day)  \(day.report.rawValue)", "matched \(day.matched)",
      rules.isEmpty ? "explained 0" : "explained \(rules.joined(separator: ", "))",
      "unexplained \(day.unexplained.count)",
    ]
    return [summary.joined(separator: "  ")] + day.unexplained.flatMap(text)
  }

  private func text(of finding: ReconciliationFinding) -> [String] {
    var what = "Apple \(finding.appleQuantity), ours \(finding.ourQuantity)"
    if let proceeds = finding.proceeds {
      what = "Apple \(Amount.text(proceeds.apple)), estimated \(Amount.text(proceeds.ours))"
    }
    var lines = ["  \(finding.kind.rawValue)  \(finding.bucket)  \(what)"]
    if !finding.rows.isEmpty { lines.append("    rows  \(finding.rows.joined(separator: " "))") }
    if !finding.candidates.isEmpty {
      lines.append("    candidates  \(finding.candidates.joined(separator: " "))")
    }
    return lines
  }

  /// A line for each product, country and month of Finance reports. Their differences are shown, and do not count as
  /// unexplained.
  private var financeText: [String] {
    result.finance.map { row in
      let month = row.month.map { "fiscal \($0)" } ?? "\(row.first) to \(row.last)"
      return
        "\(month)  \(row.productID) \(row.country)  Apple \(row.appleQuantity), \(Amount.text(row.appleShare)) "
        + "\(row.currency)  ours \(row.ourQuantity), \(Amount.text(row.ourShare)) \(row.currency)  "
        + "difference \(row.appleQuantity - row.ourQuantity), \(Amount.text(row.appleShare - row.ourShare))"
    }
  }

  // MARK: JSON

  var json: String {
    let object: JSONObject = [
      "files": .array(documents.map { file($0) }), "duplicates": .array(duplicates.map { .string($0) }),
      "days": .array(result.days.map { .object(json(of: $0)) }),
      "finance": .array(result.finance.map { .object(json(of: $0)) }),
      "notes": .array(
        result.notes.map {
          ["code": .string($0.code.rawValue), "text": .string($0.text), "quantity": JSONValue($0.quantity)]
        }),
      "matched": JSONValue(result.matched), "explained": JSONValue(result.explained),
      "unexplained": JSONValue(Int64(result.unexplained.count)), "clean": .bool(result.isClean),
    ]
    return String(decoding: object.serialized(pretty: true), as: UTF8.self)
  }

  private func file(_ document: ReportDocument) -> JSONValue {
    [
      "name": .string(document.name), "report": .string(document.kind.rawValue),
      "rows": JSONValue(Int64(document.table.rows.count)),
    ]
  }

  private func json(of day: DayReconciliation) -> JSONObject {
    [
      "day": .string("\(day.day)"), "report": .string(day.report.rawValue), "matched": JSONValue(day.matched),
      "explained": .array(
        day.explained.map { one in
          var json = json(of: one.bucket)
          json["rule"] = .string(one.rule.rawValue)
          json["quantity"] = JSONValue(one.quantity)
          json["candidates"] = .array(one.candidates.map { .string($0) })
          return .object(json)
        }),
      "unexplained": .array(
        day.unexplained.map { finding in
          var json = json(of: finding.bucket)
          json["kind"] = .string(finding.kind.rawValue)
          json["appleQuantity"] = JSONValue(finding.appleQuantity)
          json["ourQuantity"] = JSONValue(finding.ourQuantity)
          json["difference"] = JSONValue(finding.difference)
          json["appleProceeds"] = finding.proceeds.map { JSONValue($0.apple) }
          json["estimatedProceeds"] = finding.proceeds.map { JSONValue($0.ours) }
          json["candidates"] = .array(finding.candidates.map { .string($0) })
          json["rows"] = .array(finding.rows.map { .string($0) })
          return .object(json)
        }),
    ]
  }

  private func json(of bucket: ReconciliationBucket) -> JSONObject {
    JSONObject(present: [
      ("bucketDay", .string("\(bucket.day)")), ("productId", .string(bucket.productID)),
      ("country", .string(bucket.country)), ("subject", .string(bucket.subject.description)),
      ("offer", .string(bucket.offer)), ("price", bucket.price.map { JSONValue($0 * 10) }),
      ("currency", .string(bucket.currency)), ("afterOneYear", .bool(bucket.isAfterOneYear)),
    ])
  }

  private func json(of row: FinanceComparison) -> JSONObject {
    JSONObject(present: [
      ("fiscalMonth", row.month.map { .string("\($0)") }), ("first", .string("\(row.first)")),
      ("last", .string("\(row.last)")), ("productId", .string(row.productID)),
      ("country", .string(row.country)), ("currency", .string(row.currency)),
      ("appleQuantity", JSONValue(row.appleQuantity)), ("ourQuantity", JSONValue(row.ourQuantity)),
      ("appleShare", JSONValue(row.appleShare)), ("ourShare", JSONValue(row.ourShare)),
    ])
  }
}
