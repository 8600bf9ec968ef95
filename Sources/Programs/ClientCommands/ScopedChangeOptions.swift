internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// A request that changes something of an app in an environment.
protocol ChangeRequest {
  var app: String { get set }
  var environment: Environment { get set }
  var actor: String { get set }
  var note: String { get set }
  var idempotencyKey: String { get set }
}

/// The options of commands that change something of an app in an environment.
struct ScopedChangeOptions: ParsableArguments {
  @OptionGroup var client: ClientOptions
  @OptionGroup var scope: ScopeOptions
  @OptionGroup var change: ChangeOptions

  /// The request with the app, the environment, and what the audit trail stores.
  func completed<Request: ChangeRequest>(_ request: Request) async throws -> Request {
    var request = request
    request.app = try await scope.app.id(client)
    request.environment = try scope.appEnvironment()
    request.actor = change.actor
    request.note = change.note
    request.idempotencyKey = change.key
    return request
  }
}

extension CreateSegmentRequest: ChangeRequest {}
extension DeleteSegmentRequest: ChangeRequest {}
extension LinkPurchaseRequest: ChangeRequest {}
extension TransferPurchaseRequest: ChangeRequest {}
extension MergeCustomersRequest: ChangeRequest {}
extension ClaimSeatRequest: ChangeRequest {}
extension AssociateSeatRequest: ChangeRequest {}
extension UnclaimSeatRequest: ChangeRequest {}
extension ExtendRenewalDateRequest: ChangeRequest {}
extension MassExtendRenewalDateRequest: ChangeRequest {}
extension FinishTransactionRequest: ChangeRequest {}
extension SendConsumptionInformationV1Request: ChangeRequest {}
extension SendAdvancedCommerceRequestRequest: ChangeRequest {}
extension SendExternalPurchaseReportRequest: ChangeRequest {}
extension UploadRetentionImageRequest: ChangeRequest {}
extension DeleteRetentionImageRequest: ChangeRequest {}
extension UploadRetentionMessageRequest: ChangeRequest {}
extension DeleteRetentionMessageRequest: ChangeRequest {}
extension SetDefaultRetentionMessageRequest: ChangeRequest {}
extension DeleteDefaultRetentionMessageRequest: ChangeRequest {}
extension SetRetentionUrlRequest: ChangeRequest {}
extension DeleteRetentionUrlRequest: ChangeRequest {}
extension StartRetentionPerformanceTestRequest: ChangeRequest {}
