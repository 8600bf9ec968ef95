internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled retention default`.
struct DefaultMessageCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "default", abstract: "Show the default message of a product.")

  @OptionGroup var options: ScopedOptions

  @Argument(help: "Product id.") var product: String
  @Argument(help: "Locale, such as en-US.") var locale: String

  func run() async throws {
    let request: GetDefaultRetentionMessageRequest = try await options.request {
      $0.productId = product
      $0.locale = locale
    }
    let response = try await options.withConnection { try await $0.getDefaultRetentionMessage(request) }
    options.show(response, [("message", response.messageIdentifier)])
  }
}

/// `entitled retention set-default`.
struct SetDefaultMessageCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set-default", abstract: "Set the default message of a product.")

  @OptionGroup var options: ScopedChangeOptions

  @Argument(help: "Product id.") var product: String
  @Argument(help: "Locale, such as en-US.") var locale: String
  @Argument(help: "Identifier of an approved message.") var message: String

  func run() async throws {
    let request: SetDefaultRetentionMessageRequest = try await options.request {
      $0.productId = product
      $0.locale = locale
      $0.messageIdentifier = message
    }
    let response = try await options.withConnection {
      try await $0.setDefaultRetentionMessage(request)
    }
    options.show(response, [("accepted", response.acceptedAt.text)])
  }
}

/// `entitled retention delete-default`.
struct DeleteDefaultMessageCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete-default", abstract: "Remove the default message of a product.")

  @OptionGroup var options: ScopedChangeOptions

  @Argument(help: "Product id.") var product: String
  @Argument(help: "Locale, such as en-US.") var locale: String

  func run() async throws {
    let request: DeleteDefaultRetentionMessageRequest = try await options.request {
      $0.productId = product
      $0.locale = locale
    }
    let response = try await options.withConnection {
      try await $0.deleteDefaultRetentionMessage(request)
    }
    options.show(response, [("accepted", response.acceptedAt.text)])
  }
}

/// `entitled retention test`.
struct PerformanceTestCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test", abstract: "Start a performance test of the URL.",
    discussion: """
      Apple's sandbox only. Prints the request id, with which 'retention test-result' shows the result.
      """)

  @OptionGroup var options: ScopedChangeOptions

  @Argument(help: "Original transaction id of a subscription of Apple's sandbox.") var purchase: String

  func run() async throws {
    let request: StartRetentionPerformanceTestRequest = try await options.request {
      $0.originalTransactionId = purchase
    }
    let response = try await options.withConnection {
      try await $0.startRetentionPerformanceTest(request)
    }
    options.show(
      response, [("request", response.requestId), ("calls", "\(response.config?.totalRequests ?? 0)")])
  }
}

/// `entitled retention test-result`.
struct PerformanceTestResultCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test-result", abstract: "Show the result of a performance test.")

  @OptionGroup var options: ScopedOptions

  @Argument(help: "Request id, as 'retention test' prints it.") var request: String

  func run() async throws {
    let query: GetRetentionPerformanceTestRequest = try await options.request {
      $0.requestId = request
    }
    let response = try await options.withConnection { try await $0.getRetentionPerformanceTest(query) }
    let times = response.responseTimes ?? RetentionResponseTimes()
    options.show(
      response,
      [
        ("result", response.result), ("url", response.target), ("success", "\(response.successRate) %"),
        ("pending", "\(response.pending)"),
        ("response time", "p50 \(times.p50Ms) ms, p95 \(times.p95Ms) ms, p99 \(times.p99Ms) ms"),
      ] + response.failures.map { ("failed", "\($0.cause) \($0.count)") })
  }
}
