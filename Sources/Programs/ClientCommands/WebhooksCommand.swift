internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled webhooks`.
struct WebhooksCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "webhooks", abstract: "List webhooks and deliveries; retry failed ones.",
    subcommands: [
      ListWebhooksCommand.self, ListDeliveriesCommand.self, ShowDeliveryCommand.self,
      ResendDeliveriesCommand.self,
      DiscardDeliveriesCommand.self, ResumeWebhookCommand.self,
    ],
    defaultSubcommand: ListWebhooksCommand.self)
}

/// The options of commands about one webhook.
struct WebhookOptions: AppConnectionOptions {
  @OptionGroup var client: ClientOptions
  @Option(help: appHelp) var app: String?

  @Flag(help: "Select among forward_notifications instead of webhooks.") var forwarding = false

  @Argument(help: "Name of the webhook in the configuration.") var webhook: String

  /// Creates a request about the selected webhook; `build` sets its further fields.
  func request<Request: WebhookRequest>(
    _ build: (inout Request) throws -> Void = { _ in }
  ) async throws -> Request {
    try await appRequest {
      $0.webhook = webhook
      $0.kind = forwarding ? .notifications : .events
      try build(&$0)
    }
  }
}

/// Selects stored deliveries of a webhook.
struct DeliveryOptions: ParsableArguments {
  @Flag(help: "Select all dead letters.") var deadLetters = false
  @Option(help: "Number of a delivery; repeatable.") var number: [Int64] = []

  func validate() throws {
    guard !deadLetters || number.isEmpty else {
      throw ValidationError("--dead-letters and --number exclude each other")
    }
  }
}

/// `entitled webhooks list`.
struct ListWebhooksCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List webhooks with their state.")

  @OptionGroup var options: AppOptions

  func run() async throws {
    let request: ListWebhooksRequest = try await options.request()
    try await options.showPages(
      request, { try await $0.listWebhooks($1) }, empty: "no webhooks"
    ) { $0.webhooks.map(\.row) }
  }
}

/// `entitled webhooks show`.
struct ShowDeliveryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show a message as the webhook receives it.")

  @OptionGroup var webhook: WebhookOptions

  @Argument(help: "Number, as 'webhooks deliveries' prints it.") var number: Int64

  func run() async throws {
    let request: GetDeliveryRequest = try await webhook.request {
      $0.number = number
    }
    let response = try await webhook.withConnection { try await $0.getDelivery(request) }
    webhook.show(
      response,
      [
        ("id", response.webhookId), ("type", response.type), ("subject", response.subject),
        ("attempts", response.delivery.map { "\($0.attempts), \($0.outcome)" } ?? ""),
        ("body", String(decoding: response.body, as: UTF8.self)),
      ])
  }
}

/// `entitled webhooks deliveries`.
struct ListDeliveriesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "deliveries", abstract: "List pending deliveries and dead letters, in order.")

  @OptionGroup var webhook: WebhookOptions

  @Flag(help: "List only dead letters.") var deadLetters = false

  func run() async throws {
    let request: ListDeliveriesRequest = try await webhook.request {
      $0.state = deadLetters ? .deadLetter : .unspecified
    }
    try await webhook.showPages(
      request, { try await $0.listDeliveries($1) },
      empty: deadLetters ? "no dead letters" : "no pending deliveries"
    ) { $0.deliveries.map(\.row) }
  }
}

/// `entitled webhooks resend`.
struct ResendDeliveriesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resend", abstract: "Send dead letters or earlier deliveries again.")

  @OptionGroup var webhook: WebhookOptions
  @OptionGroup var deliveries: DeliveryOptions

  @Option(help: "First number of a range (default: no range).") var from: Int64?
  @Option(help: "Last number of the range (default: the latest).") var to: Int64?
  @Option(help: "Reason, for the audit log.") var note = ""

  func run() async throws {
    let first: ResendDeliveriesRequest = try await webhook.request {
      $0.selection = selection
      $0.note = note
    }
    try await webhook.withConnection { connection in
      var request = first
      let progress = ProgressLine()
      defer { progress.finish() }
      while true {
        let response = try await connection.resendDeliveries(request)
        webhook.show(response, [("resent", "\(response.resent)")])
        progress.update("resending from number \(response.continueFrom ?? 0)")
        guard let next = response.continueFrom else { break }
        request.selection = .range(range(from: next))
      }
    }
  }

  private var selection: ResendDeliveriesRequest.Selection? {
    if deliveries.deadLetters { return .deadLetters(true) }
    if let from { return .range(range(from: from)) }
    return .numbers(.with { $0.numbers = deliveries.number })
  }

  private func range(from first: Int64) -> DeliveryRange {
    .with {
      $0.first = first
      $0.last = to
    }
  }
}

/// `entitled webhooks discard`.
struct DiscardDeliveriesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "discard", abstract: "Delete dead letters.")

  @OptionGroup var webhook: WebhookOptions
  @OptionGroup var deliveries: DeliveryOptions

  @Option(help: "Reason, for the audit log.") var note = ""

  func run() async throws {
    let request: DiscardDeliveriesRequest = try await webhook.request {
      $0.note = note
      $0.selection =
        deliveries.deadLetters ? .deadLetters(true) : .numbers(.with { $0.numbers = deliveries.number })
    }
    let response = try await webhook.withConnection { try await $0.discardDeliveries(request) }
    webhook.show(response, [("discarded", "\(response.discarded)")])
  }
}

/// `entitled webhooks resume`.
struct ResumeWebhookCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "Resume a webhook that was stopped by 410 Gone.")

  @OptionGroup var webhook: WebhookOptions

  @Option(help: "Reason, for the audit log.") var note = ""

  func run() async throws {
    let request: ResumeWebhookRequest = try await webhook.request {
      $0.note = note
    }
    let response = try await webhook.withConnection { try await $0.resumeWebhook(request) }
    webhook.show(response, response.webhook.map { [$0.row] } ?? [])
  }
}

extension Webhook {
  fileprivate var row: (String, String) {
    let state = state.protoName.droppingPrefix("WEBHOOK_STATE_").lowercased()
    let kind = kind.protoName.droppingPrefix("WEBHOOK_KIND_").lowercased()
    let progress = "at \(cursor) of \(latestNumber), \(pending) pending, \(deadLetters) dead letters"
    return (name, "\(kind) to \(url): \(state), \(progress)")
  }
}

extension Wire.Delivery {
  fileprivate var row: (String, String) {
    let state = state.protoName.droppingPrefix("DELIVERY_STATE_").lowercased()
    let last = outcome.isEmpty ? "" : ", \(outcome)"
    return ("\(number)  \(subject)", "\(type): \(state), attempts: \(attempts)\(last)")
  }
}
