internal import AppStore
internal import Markup
internal import Pages
internal import RPC
internal import Wire

// Withdrawn consents of parents or guardians, as a work list.
extension WorkRows {
  static func consents(
    _ page: RequestedRows, _ scope: Scope, _ visit: Visit
  ) async throws(Status) -> WorkRows {
    let response = try await visit.call(Calls.listConsentWithdrawals, .page(page, in: scope))
    let rows = response.withdrawals.map { withdrawal in
      let state = Format.value(withdrawal.state, "CONSENT_WITHDRAWAL_STATE_")
      let names = withdrawal.customerIds.map(scope.customerLink)
      return Row(
        cells: [
          Format.id(withdrawal.appTransactionId),
          Part.chip(state, withdrawal.state == .overdue ? .none : .grace),
          Format.time(withdrawal.withdrawnAt), Format.time(withdrawal.settleBy),
          names.isEmpty ? "\(Text.noCustomer)" : names.joined(separator: "<br>"),
          settle(withdrawal, scope, visit),
        ],
        values: [
          withdrawal.appTransactionId, state, withdrawal.withdrawnAt.text, withdrawal.settleBy.text,
          withdrawal.customerIds.joined(separator: " "),
        ])
    }
    return WorkRows(rows: rows, next: response.nextPageToken)
  }

  private static func settle(_ withdrawal: ConsentWithdrawal, _ scope: Scope, _ visit: Visit) -> Markup {
    guard ActionName.settleConsent.isOpen(to: visit) else { return "" }
    let values = [
      ("install", withdrawal.appTransactionId as String?),
      ("customer", withdrawal.customerIds.count == 1 ? withdrawal.customerIds.first : nil),
    ]
    return "<a class=\"button\" href=\"\(scope.action(.settleConsent, values))\">\(Text.settleThis)…</a>"
  }
}

extension CustomerData {
  /// The withdrawn consents of the customer at the page's point in time, in words, with the link to the work list.
  var consentNotices: [Markup] {
    let response: ListConsentWithdrawalsResponse
    do throws(Status) { response = try consents.get() } catch {
      return [Part.failure(error, of: Text.queueConsents)]
    }
    return response.withdrawals.filter { pointInTime.includes($0.withdrawnAt) }.map { withdrawal in
      let text =
        withdrawal.state == .settled && pointInTime.includes(withdrawal.settledAt)
        ? Text.consentSettled(withdrawal.withdrawnAt?.instant, withdrawal.settledAt?.instant)
        : Text.consentOpen(withdrawal.withdrawnAt?.instant, withdrawal.settleBy?.instant)
      let link: Markup = "<a href=\"\(scope.work(.consents))\">\(Text.queueConsents)</a>"
      return "<p class=\"notice\">\(text) \(link)</p>\n"
    }
  }
}
