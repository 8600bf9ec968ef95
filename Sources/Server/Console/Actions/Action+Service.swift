internal import AppStore
internal import Pages
internal import RPC
internal import Wire

// Actions on many purchases, notifications and jobs.
extension Action {
  /// Extends the renewal dates of all active subscribers of a product, whose id the person must type. The preview
  /// counts them here; Apple may count otherwise.
  static let extendAll = Action(
    fields: [
      ActionField(name: "product", label: Text.productHead),
      ActionField(name: "confirm", label: Text.typeProductID), extensionDays, extensionReason, .note,
    ],
    preview: { call async throws(Status) in
      try confirmProduct(call)
      let request = try extendAllRequest(call)
      let active = try await call.visit.call(
        Calls.listCustomers,
        .about(call.scope) {
          $0.selection = .filter(
            .with {
              $0.states = [.activeAutoRenewOn, .activeAutoRenewOff, .gracePeriod]
              $0.productIds = [request.productId]
            })
          $0.count = true
          $0.pageSize = 1
        })
      return ActionPreview(lines: [
        Text.willExtendAll(request.productId, request.extendByDays, active.total ?? 0), Text.extendHint,
        Text.noUndo,
      ])
    },
    perform: { call async throws(Status) in
      try confirmProduct(call)
      let response = try await call.visit.call(
        Calls.massExtendRenewalDate, try extendAllRequest(call))
      return ActionResult(link: call.scope.work(), text: Text.appleRequest(response.requestIdentifier))
    })

  private static func confirmProduct(_ call: ActionCall) throws(Status) {
    guard call.form["confirm"] == call.form["product"] else {
      throw .field("confirm", Text.confirmProductDiffers)
    }
  }

  private static func extendAllRequest(
    _ call: ActionCall
  ) throws(Status) -> MassExtendRenewalDateRequest {
    guard let days = Int32(call.form["days"]), (1...90).contains(days) else {
      throw .field("days", Text.chooseOne)
    }
    return call.change {
      $0.productId = call.form["product"]
      $0.extendByDays = days
      $0.reason = ExtendReason(rawValue: Int32(call.form["reason"]) ?? 0)
    }
  }

  /// Records a customer's consent to consumption information, or its withdrawal. The undo records the opposite.
  static let consent = Action(
    fields: [
      .hidden("customer"),
      ActionField(
        name: "consent", label: Text.consented, kind: .check, hint: Text.withdrawHint, isRequired: false),
      .note,
    ],
    preview: { call async throws(Status) in
      let response = try await call.visit.call(
        Calls.setConsumptionConsent, consentRequest(call, isDryRun: true))
      let customer = call.form["customer"]
      return ActionPreview(
        lines: [Text.willRecordConsent(customer, response.consent?.consented ?? false)],
        customers: [customer])
    },
    perform: { call async throws(Status) in
      let response = try await call.visit.call(
        Calls.setConsumptionConsent, consentRequest(call, isDryRun: false))
      let isGiven = response.consent?.consented ?? false
      return ActionResult(
        customer: call.form["customer"],
        undo: ActionReceipt.Undo(.consent, [("consent", isGiven ? nil : "1")]))
    })

  /// Settles the withdrawn consent of a parent for an app install.
  static let settleConsent = Action(
    fields: [.hidden("install"), .hiddenOption("customer"), .note],
    preview: { call async throws(Status) in
      ActionPreview(
        lines: [Text.willSettleConsent(call.form["install"]), Text.noUndo],
        customers: [call.form["customer"]].filter { !$0.isEmpty })
    },
    perform: { call async throws(Status) in
      let response = try await call.visit.call(
        Calls.settleConsentWithdrawal,
        call.change {
          $0.appTransactionId = call.form["install"]
        })
      return ActionResult(
        customer: call.form["customer"].given, link: call.scope.work(.consents),
        text: response.alreadySettled ? Text.alreadySettled : "")
    })

  private static func consentRequest(_ call: ActionCall, isDryRun: Bool) -> SetConsumptionConsentRequest {
    call.change(isDryRun: isDryRun) {
      $0.customerId = call.form["customer"]
      $0.consented = call.form["consent"] == "1"
      $0.dryRun = isDryRun
    }
  }

  /// Decodes stored notifications without effect again. The preview is a dry run.
  static let reprocess = Action(
    fields: [.note],
    preview: { call async throws(Status) in
      let found = try await decodeAgain(call, isDryRun: true)
      return ActionPreview(lines: [Text.willReprocess(found.reprocessed, found.changed)])
    },
    perform: { call async throws(Status) in
      let found = try await decodeAgain(call, isDryRun: false)
      return ActionResult(
        link: call.scope.work(.rejected), text: Text.reprocessed(found.reprocessed, found.changed))
    })

  private static func decodeAgain(
    _ call: ActionCall, isDryRun: Bool
  ) async throws(Status) -> ReprocessNotificationsResponse {
    try await call.visit.call(
      Calls.reprocessNotifications,
      .with {
        $0.app = call.scope.app
        $0.dryRun = isDryRun
        $0.note = call.note
      })
  }

  /// Ingests the notifications of the last days from Apple's history.
  static let backfill = Action(
    fields: [
      ActionField(
        name: "days", label: Text.lastDays, kind: .choice([1, 3, 7, 30].map { (String($0), Text.days($0)) }),
        hint: Text.backfillHint, initial: "3"), .note,
    ],
    preview: { call async throws(Status) in
      ActionPreview(lines: [Text.willBackfill(try await backfillStart(call))])
    },
    perform: { call async throws(Status) in
      let start = try await backfillStart(call)
      let response = try await call.visit.call(
        Calls.backfillNotifications,
        .about(call.scope) {
          $0.startTime = GoogleProtobuf.Timestamp(start)
          $0.note = call.note
        })
      let repair = response.repair
      return ActionResult(
        link: call.scope.work(.drift),
        text: Text.backfilled(repair?.received ?? 0, repair?.driftedCustomers ?? 0))
    })

  /// The start of the range.
  private static func backfillStart(_ call: ActionCall) async throws(Status) -> Instant {
    guard let days = Int64(call.form["days"]), (1...180).contains(days) else {
      throw .field("days", Text.chooseOne)
    }
    return try await call.visit.time(in: call.scope).advanced(byDays: -days)
  }

  /// Cancels a migration job. What it has migrated stays.
  static let cancelMigration = Action(
    fields: [.hidden("migration"), .note],
    preview: { call async throws(Status) in
      ActionPreview(lines: [Text.willCancelMigration(call.form["migration"])])
    },
    perform: { call async throws(Status) in
      _ = try await call.visit.call(
        Calls.cancelMigration,
        .with {
          $0.app = call.scope.app
          $0.migrationId = call.form["migration"]
          $0.note = call.note
        })
      return ActionResult(link: call.scope.work(.migrations))
    })
}
