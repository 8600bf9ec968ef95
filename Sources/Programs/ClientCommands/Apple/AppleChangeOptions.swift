internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// A request that changes something at Apple for an app in an environment.
protocol AppleChangeRequest {
  var app: String { get set }
  var environment: Environment { get set }
  var actor: String { get set }
  var note: String { get set }
  var idempotencyKey: String { get set }
}

/// The options of commands that change something at Apple.
struct AppleChangeOptions: ParsableArguments {
  @OptionGroup var client: ClientOptions
  @OptionGroup var scope: ScopeOptions
  @OptionGroup var change: ChangeOptions

  /// The request with the app, the environment, and what the audit trail stores.
  func completed<Request: AppleChangeRequest>(_ request: Request) async throws -> Request {
    var request = request
    request.app = try await scope.app.id(client)
    request.environment = try scope.appEnvironment()
    request.actor = change.actor
    request.note = change.note
    request.idempotencyKey = change.key
    return request
  }
}

extension FinishTransactionRequest: AppleChangeRequest {}
extension SendConsumptionInformationV1Request: AppleChangeRequest {}
extension SendAdvancedCommerceRequestRequest: AppleChangeRequest {}
extension SendExternalPurchaseReportRequest: AppleChangeRequest {}
extension UploadRetentionImageRequest: AppleChangeRequest {}
extension DeleteRetentionImageRequest: AppleChangeRequest {}
extension UploadRetentionMessageRequest: AppleChangeRequest {}
extension DeleteRetentionMessageRequest: AppleChangeRequest {}
extension SetDefaultRetentionMessageRequest: AppleChangeRequest {}
extension DeleteDefaultRetentionMessageRequest: AppleChangeRequest {}
extension SetRetentionUrlRequest: AppleChangeRequest {}
extension DeleteRetentionUrlRequest: AppleChangeRequest {}
extension StartRetentionPerformanceTestRequest: AppleChangeRequest {}
