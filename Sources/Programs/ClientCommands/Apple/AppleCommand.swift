internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled apple`: calls of the App Store Server API.
struct AppleCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "apple", abstract: "Look up, refresh and change purchases at Apple.",
    subcommands: [
      RefundsCommand.self, OrderCommand.self, RefreshCommand.self, ExtendCommand.self, MassExtendCommand.self,
      MassExtensionCommand.self, SetAccountTokenCommand.self, AppleTransactionCommand.self,
      AppTransactionCommand.self, FinishCommand.self, AdvancedCommerceCommand.self, GroupsCommand.self,
      GroupMembersCommand.self, SeatInfoCommand.self, ExternalTokensCommand.self,
      ReportExternalCommand.self, ShowExternalCommand.self, WithdrawnConsentsCommand.self,
      SettleConsentCommand.self,
    ])
}

/// `entitled apple refunds`.
struct RefundsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "refunds", abstract: "List and ingest the refunds of a customer.")

  @OptionGroup var options: ScopedOptions

  @Argument(help: "Id of any transaction of the customer.") var transaction: String

  func run() async throws {
    let request: GetRefundHistoryRequest = try await options.request { $0.transactionId = transaction }
    try await options.showPages(
      request, { try await $0.getRefundHistory($1) }, empty: "no refunds"
    ) { $0.transactions.map(\.appleRow) }
  }
}

/// `entitled apple order`.
struct OrderCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "order", abstract: "Look up an order id from a customer's invoice.",
    discussion: "Exit status 0 if Apple has the order, 3 if not.")

  @OptionGroup var options: AppOptions

  @Option(help: "Reason, for the audit log.") var note = ""

  @Argument(help: "Order id, such as MK5TTTVWJH.") var order: String

  func run() async throws {
    let request: LookUpOrderRequest = try await options.request {
      $0.orderId = order
      $0.note = note
    }
    let response = try await options.withConnection { try await $0.lookUpOrder(request) }
    let customers = response.customerIds.joined(separator: ", ")
    options.show(
      response,
      [("order", response.valid ? "valid" : "unknown to Apple"), ("customers", customers)]
        + response.transactions.map(\.appleRow))
    if !response.valid { throw ExitCode(3) }
  }
}

/// `entitled apple refresh`.
struct RefreshCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "refresh", abstract: "Fetch the current state of a purchase from Apple.")

  @OptionGroup var options: ScopedOptions

  @Option(help: "Reason, for the audit log.") var note = ""

  @Argument(help: "Id of a transaction of the purchase.") var transaction: String

  func run() async throws {
    let request: RefreshPurchaseRequest = try await options.request {
      $0.transactionId = transaction
      $0.note = note
    }
    let response = try await options.withConnection { try await $0.refreshPurchase(request) }
    options.show(response, [("changed", "\(response.changed)")] + response.transactions.map(\.appleRow))
  }
}

/// The reason of both kinds of extension.
struct ExtensionReason: ParsableArguments {
  @Option(help: "Reason: undeclared, customer-satisfaction, other or service-issue.")
  var reason = "undeclared"

  func message() throws -> ExtendReason { try EnumOption.parse(reason, "EXTEND_REASON_", "--reason") }
}

/// `entitled apple extend`.
struct ExtendCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "extend", abstract: "Extend the renewal date of a subscription.")

  @OptionGroup var options: ScopedChangeOptions
  @OptionGroup var extensionReason: ExtensionReason

  @Argument(help: "Original transaction id.") var purchase: String
  @Argument(help: "Number of days, 1 to 90.") var days: Int32

  func run() async throws {
    let request: ExtendRenewalDateRequest = try await options.request {
      $0.originalTransactionId = purchase
      $0.extendByDays = days
      $0.requestIdentifier = options.change.requestIdentifier
      $0.reason = try extensionReason.message()
    }
    let response = try await options.withConnection {
      try await $0.extendRenewalDate(request)
    }
    options.show(
      response,
      [("renews", response.effectiveDate.text), ("web order line item", response.webOrderLineItemId)])
  }
}

/// `entitled apple mass-extend`.
struct MassExtendCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mass-extend", abstract: "Extend all subscriptions of a product.",
    discussion: "Prints the request id, with which 'apple mass-extension' shows the progress.")

  @OptionGroup var options: ScopedChangeOptions
  @OptionGroup var extensionReason: ExtensionReason

  @Option(help: "Storefront, such as USA; repeatable (default: all).") var storefront: [String] = []

  @Argument(help: "Product id.") var product: String
  @Argument(help: "Number of days, 1 to 90.") var days: Int32

  func run() async throws {
    let request: MassExtendRenewalDateRequest = try await options.request {
      $0.productId = product
      $0.extendByDays = days
      $0.storefrontCountryCodes = storefront
      $0.requestIdentifier = options.change.requestIdentifier
      $0.reason = try extensionReason.message()
    }
    let response = try await options.withConnection {
      try await $0.massExtendRenewalDate(request)
    }
    options.show(response, [("request", response.requestIdentifier)])
  }
}

/// `entitled apple mass-extension`.
struct MassExtensionCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mass-extension", abstract: "Show the progress of a mass extension.")

  @OptionGroup var options: ScopedOptions

  @Argument(help: "Product id.") var product: String
  @Argument(help: "Request id, as 'apple mass-extend' prints it.") var request: String

  func run() async throws {
    let query: GetMassExtensionStatusRequest = try await options.request {
      $0.productId = product
      $0.requestIdentifier = request
    }
    let response = try await options.withConnection { try await $0.getMassExtensionStatus(query) }
    options.show(
      response,
      [
        ("state", response.complete ? "complete" : "running"), ("completed", response.completeDate.text),
        ("extended", "\(response.succeededCount)"), ("failed", "\(response.failedCount)"),
      ])
  }
}

/// `entitled apple account-token`.
struct SetAccountTokenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "account-token", abstract: "Set the appAccountToken of a purchase at Apple.")

  @OptionGroup var options: ScopedOptions

  @Option(help: "Name of the person who sets it, for the timeline.") var actor = ""
  @Option(help: "Reason, for the timeline.") var note = ""

  @Argument(help: "Original transaction id.") var purchase: String
  @Argument(help: "UUID.") var token: String

  func run() async throws {
    let request: SetAppAccountTokenRequest = try await options.request {
      $0.originalTransactionId = purchase
      $0.appAccountToken = token
      $0.actor = actor
      $0.note = note
    }
    let response = try await options.withConnection { try await $0.setAppAccountToken(request) }
    options.show(response, [("set", response.setAt.text)])
  }
}

extension Transaction {
  /// The transaction in one line.
  var appleRow: (String, String) {
    let end = expiresDate.text.isEmpty ? "" : " to \(expiresDate.text)"
    let revoked = revocationDate.text.isEmpty ? "" : ", refunded \(revocationDate.text)"
    return (transactionId, "\(productId), \(purchaseDate.text)\(end)\(revoked)")
  }
}
