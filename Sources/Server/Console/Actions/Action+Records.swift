internal import Pages
internal import RPC
internal import Wire

// Actions on notes, attributes and webhooks.
extension Action {
  /// Adds a note about a customer. The undo deletes it.
  static let addNote = Action(
    fields: [.hidden("customer"), ActionField(name: "text", label: Text.note, kind: .paragraph)],
    preview: { call async throws(Status) in
      ActionPreview(lines: [Text.willAddNote(call.form["customer"]), call.form["text"]])
    },
    perform: { call async throws(Status) in
      let response = try await call.visit.call(
        Calls.addNote,
        .about(call.form["customer"], in: call.scope) {
          $0.text = call.form["text"]
          $0.actor = call.actor
          $0.idempotencyKey = call.key
        })
      return ActionResult(
        customer: call.form["customer"],
        undo: ActionReceipt.Undo(.deleteNote, "id", response.note?.noteId ?? ""))
    })

  /// Deletes a note. There is no undo.
  static let deleteNote = Action(
    fields: [.hidden("customer"), .hidden("id"), .note],
    preview: { call async throws(Status) in ActionPreview(lines: [Text.willDeleteNote(call.form["customer"])])
    },
    perform: { call async throws(Status) in
      _ = try await call.visit.call(
        Calls.deleteNote,
        .with {
          $0.app = call.scope.app
          $0.noteId = call.form["id"]
          $0.actor = call.actor
          $0.note = call.note
        })
      return ActionResult(customer: call.form["customer"])
    })

  /// Sets an attribute, or removes it with an empty value. The undo sets the value that was read just before.
  static let setAttribute = Action(
    fields: [
      .hidden("customer"), ActionField(name: "name", label: Text.attributeName),
      ActionField(
        name: "value", label: Text.attributeValue, kind: .paragraph, hint: Text.attributeHint,
        isRequired: false, keepsWhiteSpace: true), .note,
    ],
    preview: { call async throws(Status) in
      ActionPreview(lines: [
        Text.willSetAttribute(call.form["name"], call.form["value"], call.form["customer"])
      ])
    },
    perform: { call async throws(Status) in
      let known = try await call.visit.call(
        Calls.getCustomerAttributes,
        .about(call.form["customer"], in: call.scope))
      let previous = known.attributes.first { $0.name == call.form["name"] }?.value
      _ = try await call.visit.call(
        Calls.setCustomerAttributes,
        .about(call.form["customer"], in: call.scope) {
          $0.attributes = [
            .with {
              $0.name = call.form["name"]
              $0.value = call.form["value"]
            }
          ]
          $0.actor = call.actor
          $0.note = call.note
        })
      return ActionResult(
        customer: call.form["customer"],
        undo: ActionReceipt.Undo(.setAttribute, [("name", call.form["name"]), ("value", previous ?? "")]))
    })

  /// Sends the dead letters of a webhook again, at most 10,000 at once.
  static let resend = Action(
    fields: webhookFields,
    preview: { call async throws(Status) in
      ActionPreview(lines: [Text.willResend(try await deadLetters(call), call.form["webhook"])])
    },
    perform: { call async throws(Status) in
      let response = try await call.visit.call(
        Calls.resendDeliveries,
        .with {
          $0.app = call.scope.app
          $0.webhook = call.form["webhook"]
          $0.kind = kind(call.form)
          $0.selection = .deadLetters(true)
          $0.note = call.note
          $0.idempotencyKey = call.key
        })
      return ActionResult(link: call.scope.work(.deadLetters), text: Text.resent(response.resent))
    })

  /// Discards all dead letters of a webhook. There is no undo, but a message can still be resent by its number.
  static let discard = Action(
    fields: webhookFields,
    preview: { call async throws(Status) in
      ActionPreview(lines: [Text.willDiscard(try await deadLetters(call), call.form["webhook"]), Text.noUndo])
    },
    perform: { call async throws(Status) in
      let response = try await call.visit.call(
        Calls.discardDeliveries,
        .with {
          $0.app = call.scope.app
          $0.webhook = call.form["webhook"]
          $0.kind = kind(call.form)
          $0.selection = .deadLetters(true)
          $0.note = call.note
        })
      return ActionResult(link: call.scope.work(.deadLetters), text: Text.discarded(response.discarded))
    })

  /// Resumes a webhook that answered 410, which ends its deliveries until then.
  static let resumeWebhook = Action(
    fields: webhookFields,
    preview: { call async throws(Status) in ActionPreview(lines: [Text.willResume(call.form["webhook"])]) },
    perform: { call async throws(Status) in
      _ = try await call.visit.call(
        Calls.resumeWebhook,
        .with {
          $0.app = call.scope.app
          $0.webhook = call.form["webhook"]
          $0.kind = kind(call.form)
          $0.note = call.note
        })
      return ActionResult(link: call.scope.work(.deadLetters))
    })

  private static let webhookFields: [ActionField] = [.hidden("webhook"), .hidden("kind"), .note]

  private static func kind(_ form: ActionForm) -> WebhookKind {
    WebhookKind(rawValue: Int32(form["kind"]) ?? 0)
  }

  private static func deadLetters(_ call: ActionCall) async throws(Status) -> Int64 {
    let webhooks = try await call.visit.call(Calls.listWebhooks, .with { $0.app = call.scope.app }).webhooks
    return webhooks.first { $0.name == call.form["webhook"] && $0.kind == kind(call.form) }?.deadLetters ?? 0
  }
}
