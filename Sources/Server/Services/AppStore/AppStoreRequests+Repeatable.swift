internal import Wire

// The requests about single purchases and reports that change data at Apple.

extension FinishTransactionRequest: RepeatableRequest, ActorProviding {
  typealias Response = FinishTransactionResponse
  var namedCustomers: [String] { [] }
}

extension SendConsumptionInformationV1Request: RepeatableRequest, ActorProviding {
  typealias Response = SendConsumptionInformationV1Response
  var namedCustomers: [String] { [] }
}

extension SendAdvancedCommerceRequestRequest: RepeatableRequest, ActorProviding {
  typealias Response = SendAdvancedCommerceRequestResponse
  var namedCustomers: [String] { [] }
}

extension SendExternalPurchaseReportRequest: RepeatableRequest, ActorProviding {
  typealias Response = SendExternalPurchaseReportResponse
  var namedCustomers: [String] { [] }
}

extension FinishTransactionResponse: RepeatedResponse {}
extension SendConsumptionInformationV1Response: RepeatedResponse {}
extension SendAdvancedCommerceRequestResponse: RepeatedResponse {}
extension SendExternalPurchaseReportResponse: RepeatedResponse {}
