internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled webhooks`: what goes out, and what did not arrive.
struct WebhooksCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "webhooks", abstract: "Tell what goes out to other systems, and send it again.",
    subcommands: [
      ListWebhooksCommand.self, ListDeliveriesCommand.self, ReplayDeliveriesCommand.self,
      DiscardDeliveriesCommand.self, ResumeWebhookCommand.self,
    ],
    defaultSubcommand: ListWebhooksCommand.self)
}

/// Which receiver is meant.
struct WebhookOptions: ParsableArguments {
  @Option(help: "The app, as configured.") var app = "ocean-journal"
  @Flag(help: "One of forward_notifications, and not of webhooks.") var forwarding = false
  @Argument(help: "Its name, as configured.") var webhook: String

  var kind: WebhookKind { forwarding ? .notifications : .events }
}

/// `entitled webhooks list`.
struct ListWebhooksCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Tell how each receiver is doing.")

  @OptionGroup var client: ClientOptions
  @Option(help: "The app, as configured.") var app = "ocean-journal"

  func run() async throws {
    let response = try await client.withConnection { connection in
      try await connection.listWebhooks(.with { $0.app = app })
    }
    client.show(response, response.webhooks.map(\.row))
  }
}

/// `entitled webhooks deliveries`.
struct ListDeliveriesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "deliveries", abstract: "Tell what did not arrive, in the order in which it has to.")

  @OptionGroup var client: ClientOptions
  @OptionGroup var webhook: WebhookOptions
  @Flag(help: "Only what was given up.") var dead = false

  func run() async throws {
    try await client.withConnection { connection in
      var token = ""
      repeat {
        let request = ListDeliveriesRequest.with {
          $0.app = webhook.app
          $0.webhook = webhook.webhook
          $0.kind = webhook.kind
          $0.state = dead ? .deadLetter : .unspecified
          $0.pageToken = token
        }
        let page = try await connection.listDeliveries(request)
        if client.json || !page.deliveries.isEmpty { client.show(page, page.deliveries.map(\.row)) }
        token = page.nextPageToken
      } while !token.isEmpty
    }
  }
}

/// `entitled webhooks replay`.
struct ReplayDeliveriesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay", abstract: "Send again what was given up, or what was sent before.")

  @OptionGroup var client: ClientOptions
  @OptionGroup var webhook: WebhookOptions
  @Flag(help: "All that was given up.") var dead = false
  @Option(help: "This position; may be given more than once.") var position: [Int64] = []
  @Option(help: "All from this position on.") var from: Int64 = 0
  @Option(help: "Up to this position.") var to: Int64 = 0

  func run() async throws {
    try await client.withConnection { connection in
      var request = ResendDeliveriesRequest.with {
        $0.app = webhook.app
        $0.webhook = webhook.webhook
        $0.kind = webhook.kind
        $0.deadLetters = dead
        $0.positions = position
        $0.fromPosition = from
        $0.toPosition = to
      }
      repeat {
        let response = try await connection.replayDeliveries(request)
        client.show(response, [("sent again", "\(response.resent)")])
        request.fromPosition = response.continueFromPosition
      } while request.fromPosition > 0
    }
  }
}

/// `entitled webhooks discard`.
struct DiscardDeliveriesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "discard", abstract: "Forget what was given up, once nobody wants it any more.")

  @OptionGroup var client: ClientOptions
  @OptionGroup var webhook: WebhookOptions
  @Flag(help: "All that was given up.") var dead = false
  @Option(help: "This position; may be given more than once.") var position: [Int64] = []

  func run() async throws {
    let request = DiscardDeliveriesRequest.with {
      $0.app = webhook.app
      $0.webhook = webhook.webhook
      $0.kind = webhook.kind
      $0.deadLetters = dead
      $0.positions = position
    }
    let response = try await client.withConnection { try await $0.discardDeliveries(request) }
    client.show(response, [("discarded", "\(response.discarded)")])
  }
}

/// `entitled webhooks resume`.
struct ResumeWebhookCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "Begin again with a receiver that had answered 410 Gone.")

  @OptionGroup var client: ClientOptions
  @OptionGroup var webhook: WebhookOptions

  func run() async throws {
    let request = ResumeWebhookRequest.with {
      $0.app = webhook.app
      $0.webhook = webhook.webhook
      $0.kind = webhook.kind
    }
    let response = try await client.withConnection { try await $0.resumeWebhook(request) }
    client.show(response, response.webhook.map { [$0.row] } ?? [])
  }
}

extension Webhook {
  /// How it is doing, in one line.
  fileprivate var row: (String, String) {
    let word = state.protoName.droppingPrefix("WEBHOOK_STATE_").lowercased()
    let what = kind.protoName.droppingPrefix("WEBHOOK_KIND_").lowercased()
    return (
      name,
      "\(what) to \(url): \(word), at \(position) of \(latestPosition), \(pending) pending, \(deadLetters) dead letters"
    )
  }
}

extension Wire.Delivery {
  /// What became of it, in one line.
  fileprivate var row: (String, String) {
    let word = state.protoName.droppingPrefix("DELIVERY_STATE_").lowercased()
    let last = outcome.isEmpty ? "" : ", \(outcome)"
    return ("\(position)  \(subject)", "\(type): \(word), attempts: \(attempts)\(last)")
  }
}
