internal import JSON
package import Store

/// The lines that a job could not do, as NDJSON that is itself valid input.
package struct FailureWriter {
  private let job: MigrationJob
  private let format: InputFormat

  /// Those of `job`, whose input must still be there.
  package init(of job: MigrationJob) {
    self.job = job
    format = InputFormat(job.order.format) ?? InputFormat()
  }

  /// What the line said, under the usual names, and why it failed; without what it said if the input is gone.
  package func line(_ failure: MigrationLine) -> String {
    var json = JSONObject()
    if !failure.customerID.isEmpty { json["customer_id"] = .string(failure.customerID) }
    switch record(failure)?.content {
    case .text(let receipt)?: json["receipt"] = .string(receipt)
    case .originalTransactionID(let number)?: json["original_transaction_id"] = .string(number)
    case .receipt?, nil: break
    }
    json["line"] = .number(JSONNumber(failure.number))
    json["reason"] = .string(failure.reason)
    json["explanation"] = .string(failure.explanation)
    return String(decoding: json.serialized(), as: UTF8.self)
  }

  private func record(_ failure: MigrationLine) -> InputRecord? {
    guard
      var reader = try? InputReader(
        path: job.order.inputPath, format, after: failure.number - 1,
        at: failure.position), let line = try? reader.next(), line.number == failure.number
    else { return nil }
    return try? line.record.get()
  }
}
