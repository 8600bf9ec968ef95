package import AppStore
internal import JSON

extension IncomingResponse {
  /// The body as the object that Apple answers with.
  func object() throws(AppStoreClientError) -> JSONObject {
    guard !body.isEmpty else { throw .notJSON(status: status, problem: "it is empty") }
    let value: JSONValue
    do {
      value = try JSONValue(parsing: body)
    } catch {
      let isMarkup = body.first { $0 > UInt8(ascii: " ") } == UInt8(ascii: "<")
      throw .notJSON(status: status, problem: isMarkup ? "it is a page of HTML" : "\(error)")
    }
    guard case .object(let object) = value else {
      throw .notJSON(status: status, problem: "it is no JSON object")
    }
    return object
  }

  /// Why Apple refused, if it said so in the words of the App Store Server API.
  var refusal: AppStoreClientError? {
    guard let json = try? object(), let payload = try? ErrorPayload(json: json),
      let code = payload.errorCode
    else { return nil }
    return .refused(APIErrorCode(rawValue: code), message: payload.errorMessage ?? "")
  }

  /// How long to wait, by `Retry-After`: the App Store writes UNIX time in milliseconds (App Store Server API,
  /// RateLimitExceededError). A small number is a delay in seconds, as whatever stands between may write it
  /// (RFC 9110, section 10.2.3).
  func retryAfter(now: Instant) -> Duration? {
    guard let text = header("retry-after"), let number = Int64(text), number >= 0 else { return nil }
    guard number > 1_000_000_000 else { return .seconds(number) }
    return .milliseconds(max(0, number - now.millisecondsSince1970))
  }
}

extension Instant {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// From the form that servers write: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
  package init?(httpDate text: String) {
    let parts = text.split(separator: " ")
    guard parts.count == 6, parts[5] == "GMT",
      let month = Self.months.firstIndex(of: String(parts[2])), parts[1].count == 2, parts[3].count == 4
    else { return nil }
    let number = String(month + 1)
    let padded = number.count == 1 ? "0" + number : number
    self.init(rfc3339: "\(parts[3])-\(padded)-\(parts[1])T\(parts[4])Z")
  }
}
