internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled notifications list`.
struct ListNotificationsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List Apple's notifications, latest first.")

  @OptionGroup var options: ScopedOptions

  @Option(help: "Customer id (default: all customers).") var customer = ""
  @Option(help: "Type, for example DID_RENEW (default: all).") var type = ""
  @Option(help: "State: applied, superseded, unsupported, rejected or unconfirmed (default: all).")
  var state: String?
  @OptionGroup var arrival: ArrivalOptions

  func run() async throws {
    let request: ListNotificationsRequest = try await options.request {
      $0.customerId = customer
      $0.notificationType = type
      $0.state = try EnumOption.parse(state, "NOTIFICATION_STATE_", "--state")
      ($0.startTime, $0.endTime) = try arrival.times()
    }
    try await options.showPages(
      request, { try await $0.listNotifications($1) }, empty: "no notifications"
    ) { $0.notifications.map(\.entry) }
  }
}

/// `entitled notifications submit`.
struct SubmitNotificationCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "submit", abstract: "Submit the body of a notification.",
    discussion: "For notifications that another system received. A signature is required, as at the edge.")

  @OptionGroup var options: AppOptions

  @Option(help: "Time of its arrival there, RFC 3339 (default: now).") var receivedAt: String?

  @Argument(help: "JSON as Apple posts it: text, @FILE, or - for the standard input.") var body: String

  func run() async throws {
    let request: IngestNotificationRequest = try await options.request {
      $0.body = Array(try Document.bytes(body))
      $0.receivedAt = try TimeOption.parse(receivedAt, "--received-at")
    }
    let response = try await options.withConnection { try await $0.ingestNotification(request) }
    options.show(
      response,
      (response.notification.map { [$0.entry] } ?? [])
        + (response.alreadyKnown ? [("", "already stored")] : []))
  }
}

/// `entitled notifications test`.
struct RequestTestNotificationCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test", abstract: "Request a test notification from Apple.",
    discussion: "Prints the token, with which 'notifications test-status' shows the delivery.")

  @OptionGroup var options: ScopedOptions

  @Option(help: "Name of the person who requests it.") var actor = ""

  func run() async throws {
    let request: RequestTestNotificationRequest = try await options.request { $0.actor = actor }
    let response = try await options.withConnection { try await $0.requestTestNotification(request) }
    options.show(response, [("token", response.testNotificationToken)])
  }
}

/// `entitled notifications test-status`.
struct TestNotificationStatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test-status", abstract: "Show how Apple delivered a test notification.")

  @OptionGroup var options: ScopedOptions

  @Argument(help: "Token, as 'notifications test' prints it.") var token: String

  func run() async throws {
    let request: GetTestNotificationStatusRequest = try await options.request {
      $0.testNotificationToken = token
    }
    let response = try await options.withConnection { try await $0.getTestNotificationStatus(request) }
    options.showList(
      response, response.sendAttempts.map { ($0.attemptDate.text, $0.result) }, empty: "no attempt yet")
  }
}

extension Wire.Notification {
  /// The notification as an entry of a list.
  fileprivate var entry: (String, String) {
    let name = subtype.isEmpty ? notificationType : "\(notificationType)/\(subtype)"
    let state = state.protoName.droppingPrefix("NOTIFICATION_STATE_").lowercased()
    let about = [customerId, productId, originalTransactionId].filter { !$0.isEmpty }.joined(separator: " ")
    // A body that cannot be read has no name.
    let head = name.isEmpty ? state : "\(name): \(state)"
    return (
      receivedAt.text,
      [head, reasonAndRemedy, about, explanation, "evidence \(evidenceId)"].filter { !$0.isEmpty }
        .joined(separator: ", ")
    )
  }

  /// The reason of the state, with what the operator can compare if the configuration is a likely cause.
  private var reasonAndRemedy: String {
    let remedy: String? =
      switch reason {
      case "WRONG_BUNDLE": "compare bundle_id in the configuration"
      case "WRONG_APP": "compare apple_id in the configuration"
      case "WRONG_ENVIRONMENT": "add it to environments in the configuration"
      case "NO_SHARED_SECRET": "version 1 needs shared_secret in the configuration"
      case "WRONG_SHARED_SECRET": "compare shared_secret with App Store Connect"
      default: nil
      }
    return remedy.map { "\(reason) (\($0))" } ?? reason
  }
}
