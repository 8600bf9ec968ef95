internal import RPC
internal import Wire

/// A request that says on whose behalf it is made.
protocol ActorProviding {
  var actor: String { get set }
}

extension ActorProviding {
  /// The request as evidence keeps it: behind the name of the caller that was recognized comes what the caller
  /// says, which alone would prove nothing.
  func by(_ context: CallContext) -> Self {
    guard !context.caller.isEmpty else { return self }
    var request = self
    request.actor = actor.isEmpty ? context.caller : "\(context.caller)/\(actor)"
    return request
  }
}

extension LinkPurchaseRequest: ActorProviding {}
extension MergeCustomersRequest: ActorProviding {}
extension TransferPurchaseRequest: ActorProviding {}
extension UndoTransferRequest: ActorProviding {}
extension EraseCustomerRequest: ActorProviding {}
extension GrantRequest: ActorProviding {}
extension RevokeGrantRequest: ActorProviding {}
extension ExtendRenewalDateRequest: ActorProviding {}
extension MassExtendRenewalDateRequest: ActorProviding {}
extension SendConsumptionInformationRequest: ActorProviding {}
extension SetConsumptionConsentRequest: ActorProviding {}
extension SetAppAccountTokenRequest: ActorProviding {}
extension ClaimSeatRequest: ActorProviding {}
extension AssociateSeatRequest: ActorProviding {}
extension UnclaimSeatRequest: ActorProviding {}
extension RequestTestNotificationRequest: ActorProviding {}
