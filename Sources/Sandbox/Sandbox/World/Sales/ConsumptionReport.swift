internal import AppStore
internal import JSON

/// What a developer told of a purchase whose customer asks for a refund.
struct ConsumptionReport: Hashable, Sendable {
  let transaction: Int64
  let date: Instant
  /// Of the call: `v1` or `v2`.
  let version: String
  /// The body of the call.
  let information: JSONObject
}

extension World {
  /// Takes in what a developer tells. It decides nothing: that is the tester's part.
  mutating func recordConsumptionReport(_ parameters: Parameters) throws(ActionError) -> Outcome {
    let sold = try transaction(parameters)
    guard let information = parameters.json["information"]?.objectValue else {
      throw .missingMember("information")
    }
    consumptionReports.append(
      ConsumptionReport(
        transaction: sold.id, date: now, version: try parameters.choice("version", of: ["v1", "v2"]),
        information: information))
    return Outcome(transactions: [sold.id])
  }

  /// All that developers told, as testers see it.
  var consumptionReportsJSON: JSONObject {
    [
      "consumption": .array(
        consumptionReports.map { report in
          [
            "transactionId": .string(String(report.transaction)), "date": .string(report.date.description),
            "version": .string(report.version), "information": .object(report.information),
          ]
        })
    ]
  }
}
