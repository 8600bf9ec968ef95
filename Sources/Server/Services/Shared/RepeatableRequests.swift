internal import Wire

// The requests with idempotency keys, except those that have an extension beside their handlers.

extension GrantRequest: RepeatableCustomerRequest { typealias Response = GrantResponse }
extension LinkPurchaseRequest: RepeatableCustomerRequest { typealias Response = LinkPurchaseResponse }
extension MergeCustomersRequest: RepeatableRequest {
  typealias Response = MergeCustomersResponse
  var namedCustomers: [String] { [fromCustomerId, intoCustomerId] }
}

extension TransferPurchaseRequest: RepeatableRequest {
  typealias Response = TransferPurchaseResponse
  var namedCustomers: [String] { [fromCustomerId, toCustomerId] }
}

extension UndoTransferRequest: RepeatableAppRequest { typealias Response = UndoTransferResponse }
extension ClaimSeatRequest: RepeatableCustomerRequest { typealias Response = ClaimSeatResponse }
extension ExtendRenewalDateRequest: RepeatableAppRequest { typealias Response = ExtendRenewalDateResponse }
extension MassExtendRenewalDateRequest: RepeatableAppRequest {
  typealias Response = MassExtendRenewalDateResponse
}
extension StartMigrationRequest: RepeatableAppRequest { typealias Response = StartMigrationResponse }
extension RegisterAppAccountTokenRequest: RepeatableCustomerRequest {
  typealias Response = RegisterAppAccountTokenResponse
}
extension RevokeGrantRequest: RepeatableAppRequest { typealias Response = RevokeGrantResponse }
extension AddNoteRequest: RepeatableCustomerRequest { typealias Response = AddNoteResponse }
extension DeleteNoteRequest: RepeatableAppRequest { typealias Response = DeleteNoteResponse }
extension SetCustomerAttributesRequest: RepeatableCustomerRequest {
  typealias Response = SetCustomerAttributesResponse
}
extension SetConsumptionConsentRequest: RepeatableCustomerRequest {
  typealias Response = SetConsumptionConsentResponse
}
extension SendConsumptionInformationRequest: RepeatableAppRequest {
  typealias Response = SendConsumptionInformationResponse
}
extension SetAppAccountTokenRequest: RepeatableAppRequest { typealias Response = SetAppAccountTokenResponse }
extension AssociateSeatRequest: RepeatableCustomerRequest { typealias Response = AssociateSeatResponse }
extension UnclaimSeatRequest: RepeatableAppRequest { typealias Response = UnclaimSeatResponse }
extension RequestTestNotificationRequest: RepeatableAppRequest {
  typealias Response = RequestTestNotificationResponse
}
extension ResendDeliveriesRequest: RepeatableAppRequest { typealias Response = ResendDeliveriesResponse }
extension CreateSegmentRequest: RepeatableAppRequest { typealias Response = CreateSegmentResponse }
extension DeleteSegmentRequest: RepeatableAppRequest { typealias Response = DeleteSegmentResponse }
extension FinishTransactionRequest: RepeatableAppRequest, ActorProviding {
  typealias Response = FinishTransactionResponse
}
extension SendConsumptionInformationV1Request: RepeatableAppRequest, ActorProviding {
  typealias Response = SendConsumptionInformationV1Response
}
extension SendAdvancedCommerceRequestRequest: RepeatableAppRequest, ActorProviding {
  typealias Response = SendAdvancedCommerceRequestResponse
}
extension SendExternalPurchaseReportRequest: RepeatableAppRequest, ActorProviding {
  typealias Response = SendExternalPurchaseReportResponse
}

extension GrantResponse: RepeatedResponse {}
extension RegisterAppAccountTokenResponse: RepeatedResponse {}
extension RevokeGrantResponse: RepeatedResponse {}
extension AddNoteResponse: RepeatedResponse {}
extension DeleteNoteResponse: RepeatedResponse {}
extension SetCustomerAttributesResponse: RepeatedResponse {}
extension SetConsumptionConsentResponse: RepeatedResponse {}
extension SendConsumptionInformationResponse: RepeatedResponse {}
extension SetAppAccountTokenResponse: RepeatedResponse {}
extension AssociateSeatResponse: RepeatedResponse {}
extension UnclaimSeatResponse: RepeatedResponse {}
extension RequestTestNotificationResponse: RepeatedResponse {}
extension ResendDeliveriesResponse: RepeatedResponse {}
extension LinkPurchaseResponse: RepeatedResponse {}
extension MergeCustomersResponse: RepeatedResponse {}
extension TransferPurchaseResponse: RepeatedResponse {}
extension UndoTransferResponse: RepeatedResponse {}
extension ClaimSeatResponse: RepeatedResponse {}
extension ExtendRenewalDateResponse: RepeatedResponse {}
extension MassExtendRenewalDateResponse: RepeatedResponse {}
extension StartMigrationResponse: RepeatedResponse {}
extension CreateSegmentResponse: RepeatedResponse {}
extension DeleteSegmentResponse: RepeatedResponse {}
extension FinishTransactionResponse: RepeatedResponse {}
extension SendConsumptionInformationV1Response: RepeatedResponse {}
extension SendAdvancedCommerceRequestResponse: RepeatedResponse {}
extension SendExternalPurchaseReportResponse: RepeatedResponse {}
