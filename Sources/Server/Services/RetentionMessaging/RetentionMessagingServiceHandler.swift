internal import AppStore
internal import AppStoreClient
internal import JSON
internal import RPC
internal import Wire

/// `entitled.v1.RetentionMessagingService`: the images, messages and settings of Apple's Retention Messaging API. Each
/// change is stored as evidence; what Apple has is stored nowhere here, so each read calls Apple.
struct RetentionMessagingServiceHandler: RetentionMessagingServiceMethods {
  let context: ServiceContext
  /// Has the client, and the records of calls that change data at Apple.
  let appStore: AppStoreServiceHandler

  /// Returns Apple's words for the states of images unchanged, because Apple may add some.
  func getRetentionImages(
    _ request: GetRetentionImagesRequest, _ call: CallContext
  ) async throws(Status) -> GetRetentionImagesResponse {
    let answer: GetImageListResponse = try await fetch(.imageList, request.app, request.environment, call)
    return .with { response in
      response.images = (answer.imageIdentifiers ?? []).map { image in
        .with {
          $0.imageIdentifier = image.imageIdentifier ?? ""
          $0.state = image.imageState ?? ""
          $0.imageSize = image.imageSize ?? ""
        }
      }
    }
  }

  /// Returns the ids and states of the uploaded messages; Apple returns no texts.
  func getRetentionMessages(
    _ request: GetRetentionMessagesRequest, _ call: CallContext
  ) async throws(Status) -> GetRetentionMessagesResponse {
    let answer: GetMessageListResponse = try await fetch(
      .messageList, request.app, request.environment, call)
    return .with { response in
      response.messages = (answer.messageIdentifiers ?? []).map { message in
        .with {
          $0.messageIdentifier = message.messageIdentifier ?? ""
          $0.state = message.messageState ?? ""
        }
      }
    }
  }

  /// Returns the id of the message that Apple shows for a product and locale if the service gives no answer.
  func getDefaultRetentionMessage(
    _ request: GetDefaultRetentionMessageRequest, _ call: CallContext
  ) async throws(Status) -> GetDefaultRetentionMessageResponse {
    try RequestValidation.given(request.productId, "product_id")
    try RequestValidation.given(request.locale, "locale")
    let answer: DefaultConfigurationResponse = try await fetch(
      .defaultMessage(ofProduct: request.productId, locale: request.locale), request.app,
      request.environment, call)
    return .with { $0.messageIdentifier = answer.messageIdentifier ?? "" }
  }

  /// Returns the URL that Apple calls, as Apple has it; it may be another service's.
  func getRetentionUrl(
    _ request: GetRetentionUrlRequest, _ call: CallContext
  ) async throws(Status) -> GetRetentionUrlResponse {
    let answer: RealtimeUrlResponse = try await fetch(.realtimeURL, request.app, request.environment, call)
    return .with { $0.url = answer.realtimeURL ?? "" }
  }

  /// Returns the result of a test, in milliseconds; empty values while Apple has none.
  func getRetentionPerformanceTest(
    _ request: GetRetentionPerformanceTestRequest, _ call: CallContext
  ) async throws(Status) -> GetRetentionPerformanceTestResponse {
    try RequestValidation.given(request.requestId, "request_id")
    let answer: PerformanceTestResultResponse = try await fetch(
      .performanceTestResult(requestID: request.requestId), request.app, request.environment, call)
    return .with { response in
      response.result = answer.result ?? ""
      response.target = answer.target ?? ""
      response.successRate = answer.successRate ?? 0
      response.pending = answer.numPending ?? 0
      response.config = answer.config.map(RetentionPerformanceTestConfig.init)
      response.responseTimes = answer.responseTimes.map(RetentionResponseTimes.init)
      response.failures = (answer.failures ?? [:]).map { failure in
        .with {
          $0.cause = failure.name
          $0.count = failure.value.int64Value ?? 0
        }
      }
    }
  }

  /// Starts Apple's performance test of the configured URL, which runs after the call; `GetRetentionPerformanceTest`
  /// has its result.
  func startRetentionPerformanceTest(
    _ request: StartRetentionPerformanceTestRequest, _ call: CallContext
  ) async throws(Status) -> StartRetentionPerformanceTestResponse {
    let (request, once) = context.attributed(request, to: call)
    return try await once.runExclusively(context.appleLocks) { () async throws(Status) in
      try RequestValidation.given(request.originalTransactionId, "original_transaction_id")
      return try await appStore.changeOnce(
        once, .performanceTest(originalTransactionID: request.originalTransactionId),
        AppStoreServiceHandler.Record(
          "StartRetentionPerformanceTest", about: request.originalTransactionId, by: request.actor,
          note: request.note),
        try appStore.call(request.app, request.environment, call)
      ) { (answer: PerformanceTestResponse) in
        .with {
          $0.requestId = answer.requestId ?? ""
          $0.config = answer.config.map(RetentionPerformanceTestConfig.init)
        }
      }
    }
  }

  /// Calls Apple without a change.
  private func fetch<Response: DecodedPayload>(
    _ appleRequest: AppStoreRequest, _ app: String, _ environment: Wire.Environment, _ call: CallContext
  ) async throws(Status) -> Response {
    try await appStore.send(appleRequest, try appStore.call(app, environment, call))
  }
}

extension RetentionPerformanceTestConfig {
  fileprivate init(_ config: PerformanceTestConfig) {
    self.init()
    maxConcurrentRequests = config.maxConcurrentRequests ?? 0
    totalRequests = config.totalRequests ?? 0
    totalDurationMs = config.totalDuration ?? 0
    responseTimeThresholdMs = config.responseTimeThreshold ?? 0
    successRateThreshold = config.successRateThreshold ?? 0
  }
}

extension RetentionResponseTimes {
  fileprivate init(_ times: PerformanceTestResponseTimes) {
    self.init()
    averageMs = times.average ?? 0
    p50Ms = times.p50 ?? 0
    p90Ms = times.p90 ?? 0
    p95Ms = times.p95 ?? 0
    p99Ms = times.p99 ?? 0
  }
}
