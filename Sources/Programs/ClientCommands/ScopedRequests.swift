internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// A request about one app.
protocol AppRequest: WireMessage {
  var app: String { get set }
}

/// A request about one app in one environment.
protocol ScopedRequest: AppRequest {
  var environment: Environment { get set }
}

/// A request that changes something of an app in an environment.
protocol ChangeRequest: ScopedRequest {
  var actor: String { get set }
  var note: String { get set }
  var idempotencyKey: String { get set }
}

/// A request about one webhook.
protocol WebhookRequest: AppRequest {
  var webhook: String { get set }
  var kind: WebhookKind { get set }
}

/// A request for one page of a list.
protocol PageRequest: WireMessage {
  var pageToken: String { get set }
}

/// The options of commands that call a server about one app.
struct AppOptions: ConnectionOptions {
  @OptionGroup var client: ClientOptions
  @OptionGroup var app: AppOption

  /// Creates a request about the selected app; `build` sets its further fields. It calls the server if no option names
  /// the app.
  func request<Request: AppRequest>(
    _ build: (inout Request) throws -> Void = { _ in }
  ) async throws -> Request {
    var request = Request()
    request.app = try await app.id(client)
    try build(&request)
    return request
  }
}

/// The options of commands that call a server about one app in one environment.
struct ScopedOptions: ConnectionOptions {
  @OptionGroup var client: ClientOptions
  @OptionGroup var scope: ScopeOptions

  /// Creates a request about the selected app and environment; `build` sets its further fields.
  func request<Request: ScopedRequest>(
    _ build: (inout Request) throws -> Void = { _ in }
  ) async throws -> Request {
    var request = Request()
    (request.app, request.environment) = try await appAndEnvironment()
    try build(&request)
    return request
  }

  /// The id of the selected app, and the selected environment; `.unspecified` selects the app's first one.
  func appAndEnvironment() async throws -> (app: String, environment: Environment) {
    (try await scope.app.id(client), try scope.appEnvironment())
  }
}

/// The options of commands that change something of an app in an environment.
struct ScopedChangeOptions: ConnectionOptions {
  @OptionGroup var scoped: ScopedOptions
  @OptionGroup var change: ChangeOptions

  var client: ClientOptions { scoped.client }

  /// Creates a request with the app, the environment, and the actor, note and key of the audit trail; `build` sets its
  /// further fields.
  func request<Request: ChangeRequest>(
    _ build: (inout Request) throws -> Void = { _ in }
  ) async throws -> Request {
    try await scoped.request {
      $0.actor = change.actor
      $0.note = change.note
      $0.idempotencyKey = change.key
      try build(&$0)
    }
  }
}

extension CancelMigrationRequest: AppRequest {}
extension DeleteNoteRequest: AppRequest {}
extension DiscardDeliveriesRequest: WebhookRequest {}
extension GetDeliveryRequest: WebhookRequest {}
extension GetDriftReportRequest: AppRequest, PageRequest {}
extension GetEventRequest: AppRequest {}
extension GetEvidenceRequest: AppRequest {}
extension GetMigrationRequest: AppRequest {}
extension IngestNotificationRequest: AppRequest {}
extension InspectRequest: AppRequest {}
extension ListConsumptionRequestsRequest: AppRequest, PageRequest {}
extension ListDeliveriesRequest: WebhookRequest, PageRequest {}
extension ListMigrationFailuresRequest: AppRequest, PageRequest {}
extension ListMigrationsRequest: AppRequest, PageRequest {}
extension ListRepairsRequest: AppRequest, PageRequest {}
extension ListWebhooksRequest: AppRequest, PageRequest {}
extension LookUpOrderRequest: AppRequest {}
extension PurgeMigrationRequest: AppRequest {}
extension ReprocessNotificationsRequest: AppRequest {}
extension ResendDeliveriesRequest: WebhookRequest {}
extension ResumeWebhookRequest: WebhookRequest {}
extension RevokeGrantRequest: AppRequest {}
extension SubmitReceiptRequest: AppRequest {}
extension UndoTransferRequest: AppRequest {}

extension AcknowledgeFulfillmentRequest: ScopedRequest {}
extension AddNoteRequest: ScopedRequest {}
extension BackfillNotificationsRequest: ScopedRequest {}
extension CheckRequest: ScopedRequest {}
extension CompareNotificationVersionsRequest: ScopedRequest, PageRequest {}
extension DescribeCustomerRequest: ScopedRequest {}
extension EraseCustomerRequest: ScopedRequest {}
extension ExplainRequest: ScopedRequest {}
extension GetAppTransactionInfoRequest: ScopedRequest {}
extension GetCatalogRequest: ScopedRequest, PageRequest {}
extension GetCustomerAttributesRequest: ScopedRequest {}
extension GetCustomerGroupsRequest: ScopedRequest {}
extension GetCustomerRequest: ScopedRequest {}
extension GetCustomerHistoryRequest: ScopedRequest {}
extension GetDefaultRetentionMessageRequest: ScopedRequest {}
extension GetDeviceTrialRequest: ScopedRequest {}
extension GetExternalPurchaseReportRequest: ScopedRequest {}
extension GetMassExtensionStatusRequest: ScopedRequest {}
extension GetProbableFamilyRequest: ScopedRequest {}
extension GetPurchaseRequest: ScopedRequest {}
extension GetRefundHistoryRequest: ScopedRequest, PageRequest {}
extension GetRetentionImagesRequest: ScopedRequest {}
extension GetRetentionMessagesRequest: ScopedRequest {}
extension GetRetentionPerformanceTestRequest: ScopedRequest {}
extension GetRetentionReportRequest: ScopedRequest {}
extension GetRetentionUrlRequest: ScopedRequest {}
extension GetSeatInfoRequest: ScopedRequest {}
extension GetTestNotificationStatusRequest: ScopedRequest {}
extension GetTransactionInfoRequest: ScopedRequest {}
extension GrantRequest: ScopedRequest {}
extension IssueTokenRequest: ScopedRequest {}
extension ListConsentWithdrawalsRequest: ScopedRequest, PageRequest {}
extension ListContradictionsRequest: ScopedRequest, PageRequest {}
extension ListCustomersRequest: ScopedRequest {}
extension ListDisagreementsRequest: ScopedRequest, PageRequest {}
extension ListExternalPurchaseTokensRequest: ScopedRequest, PageRequest {}
extension ListGrantsRequest: ScopedRequest, PageRequest {}
extension ListGroupMembersRequest: ScopedRequest, PageRequest {}
extension ListNotesRequest: ScopedRequest, PageRequest {}
extension ListNotificationsRequest: ScopedRequest, PageRequest {}
extension ListRetentionRequestsRequest: ScopedRequest, PageRequest {}
extension ListSeatsRequest: ScopedRequest, PageRequest {}
extension ListSegmentsRequest: ScopedRequest, PageRequest {}
extension ListTimelineRequest: ScopedRequest, PageRequest {}
extension ListUnclaimedPurchasesRequest: ScopedRequest, PageRequest {}
extension ListUnfulfilledPurchasesRequest: ScopedRequest, PageRequest {}
extension QueryDeviceBitsRequest: ScopedRequest {}
extension RefreshPurchaseRequest: ScopedRequest {}
extension RegisterAppAccountTokenRequest: ScopedRequest {}
extension RequestTestNotificationRequest: ScopedRequest {}
extension SendConsumptionInformationRequest: ScopedRequest {}
extension SetAppAccountTokenRequest: ScopedRequest {}
extension SetConsumptionConsentRequest: ScopedRequest {}
extension SetCustomerAttributesRequest: ScopedRequest {}
extension SignOfferRequest: ScopedRequest {}
extension ValidateDeviceTokenRequest: ScopedRequest {}
extension WatchRequest: ScopedRequest {}
extension WatchSegmentRequest: ScopedRequest {}

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
