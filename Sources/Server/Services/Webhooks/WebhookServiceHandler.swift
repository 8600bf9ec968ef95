internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Webhooks
internal import Wire

/// `entitled.v1.WebhookService`: webhooks, forwardings and their deliveries.
struct WebhookServiceHandler: WebhookServiceMethods {
  let context: ServiceContext

  /// The position of a page is the number of the webhooks before it.
  func listWebhooks(
    _ request: ListWebhooksRequest, _ call: CallContext
  ) async throws(Status) -> ListWebhooksResponse {
    let app = try context.catalog.value.app(request.app)
    let (page, size) = try context.page(of: request)
    let first = Int(try page.number ?? 0)
    let rest = context.deliveries.settings(of: app.id).dropFirst(first)
    return try await context.read { reader throws(StoreError) in
      var response = ListWebhooksResponse()
      for settings in rest.prefix(size) {
        response.webhooks.append(Webhook(try context.deliveries.status(of: settings, in: reader)))
      }
      if rest.count > size { response.nextPageToken = page.token(after: first + size) }
      return response
    }
  }

  /// The position of a page is that of the last delivery of the previous page.
  func listDeliveries(
    _ request: ListDeliveriesRequest, _ call: CallContext
  ) async throws(Status) -> ListDeliveriesResponse {
    let settings = try context.deliveries.settings(
      request.webhook, request.kind, of: context.catalog.value.app(request.app).id)
    let (page, size) = try context.page(of: request)
    let last = try page.number ?? 0
    let state = try Store.Delivery.State(request.state)
    let response = try await context.read { reader throws(StoreError) in
      let found = try reader.deliveries(
        of: settings.key, in: state, after: last, limit: size + 1)
      let deliveries = try found.prefix(size).map { delivery throws(StoreError) in
        Wire.Delivery(delivery, id: try context.deliveries.messageID(of: delivery, to: settings, in: reader))
      }
      return ListDeliveriesResponse.with {
        $0.deliveries = deliveries
        if found.count > size { $0.nextPageToken = page.token(after: found[size - 1].position) }
      }
    }
    let isOfEvents = settings.key.kind == .events
    CallScope.show(
      isOfEvents ? response.deliveries.map(\.subject) : [], of: "deliveries of \(request.webhook)")
    return response
  }

  /// Builds the message again from its event or notification, because the store has no copy of it. `delivery` is set
  /// only while the message is pending or a dead letter: a delivered one leaves no row.
  ///
  /// - Throws: `UNKNOWN_DELIVERY` for a number without a message.
  func getDelivery(
    _ request: GetDeliveryRequest, _ call: CallContext
  ) async throws(Status) -> GetDeliveryResponse {
    let settings = try context.deliveries.settings(
      request.webhook, request.kind, of: context.catalog.value.app(request.app).id)
    let number = request.number
    let found = try await context.read { reader throws(StoreError) -> GetDeliveryResponse? in
      guard number > 0,
        let message = try context.deliveries.message(at: number, to: settings, in: reader)
      else { return nil }
      let pending = try reader.deliveries(of: settings.key, in: nil, after: number - 1, limit: 1).first
      return .with {
        $0.webhookId = message.id
        $0.type = message.type
        $0.subject = message.subject
        $0.body = message.body
        if let pending, pending.position == number { $0.delivery = Wire.Delivery(pending, id: message.id) }
      }
    }
    guard let found else {
      throw Status(
        .notFound, reason: "UNKNOWN_DELIVERY", "the webhook has no message \(number)", field: "number")
    }
    CallScope.show(settings.key.kind == .events ? [found.subject] : [], of: "delivery \(number)")
    return found
  }

  /// Queues messages again. One call queues at most ``DeliveryAdmin/maxResendCount``; `continue_from` is the first of
  /// the others.
  func resendDeliveries(
    _ request: ResendDeliveriesRequest, _ call: CallContext
  ) async throws(Status) -> ResendDeliveriesResponse {
    let once = Idempotency(of: request, call, context)
    if let stored = try await once.storedResponse() { return stored }
    let settings = try context.deliveries.settings(
      request.webhook, request.kind, of: context.catalog.value.app(request.app).id)
    let selection = try Self.selection(request)
    let idempotency = once.request.map { request in
      DeliveryAdmin.IdempotentResend(request, at: context.ledger.clocks[nil].now()) {
        ResendDeliveriesResponse($0).encodedBytes()
      }
    }
    let result = try await mapLedgerError { () async throws(LedgerError) in
      try await context.deliveries.resend(selection, to: settings, idempotency)
    }
    switch result {
    case .resent(let resent): return ResendDeliveriesResponse(resent)
    case .repeated(let stored):
      return try once.repeated(stored)
    }
  }

  /// The deliveries that a request selects.
  ///
  /// - Throws: `INVALID_FIELD`, `INVALID_RANGE` or the status of a missing selection.
  private static func selection(
    _ request: ResendDeliveriesRequest
  ) throws(Status) -> DeliveryAdmin.Selection {
    switch request.selection {
    case .deadLetters(true)?: return .deadLetters
    case .numbers(let selected)? where !selected.numbers.isEmpty:
      guard selected.numbers.count <= DeliveryAdmin.maxResendCount else {
        throw .invalidField("numbers", "numbers has more than \(DeliveryAdmin.maxResendCount) entries")
      }
      return .positions(selected.numbers)
    case .range(let range)?:
      let last = range.last ?? Int64.max
      guard range.first > 0, range.first <= last else {
        throw Status(
          .invalidArgument, reason: "INVALID_RANGE", "range.first is below 1 or greater than range.last",
          field: "range.first")
      }
      return .range(range.first...last)
    default:
      throw .missingSelection("one of dead_letters, numbers and range is required")
    }
  }

  /// Removes dead letters, all or those with the selected numbers. Pending deliveries stay, and a removed message can
  /// still be resent by its number.
  func discardDeliveries(
    _ request: DiscardDeliveriesRequest, _ call: CallContext
  ) async throws(Status) -> DiscardDeliveriesResponse {
    let settings = try context.deliveries.settings(
      request.webhook, request.kind, of: context.catalog.value.app(request.app).id)
    let numbers: [Int64]? =
      switch request.selection {
      case .deadLetters(true)?: nil
      case .numbers(let selected)? where !selected.numbers.isEmpty: selected.numbers
      default: throw .missingSelection("one of dead_letters and numbers is required")
      }
    do throws(StoreError) {
      let count = try await context.deliveries.discard(numbers, of: settings)
      return .with { $0.discarded = count }
    } catch {
      throw Status(error)
    }
  }

  /// Ends the state `gone` of a webhook. Its messages that wait for a retry are due at once, also if it was not gone.
  func resumeWebhook(
    _ request: ResumeWebhookRequest, _ call: CallContext
  ) async throws(Status) -> ResumeWebhookResponse {
    let settings = try context.deliveries.settings(
      request.webhook, request.kind, of: context.catalog.value.app(request.app).id)
    do throws(StoreError) {
      let status = try await context.deliveries.resume(settings)
      return .with { $0.webhook = Webhook(status) }
    } catch {
      throw Status(error)
    }
  }
}

extension ResendDeliveriesResponse {
  fileprivate init(_ resent: DeliveryAdmin.ResendResult) {
    self.init()
    self.resent = Int64(resent.count)
    continueFrom = resent.nextPosition
  }
}

extension Status {
  /// No messages are selected, or with a flag that is false.
  fileprivate static func missingSelection(_ message: String) -> Status {
    .missingField("selection", message)
  }
}

extension DeliveryAdmin {
  /// The webhook that a request names; without a kind, one that receives events.
  ///
  /// - Throws: `MISSING_FIELD`, `INVALID_FIELD` for an unknown kind, `UNKNOWN_WEBHOOK` with the configured names.
  fileprivate func settings(
    _ name: String, _ kind: WebhookKind, of appID: String
  ) throws(Status) -> WebhookSettings {
    try RequestValidation.given(name, "webhook")
    let wanted: WebhookKey.Kind
    switch kind {
    case .unspecified, .events: wanted = .events
    case .notifications: wanted = .notifications
    case .unrecognized: throw .unknownValue(of: "kind")
    }
    let known = settings(of: appID).filter { $0.key.kind == wanted }
    if let settings = known.first(where: { $0.key.name == name }) { return settings }
    let names = known.isEmpty ? "none" : known.map(\.key.name).joined(separator: ", ")
    throw Status(
      .notFound, reason: "UNKNOWN_WEBHOOK",
      "the app '\(appID)' has no webhook '\(name)' of that kind; configured: \(names)",
      metadata: [("webhook", name)], field: "webhook")
  }
}
