package import JSON

/// The images of retention messages (Get Image List).
package struct GetImageListResponse: DecodedPayload {
  package let json: JSONObject

  /// The images that were uploaded, in any state.
  package let imageIdentifiers: [GetImageListResponseItem]?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    imageIdentifiers = try json.parts("imageIdentifiers")
  }
}

/// An image of retention messages.
package struct GetImageListResponseItem: DecodedPayload {
  package let json: JSONObject

  /// A UUID.
  package let imageIdentifier: String?
  /// `PENDING`, `APPROVED` or `REJECTED`.
  package let imageState: String?
  /// `FULL_SIZE` or `BULLET_POINT`.
  package let imageSize: String?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    imageIdentifier = try json.string("imageIdentifier")
    imageState = try json.string("imageState")
    imageSize = try json.string("imageSize")
  }
}

/// The retention messages (Get Message List).
package struct GetMessageListResponse: DecodedPayload {
  package let json: JSONObject

  /// The messages that were uploaded, in any state.
  package let messageIdentifiers: [GetMessageListResponseItem]?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    messageIdentifiers = try json.parts("messageIdentifiers")
  }
}

/// A retention message.
package struct GetMessageListResponseItem: DecodedPayload {
  package let json: JSONObject

  /// A UUID.
  package let messageIdentifier: String?
  /// `PENDING`, `APPROVED` or `REJECTED`.
  package let messageState: String?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    messageIdentifier = try json.string("messageIdentifier")
    messageState = try json.string("messageState")
  }
}

/// The default message of a product in a locale.
package struct DefaultConfigurationResponse: DecodedPayload {
  package let json: JSONObject

  /// A UUID.
  package let messageIdentifier: String?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    messageIdentifier = try json.string("messageIdentifier")
  }
}

/// The URL of real-time requests.
package struct RealtimeUrlResponse: DecodedPayload {
  package let json: JSONObject

  /// The operator's endpoint that Apple asks for a message; the test calls it.
  package let realtimeURL: String?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    realtimeURL = try json.string("realtimeURL")
  }
}

/// The response to a performance test of the real-time URL (Initiate Performance Test).
package struct PerformanceTestResponse: DecodedPayload {
  package let json: JSONObject

  package let config: PerformanceTestConfig?
  /// The id to query the result with.
  package let requestId: String?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    config = try json.part("config")
    requestId = try json.string("requestId")
  }
}

/// The configuration of a performance test.
package struct PerformanceTestConfig: DecodedPayload {
  package let json: JSONObject

  /// The number of requests that Apple sends at a time.
  package let maxConcurrentRequests: Int64?
  /// The number of requests of the whole test.
  package let totalRequests: Int64?
  /// Milliseconds.
  package let totalDuration: Int64?
  /// Milliseconds.
  package let responseTimeThreshold: Int64?
  /// Percent.
  package let successRateThreshold: Int64?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    maxConcurrentRequests = try json.integer("maxConcurrentRequests")
    totalRequests = try json.integer("totalRequests")
    totalDuration = try json.integer("totalDuration")
    responseTimeThreshold = try json.integer("responseTimeThreshold")
    successRateThreshold = try json.integer("successRateThreshold")
  }
}

/// The result of a performance test.
package struct PerformanceTestResultResponse: DecodedPayload {
  package let json: JSONObject

  package let config: PerformanceTestConfig?
  /// The tested URL.
  package let target: String?
  /// `PENDING`, `PASS` or `FAIL`.
  package let result: String?
  /// Percent.
  package let successRate: Int64?
  /// The number of requests that are not answered yet.
  package let numPending: Int64?
  package let responseTimes: PerformanceTestResponseTimes?
  /// The number of attempts by ``SendAttemptResult``.
  package let failures: JSONObject?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    config = try json.part("config")
    target = try json.string("target")
    result = try json.string("result")
    successRate = try json.integer("successRate")
    numPending = try json.integer("numPending")
    responseTimes = try json.part("responseTimes")
    failures = try json.object("failures")
  }
}

/// Response times of a performance test, in milliseconds.
package struct PerformanceTestResponseTimes: DecodedPayload {
  package let json: JSONObject

  /// The mean, in milliseconds.
  package let average: Int64?
  /// The median, in milliseconds.
  package let p50: Int64?
  /// The time within which 90 % of the responses arrived, in milliseconds.
  package let p90: Int64?
  /// The time within which 95 % of the responses arrived, in milliseconds.
  package let p95: Int64?
  /// The time within which 99 % of the responses arrived, in milliseconds.
  package let p99: Int64?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    average = try json.integer("average")
    p50 = try json.integer("p50")
    p90 = try json.integer("p90")
    p95 = try json.integer("p95")
    p99 = try json.integer("p99")
  }
}
