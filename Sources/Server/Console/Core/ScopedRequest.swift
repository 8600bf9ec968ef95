internal import Wire

/// A request about one app and environment.
protocol ScopedRequest: WireMessage {
  var app: String { get set }
  var environment: Wire.Environment { get set }
}

/// A request about one customer.
protocol CustomerRequest: ScopedRequest {
  var customerId: String { get set }
}

/// A request for one page of a list.
protocol ListRequest: ScopedRequest {
  var pageToken: String { get set }
  /// The number of rows, as the page shows them.
  var pageSize: Int32 { get set }
}

extension CustomerRequest {
  /// Creates a request about the customer `id` in `scope`; `build` sets its further fields.
  static func about(
    _ id: String, in scope: Scope, _ build: (inout Self) -> Void = { _ in }
  ) -> Self {
    .with {
      $0.app = scope.app
      $0.environment = scope.environment
      $0.customerId = id
      build(&$0)
    }
  }
}

extension ListRequest {
  /// Creates a request for `rows` in `scope`; `build` sets its further fields.
  static func page(
    _ rows: RequestedRows, in scope: Scope, _ build: (inout Self) -> Void = { _ in }
  ) -> Self {
    .with {
      $0.app = scope.app
      $0.environment = scope.environment
      $0.pageToken = rows.token
      $0.pageSize = rows.size
      build(&$0)
    }
  }
}

extension DescribeCustomerRequest: CustomerRequest {}
extension ExplainRequest: CustomerRequest {}
extension GetCustomerRequest: CustomerRequest {}
extension GetCustomerAttributesRequest: CustomerRequest {}
extension GetCustomerHistoryRequest: CustomerRequest {}
extension GetProbableFamilyRequest: CustomerRequest {}
extension ListNotesRequest: CustomerRequest {}
extension ListTimelineRequest: CustomerRequest {}
extension ListUnfulfilledPurchasesRequest: CustomerRequest {}
extension ListConsentWithdrawalsRequest: CustomerRequest, ListRequest {}
extension ListConsumptionRequestsRequest: CustomerRequest, ListRequest {}
extension ListContradictionsRequest: CustomerRequest, ListRequest {}
extension ListDisagreementsRequest: ListRequest {}
extension ListUnclaimedPurchasesRequest: ListRequest {}
