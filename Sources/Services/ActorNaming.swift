internal import RPC
internal import Wire

/// A request that says on whose behalf it is made.
protocol ActorNaming {
  var actor: String { get set }
}

extension ActorNaming {
  /// The request as evidence keeps it: behind the name of the caller that was recognized comes what the caller
  /// says, which alone would prove nothing.
  func by(_ context: CallContext) -> Self {
    guard !context.caller.isEmpty else { return self }
    var request = self
    request.actor = actor.isEmpty ? context.caller : "\(context.caller)/\(actor)"
    return request
  }
}

extension LinkPurchaseRequest: ActorNaming {}
extension MergeCustomersRequest: ActorNaming {}
extension TransferPurchaseRequest: ActorNaming {}
extension UndoTransferRequest: ActorNaming {}
extension EraseCustomerRequest: ActorNaming {}
extension GrantRequest: ActorNaming {}
extension RevokeGrantRequest: ActorNaming {}
extension ExtendRenewalDateRequest: ActorNaming {}
extension MassExtendRenewalDateRequest: ActorNaming {}
extension SendConsumptionInformationRequest: ActorNaming {}
extension SetConsumptionConsentRequest: ActorNaming {}
extension SetAppAccountTokenRequest: ActorNaming {}
extension ClaimSeatRequest: ActorNaming {}
extension AssociateSeatRequest: ActorNaming {}
extension UnclaimSeatRequest: ActorNaming {}
extension RequestTestNotificationRequest: ActorNaming {}
