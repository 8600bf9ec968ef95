internal import JSON
package import Store

/// Writes failed lines of a job as NDJSON, which is itself valid input, so that the operator corrects them and starts a
/// job with them.
package struct FailureWriter {
  /// `nil` if the input is deleted.
  private let input: InputReader?

  /// Creates a writer that reads the input of `job` in `folder`.
  package init(of job: MigrationJob, in folder: ImportFolder) {
    let format = InputFormat(job.order.format) ?? InputFormat()
    input = try? InputReader(folder.source(ofInput: job.order.inputPath), format, after: 0, at: 0)
  }

  /// Returns the line with the default column names and the reason of its failure; without its receipt if the input is
  /// deleted.
  package func line(_ failure: MigrationLine) -> String {
    var json = JSONObject()
    if !failure.customerID.isEmpty { json["customer_id"] = .string(failure.customerID) }
    switch record(failure)?.content {
    case .text(let receipt)?: json["receipt"] = .string(receipt)
    case .originalTransactionID(let id)?: json["original_transaction_id"] = .string(id)
    case .receipt?, nil: break
    }
    json["line"] = .number(JSONNumber(failure.number))
    json["reason"] = .string(failure.reason)
    json["explanation"] = .string(failure.explanation)
    return String(decoding: json.serialized(), as: UTF8.self)
  }

  /// The line as the job read it; `nil` if the input is deleted or has changed.
  private func record(_ failure: MigrationLine) -> InputRecord? {
    guard var reader = try? input?.moved(after: failure.number - 1, at: failure.position),
      let line = try? reader.next(), line.number == failure.number
    else { return nil }
    return try? line.record.get()
  }
}
