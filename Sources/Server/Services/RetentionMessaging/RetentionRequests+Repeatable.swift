internal import Wire

/// A request that changes retention messages at Apple.
protocol RetentionChange: RepeatableAppRequest, ActorProviding where Response: AcceptedResponse {
  var app: String { get }
  var environment: Environment { get }
  /// The reason, which the evidence of the call has.
  var note: String { get }
}

/// A response that has the time at which Apple accepted the request.
protocol AcceptedResponse: RepeatedResponse {
  /// When Apple accepted the request, by the clock of the environment.
  var acceptedAt: GoogleProtobuf.Timestamp? { get set }
}

extension UploadRetentionImageRequest: RetentionChange { typealias Response = UploadRetentionImageResponse }
extension DeleteRetentionImageRequest: RetentionChange { typealias Response = DeleteRetentionImageResponse }
extension UploadRetentionMessageRequest: RetentionChange {
  typealias Response = UploadRetentionMessageResponse
}
extension DeleteRetentionMessageRequest: RetentionChange {
  typealias Response = DeleteRetentionMessageResponse
}
extension SetDefaultRetentionMessageRequest: RetentionChange {
  typealias Response = SetDefaultRetentionMessageResponse
}
extension DeleteDefaultRetentionMessageRequest: RetentionChange {
  typealias Response = DeleteDefaultRetentionMessageResponse
}
extension SetRetentionUrlRequest: RetentionChange { typealias Response = SetRetentionUrlResponse }
extension DeleteRetentionUrlRequest: RetentionChange { typealias Response = DeleteRetentionUrlResponse }
extension StartRetentionPerformanceTestRequest: RepeatableAppRequest, ActorProviding {
  typealias Response = StartRetentionPerformanceTestResponse
}

extension UploadRetentionImageResponse: AcceptedResponse {}
extension DeleteRetentionImageResponse: AcceptedResponse {}
extension UploadRetentionMessageResponse: AcceptedResponse {}
extension DeleteRetentionMessageResponse: AcceptedResponse {}
extension SetDefaultRetentionMessageResponse: AcceptedResponse {}
extension DeleteDefaultRetentionMessageResponse: AcceptedResponse {}
extension SetRetentionUrlResponse: AcceptedResponse {}
extension DeleteRetentionUrlResponse: AcceptedResponse {}
extension StartRetentionPerformanceTestResponse: RepeatedResponse {}
