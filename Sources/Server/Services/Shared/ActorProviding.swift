internal import RPC
internal import Wire

/// A request that names the person or system for which the caller acts.
protocol ActorProviding {
  /// The person or system, as the caller states it; empty if it states none.
  var actor: String { get set }
}

extension ActorProviding {
  /// The request as evidence stores it: `CALLER/ACTOR`, so that no caller can pass its action off as that of another. A
  /// call without authentication keeps the stated actor.
  func attributed(to call: CallContext) -> Self {
    guard !call.caller.isEmpty else { return self }
    var request = self
    request.actor = actor.isEmpty ? call.caller : "\(call.caller)/\(actor)"
    return request
  }
}

extension LinkPurchaseRequest: ActorProviding {}
extension RegisterAppAccountTokenRequest: ActorProviding {}
extension AcknowledgeFulfillmentRequest: ActorProviding {}
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
extension AddNoteRequest: ActorProviding {}
extension DeleteNoteRequest: ActorProviding {}
extension SetCustomerAttributesRequest: ActorProviding {}
extension SetAppAccountTokenRequest: ActorProviding {}
extension ClaimSeatRequest: ActorProviding {}
extension AssociateSeatRequest: ActorProviding {}
extension UnclaimSeatRequest: ActorProviding {}
extension RequestTestNotificationRequest: ActorProviding {}
extension StartMigrationRequest: ActorProviding {}
extension CreateSegmentRequest: ActorProviding {}
extension DeleteSegmentRequest: ActorProviding {}
