internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled consumption`: Apple's consumption requests and the customers' consent.
struct ConsumptionCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "consumption", abstract: "List and answer consumption requests; consent.",
    subcommands: [
      ListConsumptionCommand.self, AnswerConsumptionCommand.self, AnswerConsumptionV1Command.self,
      ConsentCommand.self,
    ],
    defaultSubcommand: ListConsumptionCommand.self)
}

/// `entitled consumption list`.
struct ListConsumptionCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List consumption requests, latest first.")

  @OptionGroup var options: AppOptions

  @Flag(help: "List only requests that can still be answered, earliest deadline first.") var open = false

  func run() async throws {
    let request: ListConsumptionRequestsRequest = try await options.request {
      $0.state = open ? .open : .unspecified
    }
    let empty = open ? "no open consumption requests" : "no consumption requests"
    try await options.showPages(
      request, { try await $0.listConsumptionRequests($1) }, empty: empty
    ) { $0.requests.map(\.row) }
  }
}

/// `entitled consumption answer`.
struct AnswerConsumptionCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "answer", abstract: "Send consumption information to Apple.",
    discussion: """
      Apple requires the customer's consent (--consented). --delivery is delivered, undelivered-quality-issue, \
      undelivered-wrong-item, undelivered-server-outage or undelivered-other; --refund is decline, grant-full or \
      grant-prorated.
      """)

  @OptionGroup var options: ScopedOptions

  @Flag(help: "The customer consented.") var consented = false
  @Option(help: "Delivery of the purchase.") var delivery: String
  @Option(help: "Preference for the refund (default: none).") var refund: String?
  @Option(help: "Consumed share in thousandths of a percent, 0 to 100000.") var percentage: Int32?
  @Flag(help: "The customer had a free sample before.") var sample = false
  @Option(help: "Name of the person who answers, for the timeline.") var actor = ""
  @Option(help: "Reason, for the timeline.") var note = ""
  @Flag(help: "Show the information without sending it.") var dryRun = false

  @Argument(help: "Transaction id, as 'consumption list' prints it.") var transaction: String

  func run() async throws {
    let request: SendConsumptionInformationRequest = try await options.request {
      $0.transactionId = transaction
      $0.customerConsented = consented
      $0.consumptionPercentage = percentage
      $0.sampleContentProvided = sample
      $0.actor = actor
      $0.note = note
      $0.dryRun = dryRun
      $0.deliveryStatus = try EnumOption.parse(delivery, "DELIVERY_STATUS_", "--delivery")
      $0.refundPreference = try EnumOption.parse(refund, "REFUND_PREFERENCE_", "--refund")
    }
    let response = try await options.withConnection { try await $0.sendConsumptionInformation(request) }
    options.show(response, [("sent", response.sentAt.text), ("information", response.payloadJson)])
  }
}

/// `entitled consumption consent`.
struct ConsentCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "consent", abstract: "Record consent to report consumption to Apple.")

  @OptionGroup var options: ScopedOptions

  @Flag(help: "Withdraw the consent.") var withdraw = false
  @Option(help: "How the customer gave or withdrew the consent.") var note = ""

  @Argument(help: "Customer id.") var customer: String

  func run() async throws {
    let request: SetConsumptionConsentRequest = try await options.request {
      $0.customerId = customer
      $0.consented = !withdraw
      $0.note = note
    }
    let response = try await options.withConnection { try await $0.setConsumptionConsent(request) }
    options.show(response, response.consent.map { [(customer, $0.summary)] } ?? [])
  }
}

extension ConsumptionConsent {
  /// The consent in one line.
  var summary: String { "\(consented ? "given" : "not given"), since \(since.text)" }
}

extension ConsumptionRequest {
  fileprivate var row: (String, String) {
    let state = state.protoName.droppingPrefix("CONSUMPTION_REQUEST_STATE_").lowercased()
    let customer = customerId.isEmpty ? "no customer" : customerId
    let cause = stateReason.isEmpty ? "" : ", \(stateReason)"
    return (transactionId, "\(customer), \(productId), \(reason): \(state)\(cause); by \(answerBy.text)")
  }
}
