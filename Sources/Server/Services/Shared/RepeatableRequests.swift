internal import Wire

// The requests with idempotency keys, except those that have an extension beside their handlers.

extension GrantRequest: RepeatableRequest {
  typealias Response = GrantResponse
  var namedCustomers: [String] { [customerId] }
}

extension LinkPurchaseRequest: RepeatableRequest {
  typealias Response = LinkPurchaseResponse
  var namedCustomers: [String] { [customerId] }
}

extension MergeCustomersRequest: RepeatableRequest {
  typealias Response = MergeCustomersResponse
  var namedCustomers: [String] { [fromCustomerId, intoCustomerId] }
}

extension TransferPurchaseRequest: RepeatableRequest {
  typealias Response = TransferPurchaseResponse
  var namedCustomers: [String] { [fromCustomerId, toCustomerId] }
}

extension UndoTransferRequest: RepeatableRequest {
  typealias Response = UndoTransferResponse
  var namedCustomers: [String] { [] }
}

extension ClaimSeatRequest: RepeatableRequest {
  typealias Response = ClaimSeatResponse
  var namedCustomers: [String] { [customerId] }
}

extension ExtendRenewalDateRequest: RepeatableRequest {
  typealias Response = ExtendRenewalDateResponse
  var namedCustomers: [String] { [] }
}

extension MassExtendRenewalDateRequest: RepeatableRequest {
  typealias Response = MassExtendRenewalDateResponse
  var namedCustomers: [String] { [] }
}

extension StartMigrationRequest: RepeatableRequest {
  typealias Response = StartMigrationResponse
  var namedCustomers: [String] { [] }
}

extension RegisterAppAccountTokenRequest: RepeatableRequest {
  typealias Response = RegisterAppAccountTokenResponse
  var namedCustomers: [String] { [customerId] }
}

extension RevokeGrantRequest: RepeatableRequest {
  typealias Response = RevokeGrantResponse
  var namedCustomers: [String] { [] }
}

extension AddNoteRequest: RepeatableRequest {
  typealias Response = AddNoteResponse
  var namedCustomers: [String] { [customerId] }
}

extension DeleteNoteRequest: RepeatableRequest {
  typealias Response = DeleteNoteResponse
  var namedCustomers: [String] { [] }
}

extension SetCustomerAttributesRequest: RepeatableRequest {
  typealias Response = SetCustomerAttributesResponse
  var namedCustomers: [String] { [customerId] }
}

extension SetConsumptionConsentRequest: RepeatableRequest {
  typealias Response = SetConsumptionConsentResponse
  var namedCustomers: [String] { [customerId] }
}

extension SendConsumptionInformationRequest: RepeatableRequest {
  typealias Response = SendConsumptionInformationResponse
  var namedCustomers: [String] { [] }
}

extension SetAppAccountTokenRequest: RepeatableRequest {
  typealias Response = SetAppAccountTokenResponse
  var namedCustomers: [String] { [] }
}

extension AssociateSeatRequest: RepeatableRequest {
  typealias Response = AssociateSeatResponse
  var namedCustomers: [String] { [customerId] }
}

extension UnclaimSeatRequest: RepeatableRequest {
  typealias Response = UnclaimSeatResponse
  var namedCustomers: [String] { [] }
}

extension RequestTestNotificationRequest: RepeatableRequest {
  typealias Response = RequestTestNotificationResponse
  var namedCustomers: [String] { [] }
}

extension ResendDeliveriesRequest: RepeatableRequest {
  typealias Response = ResendDeliveriesResponse
  var namedCustomers: [String] { [] }
}

extension CreateSegmentRequest: RepeatableRequest {
  typealias Response = CreateSegmentResponse
  var namedCustomers: [String] { [] }
}

extension DeleteSegmentRequest: RepeatableRequest {
  typealias Response = DeleteSegmentResponse
  var namedCustomers: [String] { [] }
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
