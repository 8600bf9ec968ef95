internal import AppStore
internal import Bytes
internal import HTTP
internal import JSON
internal import SignedData

/// The Retention Messaging API.
extension AppStoreSimulator {
  /// Handles paths below `v1/messaging`, with Apple's checks. Accepted uploads become actions of the journal.
  func messaging(_ call: ServerAPICall) async throws -> JSONObject? {
    let path = call.path.dropFirst(2).map(\.self)
    let messages = world.settings[call.app.id]?.messages ?? RetentionMessages()
    switch (call.request.method, path.first, path.count) {
    case ("GET", "image", 2) where path[1] == "list": return imageList(messages)
    case ("GET", "message", 2) where path[1] == "list": return messageList(messages)
    case ("PUT", "image", 2): return try uploadImage(call, path[1], messages)
    case ("DELETE", "image", 2): return try deleteImage(call, path[1], messages)
    case ("PUT", "message", 2): return try uploadMessage(call, path[1], messages)
    case ("DELETE", "message", 2):
      guard messages.messages[path[1]] != nil else { throw ServerAPIError.messageNotFound }
      return try set(.retentionMessage, call, ["id": .string(path[1])])
    case (_, "default", 3):
      return try defaultMessage(call, .init(productID: path[1], locale: path[2]), messages)
    case (_, "realtime", 2) where path[1] == "url": return try realtimeURL(call, messages)
    case ("POST", "performanceTest", 1): return try await startPerformanceTest(call, messages)
    case ("GET", "performanceTest", 3) where path[1] == "result":
      guard path[2].isUUID else { throw ServerAPIError.invalidRequestId }
      guard let test = performanceTests[path[2]] else { throw ServerAPIError.performanceTestRunNotFound }
      return test.json
    default: throw ServerAPIError.generalBadRequest
    }
  }

  /// Performs an action about the app of the call; the response has no body.
  private func set(_ action: Action, _ call: ServerAPICall, _ members: JSONObject) throws -> JSONObject? {
    var members = members
    members["app"] = .string(call.app.id)
    _ = try perform(action, Parameters(members))
    return nil
  }

  // MARK: Images

  /// Handles Get Image List.
  private func imageList(_ messages: RetentionMessages) -> JSONObject {
    [
      "imageIdentifiers": .array(
        messages.images.sorted { $0.key < $1.key }.map { id, image in
          [
            "imageIdentifier": .string(id), "imageState": .string(image.state.rawValue),
            "imageSize": .string(image.size),
          ]
        })
    ]
  }

  private static let sizes = ["FULL_SIZE", "BULLET_POINT"]
  /// Apple: Retention Messaging API, limits.
  private static let maxImages = 2000
  private static let maxMessages = 2000
  private static let headerPositions = ["ABOVE_BODY", "ABOVE_IMAGE"]
  /// Of the URL for real-time requests.
  private static let maxURLCharacters = 256

  /// Handles Upload Image. The image is checked and not stored.
  private func uploadImage(
    _ call: ServerAPICall, _ id: String, _ messages: RetentionMessages
  ) throws -> JSONObject? {
    guard id.isUUID else { throw ServerAPIError.generalBadRequest }
    let size = call.query["imageSize"] ?? "FULL_SIZE"
    guard Self.sizes.contains(size) else { throw ServerAPIError.invalidImageSize }
    guard let image = RetentionImageFile(call.request.body), image.isAccepted(as: size) else {
      throw ServerAPIError.invalidImage
    }
    guard messages.images[id] == nil else { throw ServerAPIError.imageAlreadyExists }
    guard messages.images.count < Self.maxImages else { throw ServerAPIError.tooManyImages }
    return try set(.retentionImage, call, ["id": .string(id), "imageSize": .string(size)])
  }

  /// Handles Delete Image; an image of a message cannot be deleted.
  private func deleteImage(
    _ call: ServerAPICall, _ id: String, _ messages: RetentionMessages
  ) throws -> JSONObject? {
    guard messages.images[id] != nil else { throw ServerAPIError.imageNotFound }
    guard !messages.messages.values.contains(where: { $0.images.contains(id) }) else {
      throw ServerAPIError.imageInUse
    }
    return try set(.retentionImage, call, ["id": .string(id), "deleted": true])
  }

  // MARK: Messages

  /// Handles Get Message List.
  private func messageList(_ messages: RetentionMessages) -> JSONObject {
    [
      "messageIdentifiers": .array(
        messages.messages.sorted { $0.key < $1.key }.map { id, message in
          ["messageIdentifier": .string(id), "messageState": .string(message.state.rawValue)]
        })
    ]
  }

  /// Handles Upload Message. A message is approved at once, until a tester rejects it.
  private func uploadMessage(
    _ call: ServerAPICall, _ id: String, _ messages: RetentionMessages
  ) throws -> JSONObject? {
    guard id.isUUID else { throw ServerAPIError.generalBadRequest }
    let content = try call.body()
    // Limits of Apple's libraries: UploadMessageRequestBody, UploadMessageImage and BulletPoint.
    guard content["header"]?.stringValue?.isEmpty == false, content["body"]?.stringValue?.isEmpty == false,
      content["headerPosition"]?.stringValue.map(Self.headerPositions.contains) ?? true
    else { throw ServerAPIError.generalBadRequest }
    guard content["header"]?.stringValue?.count ?? 0 <= 66 else { throw ServerAPIError.headerTooLong }
    guard content["body"]?.stringValue?.count ?? 0 <= 144 else { throw ServerAPIError.bodyTooLong }
    let points = content["bulletPoints"]?.arrayValue?.compactMap(\.objectValue) ?? []
    guard points.count <= 5 else { throw ServerAPIError.tooManyBulletPoints }
    guard points.allSatisfy({ $0["text"]?.stringValue?.count ?? 0 <= 66 }) else {
      throw ServerAPIError.bulletPointTooLong
    }
    let image = content["image"]?.objectValue
    let pictures = [image].compactMap(\.self) + points
    guard points.allSatisfy({ $0["text"]?.stringValue?.isEmpty == false }),
      pictures.allSatisfy({ $0["imageIdentifier"]?.stringValue != nil && $0["altText"]?.stringValue != nil })
    else { throw ServerAPIError.generalBadRequest }
    guard pictures.allSatisfy({ $0["altText"]?.stringValue?.count ?? 0 <= 150 }) else {
      throw ServerAPIError.altTextTooLong
    }
    if content["headerPosition"] == "ABOVE_IMAGE", image == nil {
      throw ServerAPIError.aboveImageWithoutImage
    }
    guard messages.messages[id] == nil else { throw ServerAPIError.messageAlreadyExists }
    guard messages.messages.count < Self.maxMessages else { throw ServerAPIError.tooManyMessages }
    let known = RetentionMessages.Message(content: content).images.allSatisfy { messages.images[$0] != nil }
    guard known else { throw ServerAPIError.imageNotFound }
    return try set(.retentionMessage, call, ["id": .string(id), "content": .object(content)])
  }

  /// Handles Configure, Get and Delete Default Message. Only an approved message with approved images can be the
  /// default.
  private func defaultMessage(
    _ call: ServerAPICall, _ key: RetentionMessages.DefaultKey, _ messages: RetentionMessages
  ) throws -> JSONObject? {
    guard world.product(key.productID, of: call.app.id) != nil else {
      throw ServerAPIError.invalidProductId
    }
    // A locale such as `en-US`. Whether Apple supports it is not checked.
    guard (2...12).contains(key.locale.utf8.count) else { throw ServerAPIError.invalidLocale }
    var members: JSONObject = ["productId": .string(key.productID), "locale": .string(key.locale)]
    switch call.request.method {
    case "PUT":
      let id = try call.body()["messageIdentifier"]?.stringValue ?? ""
      guard let message = messages.messages[id] else { throw ServerAPIError.messageNotFound }
      guard message.state == .approved else { throw ServerAPIError.messageNotApproved }
      guard message.images.allSatisfy({ messages.images[$0]?.state == .approved }) else {
        throw ServerAPIError.imageNotApproved
      }
      members["id"] = .string(id)
      return try set(.retentionDefault, call, members)
    case "GET", "DELETE":
      guard let id = messages.defaults[key] else { throw ServerAPIError.defaultMessageNotFound }
      if call.request.method == "GET" { return ["messageIdentifier": .string(id)] }
      return try set(.retentionDefault, call, members)
    default: throw ServerAPIError.generalBadRequest
    }
  }

  /// Handles the calls about the URL for real-time requests; http is allowed for this machine only.
  private func realtimeURL(_ call: ServerAPICall, _ messages: RetentionMessages) throws -> JSONObject? {
    switch call.request.method {
    case "PUT":
      guard let url = try call.body()["realtimeURL"]?.stringValue,
        url.hasPrefix("https://") || url.hasPrefix("http://127.0.0.1"), url.count <= Self.maxURLCharacters
      else { throw ServerAPIError.badRealtimeURL }
      return try set(.realtimeURL, call, ["url": .string(url)])
    case "GET", "DELETE":
      guard let url = messages.realtimeURL else { throw ServerAPIError.realtimeURLNotFound }
      if call.request.method == "GET" { return ["realtimeURL": .string(url)] }
      return try set(.realtimeURL, call, [:])
    default: throw ServerAPIError.generalBadRequest
    }
  }

  // MARK: Real-time requests

  /// Handles Initiate Performance Test: calls the developer's server repeatedly and stores the statistics. Unlike
  /// Apple, it responds when the test is over.
  private func startPerformanceTest(
    _ call: ServerAPICall, _ messages: RetentionMessages
  ) async throws -> JSONObject {
    guard let id = try call.body()["originalTransactionId"]?.stringValue, let number = Int64(id),
      let line = world.lines[number], line.app == call.app.id, line.source == nil
    else { throw ServerAPIError.invalidPerformanceTestRequest }
    guard let url = messages.realtimeURL else { throw ServerAPIError.realtimeURLNotFound }
    guard runningPerformanceTests.insert(call.app.id).inserted else {
      throw ServerAPIError.existingPerformanceTestRun
    }
    defer { runningPerformanceTests.remove(call.app.id) }
    var test = PerformanceTest(target: url)
    let request = Nonce.random().description
    for _ in 0..<PerformanceTest.requests {
      let began = clock.machineNow()
      let result = try await requestRealtimeMessage(from: url, about: line).result
      test.add(result, milliseconds: clock.machineNow().milliseconds(since: began))
    }
    performanceTests[request] = test
    return ["config": .object(PerformanceTest.configuration), "requestId": .string(request)]
  }

  /// Requests a retention message for a subscriber from the developer's server. Without a client for requests, the
  /// response is a failure.
  func requestRealtimeMessage(
    from url: String, about line: SubscriptionLine, locale: String = "en-US"
  ) async throws -> ReceiverResponse {
    var request = world.retentionMessageRequest(
      line, identifier: Nonce.random().description, signed: world.now)
    request["userLocale"] = .string(locale)
    let payload = try authority.signer.sign(payload: request)
    let body = JSONObject([("signedPayload", .string(payload))]).serialized()
    return await poster?.exchange(body, with: url) ?? ReceiverResponse(result: .other)
  }
}

/// The response times of a developer's server for retention messages.
struct PerformanceTest: Sendable {
  /// The number of sequential requests, which is smaller than Apple's.
  static let requests: Int64 = 10
  /// The response time above which a request counts as timed out, in milliseconds.
  private static let threshold: Int64 = 500
  /// The successful requests in a hundred that pass the test.
  private static let successRate: Int64 = 95

  /// The URL.
  let target: String
  private var times: [Int64] = []
  private var failures: [String: Int64] = [:]

  /// A test without a request yet.
  init(target: String) { self.target = target }

  /// Adds the result of one request. A response that is too slow counts as a failure.
  mutating func add(_ result: SendAttemptResult, milliseconds: Int64) {
    times.append(milliseconds)
    if result != .success { failures[result.rawValue, default: 0] += 1 }
    if result == .success, milliseconds > Self.threshold {
      failures[SendAttemptResult.timedOut.rawValue, default: 0] += 1
    }
  }

  /// Apple's `PerformanceTestConfig`.
  static var configuration: JSONObject {
    [
      "maxConcurrentRequests": 1, "totalRequests": JSONValue(requests), "totalDuration": 60_000,
      "responseTimeThreshold": JSONValue(threshold), "successRateThreshold": JSONValue(successRate),
    ]
  }

  /// Apple's PerformanceTestResultResponse.
  var json: JSONObject {
    let count = Int64(max(1, times.count))
    let rate = (count - failures.values.reduce(0, +)) * 100 / count
    return [
      "config": .object(Self.configuration), "target": .string(target),
      "result": rate >= Self.successRate ? "PASS" : "FAIL", "successRate": JSONValue(rate), "numPending": 0,
      "responseTimes": [
        "average": JSONValue(times.reduce(0, +) / count), "p50": percentile(50), "p90": percentile(90),
        "p95": percentile(95), "p99": percentile(99),
      ],
      "failures": .object(
        JSONObject(failures.sorted { $0.key < $1.key }.map { ($0.key, JSONValue($0.value)) })),
    ]
  }

  /// The response time that a percentage of the requests did not exceed.
  private func percentile(_ percent: Int) -> JSONValue {
    let sorted = times.sorted()
    return JSONValue(sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, sorted.count * percent / 100)])
  }
}
