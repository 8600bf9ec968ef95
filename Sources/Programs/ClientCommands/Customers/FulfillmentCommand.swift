internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled fulfillment`: consumables to deliver.
struct FulfillmentCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fulfillment", abstract: "List and acknowledge consumables to deliver.",
    subcommands: [ListUnfulfilledCommand.self, AcknowledgeCommand.self],
    defaultSubcommand: ListUnfulfilledCommand.self)
}

/// `entitled fulfillment list`.
struct ListUnfulfilledCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List consumables to deliver or take back.")

  @OptionGroup var options: ScopedOptions

  @Option(help: "Customer id (default: all customers).") var customer = ""

  func run() async throws {
    let request: ListUnfulfilledPurchasesRequest = try await options.request {
      $0.customerId = customer
    }
    try await options.showPages(
      request, { try await $0.listUnfulfilledPurchases($1) }, empty: "nothing to deliver or take back"
    ) { $0.purchases.map(\.row) }
  }
}

/// `entitled fulfillment acknowledge`.
struct AcknowledgeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "acknowledge", abstract: "Acknowledge a delivery or a take-back.")

  @OptionGroup var options: ScopedOptions

  @Option(help: "Units delivered; negative: taken back (default: the units that are due).") var units: Int64?
  @Option(help: "Name of the person who delivers.") var actor = ""

  @Argument(help: "Transaction id.") var transaction: String
  @Argument(help: "Your id of the delivery; a repeated id changes nothing.") var fulfillment: String

  func run() async throws {
    let request: AcknowledgeFulfillmentRequest = try await options.request {
      $0.transactionId = transaction
      $0.fulfillmentId = fulfillment
      $0.units = units
      $0.actor = actor
    }
    let response = try await options.withConnection { try await $0.acknowledgeFulfillment(request) }
    options.show(response, [("fulfilled", "\(response.fulfilledUnits)"), ("due", "\(response.unitsDue)")])
  }
}

extension UnfulfilledPurchase {
  fileprivate var row: (String, String) {
    let action = units > 0 ? "deliver \(units)" : "take back \(-units)"
    return (transaction?.transactionId ?? "", "\(customerId), \(transaction?.productId ?? ""): \(action)")
  }
}
