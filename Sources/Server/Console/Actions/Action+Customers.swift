internal import AppStore
internal import Bytes
internal import Pages
internal import RPC
internal import Wire

// Actions on customers and their purchases.
extension Action {
  /// Grants an entitlement. The preview turns a number of days into an end, which the confirmed form keeps, so that
  /// waiting before the confirmation changes nothing. The undo revokes the grant.
  static let grant = Action(
    fields: [
      .customer, ActionField(name: "entitlement", label: Text.entitlement),
      ActionField(
        name: "level", label: Text.level, kind: .choice([("full", Text.full), ("limited", Text.limited)])),
      ActionField(
        name: "preset", label: Text.duration,
        kind: .choice([
          ("3", Text.days(3)), ("7", Text.week), ("30", Text.days(30)), ("date", Text.untilDate),
          ("none", Text.noEnd),
        ]), initial: "7"),
      ActionField(name: "until", label: Text.untilDate, hint: Text.dateHint, isRequired: false), .note,
    ],
    preview: { call async throws(Status) in
      let now = try await call.visit.time(in: call.scope)
      let until = try end(call.form, at: now)
      let response = try await call.visit.call(Calls.grant, grantRequest(call, until, isDryRun: true))
      let text = until.map { Text.until($0) } ?? Text.withoutEnd
      return ActionPreview(
        lines: [Text.willGrant(call.form["entitlement"], call.form["customer"]) + text],
        events: response.events,
        customers: [call.form["customer"]],
        resolved: ["until": until?.description ?? "", "preset": until == nil ? "none" : "date"])
    },
    perform: { call async throws(Status) in
      let response = try await call.visit.call(
        Calls.grant, grantRequest(call, Instant(rfc3339: call.form["until"]), isDryRun: false))
      let id = response.grant?.grantId ?? ""
      return ActionResult(
        customer: call.form["customer"], undo: ActionReceipt.Undo(.revoke, "grant", id))
    })

  private static func grantRequest(_ call: ActionCall, _ until: Instant?, isDryRun: Bool) -> GrantRequest {
    call.change(isDryRun: isDryRun) {
      $0.customerId = call.form["customer"]
      $0.entitlement = call.form["entitlement"]
      $0.accessLevel = call.form["level"] == "limited" ? .limited : .full
      $0.until = until.map { GoogleProtobuf.Timestamp($0) }
      $0.dryRun = isDryRun
    }
  }

  /// The end of the access; `nil`: none.
  private static func end(_ form: ActionForm, at now: Instant) throws(Status) -> Instant? {
    switch form["preset"] {
    case "none": return nil
    case "date":
      let text = form["until"]
      guard let end = Instant(rfc3339: text) ?? Instant(rfc3339: "\(text)T00:00:00Z") else {
        throw .field("until", Text.notADate)
      }
      guard end > now else { throw .field("until", Text.dateIsPast) }
      return end
    default:
      guard let days = Int64(form["preset"]), (1...366).contains(days) else {
        throw .field("preset", Text.chooseOne)
      }
      return now.advanced(byDays: days)
    }
  }

  /// Revokes a grant, whose id a link fills in. The undo grants the same again until the same end, as another grant.
  static let revoke = Action(
    fields: [.hidden("grant"), .hidden("customer"), .note],
    preview: { call async throws(Status) in
      let response = try await call.visit.call(Calls.revokeGrant, revokeRequest(call, isDryRun: true))
      let grant = response.grant ?? Grant()
      return ActionPreview(
        lines: [Text.willRevoke(grant.entitlement, grant.customerId)], events: response.events,
        customers: [grant.customerId])
    },
    perform: { call async throws(Status) in
      let response = try await call.visit.call(Calls.revokeGrant, revokeRequest(call, isDryRun: false))
      let grant = response.grant ?? Grant()
      // The same grant again; there is none if its end has passed.
      let values = [
        ("entitlement", grant.entitlement as String?),
        ("level", grant.accessLevel == .limited ? "limited" : "full"),
        ("preset", grant.until == nil ? "none" : "date"), ("until", grant.until?.instant?.description),
      ]
      return ActionResult(
        customer: grant.customerId.given ?? call.form["customer"], undo: ActionReceipt.Undo(.grant, values),
        text: Text.grantAgain)
    })

  private static func revokeRequest(_ call: ActionCall, isDryRun: Bool) -> RevokeGrantRequest {
    .with {
      $0.app = call.scope.app
      $0.grantId = call.form["grant"]
      $0.note = call.note
      $0.actor = call.actor
      $0.dryRun = isDryRun
    }
  }

  /// Links a purchase to a customer; the preview names the previous owner. The undo reverses the transfer, if the link
  /// was one.
  static let link = Action(
    fields: [.purchase, .customer, policy, .note],
    preview: { call async throws(Status) in
      let response = try await call.visit.call(Calls.linkPurchase, linkRequest(call, isDryRun: true))
      let previous = response.previousCustomerId
      return ActionPreview(
        lines: [Text.willLink(call.form["purchase"], call.form["customer"])]
          + (previous.isEmpty ? [] : [Text.previousOwner(previous)]), events: response.events,
        customers: [call.form["customer"], previous].filter { !$0.isEmpty })
    },
    perform: { call async throws(Status) in
      let response = try await call.visit.call(Calls.linkPurchase, linkRequest(call, isDryRun: false))
      return ActionResult(
        customer: call.form["customer"],
        undo: ActionReceipt.Undo(.undo, "transfer", response.transferId))
    })

  private static func linkRequest(_ call: ActionCall, isDryRun: Bool) -> LinkPurchaseRequest {
    call.change(isDryRun: isDryRun) {
      $0.customerId = call.form["customer"]
      $0.originalTransactionId = call.form["purchase"]
      $0.policy = ownershipPolicy(call.form)
      $0.dryRun = isDryRun
    }
  }

  private static let policy = ActionField(
    name: "policy", label: Text.policy,
    kind: .choice([
      ("", Text.policyDefault), ("keep", Text.policyKeep), ("transfer", Text.policyTransfer),
      ("share", Text.policyShare),
    ]),
    isRequired: false)

  private static func ownershipPolicy(_ form: ActionForm) -> OwnershipPolicy {
    switch form["policy"] {
    case "keep": .keep
    case "transfer": .transfer
    case "share": .share
    default: .unspecified
    }
  }

  /// Moves a purchase from its owner to another customer. The undo moves it back.
  static let transfer = Action(
    fields: [
      .purchase, .customerID("customer", Text.fromCustomer), .customerID("to", Text.toCustomer), .note,
    ],
    preview: { call async throws(Status) in
      let response = try await call.visit.call(Calls.transferPurchase, transferRequest(call, isDryRun: true))
      return ActionPreview(
        lines: [Text.willTransfer(call.form["purchase"], call.form["customer"], call.form["to"])],
        events: response.events,
        customers: [call.form["customer"], call.form["to"]])
    },
    perform: { call async throws(Status) in
      let response = try await call.visit.call(Calls.transferPurchase, transferRequest(call, isDryRun: false))
      return ActionResult(
        customer: call.form["to"],
        undo: ActionReceipt.Undo(.undo, "transfer", response.transferId))
    })

  private static func transferRequest(_ call: ActionCall, isDryRun: Bool) -> TransferPurchaseRequest {
    call.change(isDryRun: isDryRun) {
      $0.originalTransactionId = call.form["purchase"]
      $0.fromCustomerId = call.form["customer"]
      $0.toCustomerId = call.form["to"]
      $0.policy = .transfer
      $0.dryRun = isDryRun
    }
  }

  /// Merges a customer into another; the preview counts the purchases that move.
  static let merge = Action(
    fields: [
      .customerID("customer", Text.mergedCustomer), .customerID("to", Text.mergeTarget), .note,
    ],
    preview: { call async throws(Status) in
      let response = try await call.visit.call(Calls.mergeCustomers, mergeRequest(call, isDryRun: true))
      return ActionPreview(
        lines: [
          Text.willMerge(call.form["customer"], call.form["to"], response.originalTransactionIds.count)
        ],
        events: response.events, customers: [call.form["customer"], call.form["to"]])
    },
    perform: { call async throws(Status) in
      let response = try await call.visit.call(Calls.mergeCustomers, mergeRequest(call, isDryRun: false))
      return ActionResult(
        customer: call.form["to"],
        undo: ActionReceipt.Undo(.undo, "transfer", response.transferId))
    })

  private static func mergeRequest(_ call: ActionCall, isDryRun: Bool) -> MergeCustomersRequest {
    call.change(isDryRun: isDryRun) {
      $0.fromCustomerId = call.form["customer"]
      $0.intoCustomerId = call.form["to"]
      $0.dryRun = isDryRun
    }
  }

  /// Reverses a link, transfer or merge by its id. It cannot be undone itself.
  static let undo = Action(
    fields: [ActionField(name: "transfer", label: Text.transferID), .hidden("customer"), .note],
    preview: { call async throws(Status) in
      let response = try await call.visit.call(Calls.undoTransfer, undoRequest(call, isDryRun: true))
      return ActionPreview(
        lines: [Text.willUndo(call.form["transfer"])], events: response.events,
        customers: response.events.map(\.customerId).distinctIDs.sorted())
    },
    perform: { call async throws(Status) in
      let response = try await call.visit.call(Calls.undoTransfer, undoRequest(call, isDryRun: false))
      return ActionResult(customer: call.form["customer"].given ?? response.events.first?.customerId)
    })

  private static func undoRequest(_ call: ActionCall, isDryRun: Bool) -> UndoTransferRequest {
    .with {
      $0.app = call.scope.app
      $0.transferId = call.form["transfer"]
      $0.actor = call.actor
      $0.note = call.note
      $0.idempotencyKey = isDryRun ? "" : call.key
      $0.dryRun = isDryRun
    }
  }

  /// Erases a customer, whose id the person must type: nothing undoes it. The result shows the pseudonym.
  static let erase = Action(
    fields: [
      .hidden("customer"), .customerID("confirm", Text.typeCustomerID, hint: Text.eraseHint), .note,
    ],
    preview: { call async throws(Status) in
      guard call.form["confirm"] == call.form["customer"] else {
        throw .field("confirm", Text.confirmDiffers)
      }
      let response = try await call.visit.call(Calls.eraseCustomer, eraseRequest(call, isDryRun: true))
      return ActionPreview(
        lines: [Text.willErase(call.form["customer"], response.erasedRows), Text.noUndo],
        customers: [call.form["customer"]])
    },
    perform: { call async throws(Status) in
      guard call.form["confirm"] == call.form["customer"] else {
        throw .field("confirm", Text.confirmDiffers)
      }
      let response = try await call.visit.call(Calls.eraseCustomer, eraseRequest(call, isDryRun: false))
      return ActionResult(customer: response.pseudonym, text: Text.erased(response.pseudonym))
    })

  private static func eraseRequest(_ call: ActionCall, isDryRun: Bool) -> EraseCustomerRequest {
    .about(call.form["customer"], in: call.scope) {
      $0.actor = call.actor
      $0.note = call.note
      $0.dryRun = isDryRun
    }
  }
}
