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

  func listWebhooks(
    _ request: ListWebhooksRequest, _ call: CallContext
  ) async throws(Status) -> ListWebhooksResponse {
    let app = try context.catalog.value.app(request.app)
    return try await context.read { reader throws(StoreError) in
      var webhooks: [Webhook] = []
      for settings in context.deliveries.settings(of: app.id) {
        webhooks.append(Webhook(try context.deliveries.status(of: settings, in: reader)))
      }
      return .with { $0.webhooks = webhooks }
    }
  }

  /// The position of a page is that of the last delivery of the previous page.
  func listDeliveries(
    _ request: ListDeliveriesRequest, _ call: CallContext
  ) async throws(Status) -> ListDeliveriesResponse {
    let settings = try context.deliveries.settings(
      request.webhook, request.kind, of: context.catalog.value.app(request.app).id)
    let size = try RequestValidation.pageSize(request.pageSize)
    let page = try context.pageTokens.page(request)
    let last = try page.number ?? 0
    return try await context.read { reader throws(StoreError) in
      let found = try reader.deliveries(
        of: settings.key, in: Store.Delivery.State(request.state), after: last, limit: size + 1)
      let deliveries = try found.prefix(size).map { delivery throws(StoreError) in
        Wire.Delivery(delivery, id: try context.deliveries.messageID(of: delivery, to: settings, in: reader))
      }
      return .with {
        $0.deliveries = deliveries
        if found.count > size { $0.nextPageToken = page.token(after: found[size - 1].position) }
      }
    }
  }

  func resendDeliveries(
    _ request: ResendDeliveriesRequest, _ call: CallContext
  ) async throws(Status) -> ResendDeliveriesResponse {
    let settings = try context.deliveries.settings(
      request.webhook, request.kind, of: context.catalog.value.app(request.app).id)
    let selection = try Self.selection(request)
    do throws(StoreError) {
      let resent = try await context.deliveries.resend(selection, to: settings)
      return .with {
        $0.resent = Int64(resent.count)
        $0.continueFromPosition = resent.nextPosition ?? 0
      }
    } catch {
      throw Status(error)
    }
  }

  private static func selection(
    _ request: ResendDeliveriesRequest
  ) throws(Status) -> DeliveryAdmin.Selection {
    let asksForRange = request.fromPosition != 0 || request.toPosition != 0
    switch (request.deadLetters, request.positions.isEmpty, asksForRange) {
    case (true, true, false): return .deadLetters
    case (false, false, false):
      guard request.positions.count <= DeliveryAdmin.maxResendCount else {
        throw Status(
          .invalidArgument, reason: "INVALID_FIELD",
          "positions has more than \(DeliveryAdmin.maxResendCount) entries", field: "positions")
      }
      return .positions(request.positions)
    case (false, true, true):
      let end = request.toPosition == 0 ? Int64.max : request.toPosition
      guard request.fromPosition > 0, request.fromPosition <= end else {
        throw Status(
          .invalidArgument, reason: "INVALID_RANGE",
          "from_position is below 1 or behind to_position", field: "from_position")
      }
      return .range(request.fromPosition...end)
    default:
      throw Status(
        .invalidArgument, reason: "MISSING_FIELD",
        "one of dead_letters, positions and from_position is needed, and only one", field: "dead_letters")
    }
  }

  func discardDeliveries(
    _ request: DiscardDeliveriesRequest, _ call: CallContext
  ) async throws(Status) -> DiscardDeliveriesResponse {
    let settings = try context.deliveries.settings(
      request.webhook, request.kind, of: context.catalog.value.app(request.app).id)
    guard request.deadLetters == request.positions.isEmpty else {
      throw Status(
        .invalidArgument, reason: "MISSING_FIELD",
        "one of dead_letters and positions is needed, and only one", field: "dead_letters")
    }
    do throws(StoreError) {
      let count = try await context.deliveries.discard(
        request.deadLetters ? nil : request.positions, of: settings)
      return .with { $0.discarded = count }
    } catch {
      throw Status(error)
    }
  }

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

extension DeliveryAdmin {
  /// The webhook that a request names.
  fileprivate func settings(
    _ name: String, _ kind: WebhookKind, of appID: String
  ) throws(Status) -> WebhookSettings {
    try RequestValidation.given(name, "webhook")
    let wanted: WebhookKey.Kind = if case .notifications = kind { .notifications } else { .events }
    let known = settings(of: appID).filter { $0.key.kind == wanted }
    if let settings = known.first(where: { $0.key.name == name }) { return settings }
    let names = known.isEmpty ? "none" : known.map(\.key.name).joined(separator: ", ")
    throw Status(
      .notFound, reason: "UNKNOWN_WEBHOOK",
      "the app '\(appID)' has no webhook '\(name)' of that kind; configured: \(names)",
      metadata: [("webhook", name)], field: "webhook")
  }
}
