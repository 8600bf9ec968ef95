internal import JSON
internal import Markup
internal import Pages
internal import RPC
internal import Wire

// Actions that call Apple.
extension Action {
  /// Fetches a purchase from Apple. There is no undo: what Apple signs takes effect.
  static let refresh = Action(
    fields: [
      ActionField(name: "transaction", label: Text.transactionID), .hiddenOption("customer"), .note,
    ],
    preview: { call async throws(Status) in ActionPreview(lines: [Text.willRefresh(call.form["transaction"])])
    },
    perform: { call async throws(Status) in
      let response = try await call.visit.call(
        Calls.refreshPurchase,
        .about(call.scope) {
          $0.transactionId = call.form["transaction"]
          $0.note = call.note
        })
      let purchase = response.transactions.first?.originalTransactionId ?? call.form["transaction"]
      return ActionResult(
        customer: call.form["customer"].given, link: call.scope.purchase(purchase),
        text: Text.refreshed(Int(response.changed), response.transactions.count))
    })

  /// Sets an `appAccountToken` at Apple, and then fetches the purchase, so that the page has the token. The undo sets
  /// the previous one; without one there is no undo.
  static let setToken = Action(
    fields: [
      .purchase, ActionField(name: "account_token", label: Text.appAccountToken, hint: Text.tokenHint),
      .hiddenOption("customer"), .note,
    ],
    preview: { call async throws(Status) in
      let token = call.form["account_token"]
      let lengths = token.split(separator: "-", omittingEmptySubsequences: false).map(\.utf8.count)
      guard lengths == [8, 4, 4, 4, 12], token.allSatisfy({ $0 == "-" || ($0.isASCII && $0.isHexDigit) })
      else {
        throw .field("account_token", Text.notAToken)
      }
      let purchase = try await purchase(of: call)
      return ActionPreview(
        lines: [
          Text.willSetToken(call.form["purchase"], token),
          purchase.appAccountToken.map { Text.previousToken($0) } ?? Text.noPreviousToken,
        ],
        customers: purchase.customerIds)
    },
    perform: { call async throws(Status) in
      let previous = try await purchase(of: call).appAccountToken
      _ = try await call.visit.call(
        Calls.setAppAccountToken,
        call.change {
          $0.originalTransactionId = call.form["purchase"]
          $0.appAccountToken = call.form["account_token"]
        })
      // Apple answers without a document. Without one that has the token, the page would still show the previous one.
      let refreshed = await call.visit.attempt(
        Calls.refreshPurchase,
        .about(call.scope) {
          $0.transactionId = call.form["purchase"]
          $0.note = call.note
        })
      return ActionResult(
        customer: call.form["customer"].given, link: call.scope.purchase(call.form["purchase"]),
        undo: previous.map {
          ActionReceipt.Undo(.setToken, [("purchase", call.form["purchase"]), ("account_token", $0)])
        },
        text: (try? refreshed.get()) == nil ? Text.tokenNotHereYet : "")
    })

  private static func purchase(of call: ActionCall) async throws(Status) -> GetPurchaseResponse {
    try await call.visit.call(
      Calls.getPurchase,
      .about(call.scope) {
        $0.originalTransactionId = call.form["purchase"]
      })
  }

  /// The days that Apple allows at once, of which the form offers some.
  static let extensionDays = ActionField(
    name: "days", label: Text.extendBy,
    kind: .choice([3, 7, 14, 30, 90].map { (String($0), Text.days($0)) }),
    hint: Text.extendHint, initial: "7")
  /// Apple's reason codes.
  static let extensionReason = ActionField(
    name: "reason", label: Text.appleReason,
    kind: .choice([
      ("2", Text.reasonSatisfaction), ("4", Text.reasonServiceIssue), ("3", Text.reasonOther),
      ("1", Text.reasonUndeclared),
    ]))

  /// Extends the renewal date of a subscription at Apple, which nothing undoes.
  static let extend = Action(
    fields: [
      .purchase, extensionDays, extensionReason, .hiddenOption("customer"), .note,
    ],
    preview: { call async throws(Status) in
      guard Int32(call.form["days"]).map({ (1...90).contains($0) }) == true else {
        throw .field("days", Text.chooseOne)
      }
      let purchase = try await purchase(of: call)
      let renewal = purchase.renewalInfo?.renewalDate?.instant.map { [Text.renewsWithout($0)] } ?? []
      return ActionPreview(
        lines: [Text.willExtend(call.form["purchase"], call.form["days"])] + renewal + [
          Text.extendHint, Text.noUndo,
        ],
        customers: purchase.customerIds)
    },
    perform: { call async throws(Status) in
      let response = try await call.visit.call(
        Calls.extendRenewalDate,
        call.change {
          $0.originalTransactionId = call.form["purchase"]
          $0.extendByDays = Int32(call.form["days"]) ?? 0
          $0.reason = ExtendReason(rawValue: Int32(call.form["reason"]) ?? 0)
        })
      let date = response.effectiveDate?.instant.map { Text.renewsAt($0) } ?? ""
      return ActionResult(
        customer: call.form["customer"].given, link: call.scope.purchase(call.form["purchase"]), text: date)
    })

  /// Answers a consumption request. The preview is a dry run that shows the request to Apple, which nothing undoes.
  static let answerRefund = Action(
    fields: [
      ActionField(name: "transaction", label: Text.transactionID), .hiddenOption("customer"),
      ActionField(
        name: "consent", label: Text.consented, kind: .check, hint: Text.consentHint, isRequired: false),
      ActionField(
        name: "preference", label: Text.preference,
        kind: .choice([
          ("0", Text.preferenceNone), ("1", Text.preferenceDecline), ("2", Text.preferenceFull),
          ("3", Text.preferenceProrated),
        ])),
      ActionField(
        name: "delivery", label: Text.delivery,
        kind: .choice([
          ("1", Text.delivered), ("2", Text.qualityIssue), ("3", Text.wrongItem), ("4", Text.outage),
          ("5", Text.undelivered),
        ])),
      ActionField(name: "consumed", label: Text.consumed, hint: Text.consumedHint, isRequired: false),
      ActionField(name: "sample", label: Text.sample, kind: .check, isRequired: false), .note,
    ],
    preview: { call async throws(Status) in
      let answer = try answer(call, isDryRun: true)
      let response: SendConsumptionInformationResponse
      do throws(Status) {
        response = try await call.visit.call(Calls.sendConsumptionInformation, answer)
      } catch {
        throw error.reason == "NO_CONSENT" ? .field("consent", error.message) : error
      }
      return ActionPreview(
        lines: [Text.willAnswer(call.form["transaction"]), Text.noUndo], payload: response.payloadJson,
        customers: [call.form["customer"]].filter { !$0.isEmpty })
    },
    perform: { call async throws(Status) in
      _ = try await call.visit.call(Calls.sendConsumptionInformation, try answer(call, isDryRun: false))
      return ActionResult(customer: call.form["customer"].given, link: call.scope.work(.refunds))
    })

  private static func answer(_ call: ActionCall, isDryRun: Bool) throws(Status)
    -> SendConsumptionInformationRequest
  {
    var percentage: Int32?
    if let text = call.form["consumed"].given {
      guard let percent = Int32(text), (0...100).contains(percent) else {
        throw .field("consumed", Text.notAPercentage)
      }
      percentage = percent * 1_000
    }
    return call.change(isDryRun: isDryRun) {
      $0.transactionId = call.form["transaction"]
      $0.customerConsented = call.form["consent"] == "1"
      $0.deliveryStatus = DeliveryStatus(rawValue: Int32(call.form["delivery"]) ?? 0)
      $0.refundPreference = RefundPreference(rawValue: Int32(call.form["preference"]) ?? 0)
      $0.consumptionPercentage = percentage
      $0.sampleContentProvided = call.form["sample"] == "1"
      $0.dryRun = isDryRun
    }
  }

  /// Looks an order of Apple's up and shows its first purchase, in the environment of its transaction.
  static let lookUpOrder = Action(
    fields: [ActionField(name: "order", label: Text.orderID), .note],
    preview: { call async throws(Status) in ActionPreview(lines: [Text.willLookUp(call.form["order"])]) },
    perform: { call async throws(Status) in
      let response = try await call.visit.call(
        Calls.lookUpOrder,
        .with {
          $0.app = call.scope.app
          $0.orderId = call.form["order"]
          $0.note = call.note
        })
      guard response.valid, let transaction = response.transactions.first else {
        throw Status(.notFound, reason: "ORDER_NOT_FOUND", Text.orderUnknown)
      }
      let scope = Scope(app: call.scope.app, environment: transaction.environment)
      return ActionResult(link: scope.purchase(transaction.originalTransactionId))
    })
}
