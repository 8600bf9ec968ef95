internal import HTTP
internal import JSON

/// What Apple refuses about seats under names whose numbers its pages do not give: 4000000 stands for them.
enum SeatRefusal: String, Error {
  case noAvailableSeats = "NoAvailableSeatsError"
  case transactionNotDevManagedGroup = "TransactionNotDevManagedGroupError"

  var response: HTTPResponse {
    let body: JSONObject = [
      "errorCode": JSONValue(ServerAPIError.generalBadRequest.rawValue), "errorMessage": .string(rawValue),
    ]
    return .json(400, body.serialized())
  }
}
