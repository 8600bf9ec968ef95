internal import Wire

/// The methods that the pages call. A test compares the types with the contract.
enum Calls {
  // Looking.
  static let findCustomers = ContractCall<FindCustomersRequest, FindCustomersResponse>(
    "CustomerService/FindCustomers")
  static let describeCustomer = ContractCall<DescribeCustomerRequest, DescribeCustomerResponse>(
    "CustomerService/DescribeCustomer")
  static let getCustomer = ContractCall<GetCustomerRequest, GetCustomerResponse>(
    "EntitlementService/GetCustomer")
  static let batchCheck = ContractCall<BatchCheckRequest, BatchCheckResponse>(
    "EntitlementService/BatchCheck")
  static let getCustomerHistory = ContractCall<GetCustomerHistoryRequest, GetCustomerHistoryResponse>(
    "CustomerService/GetCustomerHistory")
  static let explain = ContractCall<ExplainRequest, ExplainResponse>("EntitlementService/Explain")
  static let watch = ContractCall<WatchRequest, WatchResponse>("EntitlementService/Watch")
  static let listTimeline = ContractCall<ListTimelineRequest, ListTimelineResponse>(
    "EntitlementService/ListTimeline")
  static let getProbableFamily = ContractCall<GetProbableFamilyRequest, GetProbableFamilyResponse>(
    "EntitlementService/GetProbableFamily")
  static let listUnfulfilledPurchases = ContractCall<
    ListUnfulfilledPurchasesRequest, ListUnfulfilledPurchasesResponse
  >("EntitlementService/ListUnfulfilledPurchases")
  static let listNotes = ContractCall<ListNotesRequest, ListNotesResponse>("CustomerService/ListNotes")
  static let getCustomerAttributes = ContractCall<
    GetCustomerAttributesRequest, GetCustomerAttributesResponse
  >(
    "CustomerService/GetCustomerAttributes")
  static let listContradictions = ContractCall<ListContradictionsRequest, ListContradictionsResponse>(
    "CustomerService/ListContradictions")
  static let inspect = ContractCall<InspectRequest, InspectResponse>("ReceiptService/Inspect")
  static let getPurchase = ContractCall<GetPurchaseRequest, GetPurchaseResponse>(
    "CustomerService/GetPurchase")
  static let getEvidence = ContractCall<GetEvidenceRequest, GetEvidenceResponse>(
    "CustomerService/GetEvidence")
  static let getEvent = ContractCall<GetEventRequest, GetEventResponse>("CustomerService/GetEvent")
  static let listConsumptionRequests = ContractCall<
    ListConsumptionRequestsRequest, ListConsumptionRequestsResponse
  >(
    "AppStoreService/ListConsumptionRequests")
  static let listConsentWithdrawals = ContractCall<
    ListConsentWithdrawalsRequest, ListConsentWithdrawalsResponse
  >(
    "AppStoreService/ListConsentWithdrawals")
  static let listUnclaimedPurchases = ContractCall<
    ListUnclaimedPurchasesRequest, ListUnclaimedPurchasesResponse
  >(
    "EntitlementService/ListUnclaimedPurchases")
  static let listWebhooks = ContractCall<ListWebhooksRequest, ListWebhooksResponse>(
    "WebhookService/ListWebhooks")
  static let listDeliveries = ContractCall<ListDeliveriesRequest, ListDeliveriesResponse>(
    "WebhookService/ListDeliveries")
  static let getDelivery = ContractCall<GetDeliveryRequest, GetDeliveryResponse>(
    "WebhookService/GetDelivery")
  static let listNotifications = ContractCall<ListNotificationsRequest, ListNotificationsResponse>(
    "NotificationService/ListNotifications")
  static let listRepairs = ContractCall<ListRepairsRequest, ListRepairsResponse>(
    "NotificationService/ListRepairs")
  static let getDriftReport = ContractCall<GetDriftReportRequest, GetDriftReportResponse>(
    "NotificationService/GetDriftReport")
  static let listGrants = ContractCall<ListGrantsRequest, ListGrantsResponse>("EntitlementService/ListGrants")
  static let listDisagreements = ContractCall<ListDisagreementsRequest, ListDisagreementsResponse>(
    "ReceiptService/ListDisagreements")
  static let listMigrations = ContractCall<ListMigrationsRequest, ListMigrationsResponse>(
    "ReceiptService/ListMigrations")
  static let listMigrationFailures = ContractCall<
    ListMigrationFailuresRequest, ListMigrationFailuresResponse
  >("ReceiptService/ListMigrationFailures")
  static let listAuditEntries = ContractCall<ListAuditEntriesRequest, ListAuditEntriesResponse>(
    "AuditService/ListAuditEntries")
  static let listSegments = ContractCall<ListSegmentsRequest, ListSegmentsResponse>(
    "SegmentService/ListSegments")
  static let listCustomers = ContractCall<ListCustomersRequest, ListCustomersResponse>(
    "SegmentService/ListCustomers")
  static let getCatalog = ContractCall<GetCatalogRequest, GetCatalogResponse>("CatalogService/GetCatalog")
  static let queryReport = ContractCall<QueryReportRequest, QueryReportResponse>("ReportService/QueryReport")
  static let listReportPurchases = ContractCall<
    ListReportPurchasesRequest, ListReportPurchasesResponse
  >("ReportService/ListReportPurchases")
  static let getReconciliation = ContractCall<GetReconciliationRequest, GetReconciliationResponse>(
    "ReportService/GetReconciliation")
  static let whoAmI = ContractCall<WhoAmIRequest, WhoAmIResponse>("StatusService/WhoAmI")
  static let getStatus = ContractCall<GetStatusRequest, GetStatusResponse>("StatusService/GetStatus")
  static let getConfiguration = ContractCall<GetConfigurationRequest, GetConfigurationResponse>(
    "StatusService/GetConfiguration")

  // Acting.
  static let addNote = ContractCall<AddNoteRequest, AddNoteResponse>("CustomerService/AddNote")
  static let deleteNote = ContractCall<DeleteNoteRequest, DeleteNoteResponse>("CustomerService/DeleteNote")
  static let setCustomerAttributes = ContractCall<
    SetCustomerAttributesRequest, SetCustomerAttributesResponse
  >(
    "CustomerService/SetCustomerAttributes")
  static let grant = ContractCall<GrantRequest, GrantResponse>("EntitlementService/Grant")
  static let revokeGrant = ContractCall<RevokeGrantRequest, RevokeGrantResponse>(
    "EntitlementService/RevokeGrant")
  static let linkPurchase = ContractCall<LinkPurchaseRequest, LinkPurchaseResponse>(
    "EntitlementService/LinkPurchase")
  static let transferPurchase = ContractCall<TransferPurchaseRequest, TransferPurchaseResponse>(
    "EntitlementService/TransferPurchase")
  static let mergeCustomers = ContractCall<MergeCustomersRequest, MergeCustomersResponse>(
    "EntitlementService/MergeCustomers")
  static let undoTransfer = ContractCall<UndoTransferRequest, UndoTransferResponse>(
    "EntitlementService/UndoTransfer")
  static let eraseCustomer = ContractCall<EraseCustomerRequest, EraseCustomerResponse>(
    "EntitlementService/EraseCustomer")
  static let refreshPurchase = ContractCall<RefreshPurchaseRequest, RefreshPurchaseResponse>(
    "AppStoreService/RefreshPurchase")
  static let extendRenewalDate = ContractCall<ExtendRenewalDateRequest, ExtendRenewalDateResponse>(
    "AppStoreService/ExtendRenewalDate")
  static let sendConsumptionInformation = ContractCall<
    SendConsumptionInformationRequest, SendConsumptionInformationResponse
  >("AppStoreService/SendConsumptionInformation")
  static let setAppAccountToken = ContractCall<SetAppAccountTokenRequest, SetAppAccountTokenResponse>(
    "AppStoreService/SetAppAccountToken")
  static let settleConsentWithdrawal = ContractCall<
    SettleConsentWithdrawalRequest, SettleConsentWithdrawalResponse
  >("AppStoreService/SettleConsentWithdrawal")
  static let getRefundHistory = ContractCall<GetRefundHistoryRequest, GetRefundHistoryResponse>(
    "AppStoreService/GetRefundHistory")
  static let lookUpOrder = ContractCall<LookUpOrderRequest, LookUpOrderResponse>(
    "AppStoreService/LookUpOrder")
  static let resendDeliveries = ContractCall<ResendDeliveriesRequest, ResendDeliveriesResponse>(
    "WebhookService/ResendDeliveries")
  static let discardDeliveries = ContractCall<DiscardDeliveriesRequest, DiscardDeliveriesResponse>(
    "WebhookService/DiscardDeliveries")
  static let massExtendRenewalDate = ContractCall<
    MassExtendRenewalDateRequest, MassExtendRenewalDateResponse
  >("AppStoreService/MassExtendRenewalDate")
  static let setConsumptionConsent = ContractCall<
    SetConsumptionConsentRequest, SetConsumptionConsentResponse
  >("AppStoreService/SetConsumptionConsent")
  static let reprocessNotifications = ContractCall<
    ReprocessNotificationsRequest, ReprocessNotificationsResponse
  >("NotificationService/ReprocessNotifications")
  static let backfillNotifications = ContractCall<
    BackfillNotificationsRequest, BackfillNotificationsResponse
  >("NotificationService/BackfillNotifications")
  static let cancelMigration = ContractCall<CancelMigrationRequest, CancelMigrationResponse>(
    "ReceiptService/CancelMigration")
  static let resumeWebhook = ContractCall<ResumeWebhookRequest, ResumeWebhookResponse>(
    "WebhookService/ResumeWebhook")
}
