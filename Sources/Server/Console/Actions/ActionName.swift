internal import ContractCalls
internal import Pages

/// The things that a person can do, with their names in addresses.
enum ActionName: String, Sendable, CaseIterable {
  case grant, revoke, link, transfer, merge, undo, refresh, extend, erase
  case answerRefund = "answer-refund"
  case addNote = "add-note"
  case deleteNote = "delete-note"
  case setAttribute = "set-attribute"
  case lookUpOrder = "look-up-order"
  case resend, discard
  case resumeWebhook = "resume-webhook"
  case makeGood = "make-good"
  case undoBatch = "undo-batch"
  case extendAll = "extend-all"
  case consent, reprocess, backfill
  case setToken = "set-token"
  case settleConsent = "settle-consent"
  case cancelMigration = "cancel-migration"

  /// The action as a verb with its object.
  var title: String { Text.title(of: self) }

  /// Whether nothing can revert it.
  var isIrreversible: Bool {
    [.erase, .discard, .extend, .extendAll, .answerRefund, .settleConsent].contains(self)
  }

  /// Whether it belongs to the work lists, and not to the page of a customer.
  var isWork: Bool {
    switch self {
    case .answerRefund, .resend, .discard, .resumeWebhook, .makeGood, .undoBatch, .extendAll, .settleConsent,
      .reprocess, .backfill, .cancelMigration:
      true
    case .grant, .revoke, .link, .transfer, .merge, .undo, .refresh, .extend, .erase, .addNote, .deleteNote,
      .setAttribute, .lookUpOrder, .consent, .setToken:
      false
    }
  }

  /// The method that does it.
  var path: String {
    switch self {
    case .grant: Calls.grant.path
    case .revoke: Calls.revokeGrant.path
    case .link: Calls.linkPurchase.path
    case .transfer: Calls.transferPurchase.path
    case .merge: Calls.mergeCustomers.path
    case .undo: Calls.undoTransfer.path
    case .refresh: Calls.refreshPurchase.path
    case .extend: Calls.extendRenewalDate.path
    case .erase: Calls.eraseCustomer.path
    case .answerRefund: Calls.sendConsumptionInformation.path
    case .addNote: Calls.addNote.path
    case .deleteNote: Calls.deleteNote.path
    case .setAttribute: Calls.setCustomerAttributes.path
    case .lookUpOrder: Calls.lookUpOrder.path
    case .resend: Calls.resendDeliveries.path
    case .discard: Calls.discardDeliveries.path
    case .resumeWebhook: Calls.resumeWebhook.path
    case .makeGood: Calls.grant.path
    case .undoBatch: Calls.revokeGrant.path
    case .extendAll: Calls.massExtendRenewalDate.path
    case .consent: Calls.setConsumptionConsent.path
    case .setToken: Calls.setAppAccountToken.path
    case .settleConsent: Calls.settleConsentWithdrawal.path
    case .reprocess: Calls.reprocessNotifications.path
    case .backfill: Calls.backfillNotifications.path
    case .cancelMigration: Calls.cancelMigration.path
    }
  }

  /// Whether the person has the role of the method.
  func isOpen(to visit: Visit) -> Bool {
    visit.calls.role(of: path).map(visit.has) ?? true
  }
}
