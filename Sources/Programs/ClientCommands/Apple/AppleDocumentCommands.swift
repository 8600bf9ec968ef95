internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled apple transaction`.
struct AppleTransactionCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "transaction", abstract: "Fetch and ingest one transaction.")

  @OptionGroup var options: ScopedOptions

  @Option(help: "Reason, for the audit log.") var note = ""

  @Argument(help: "Transaction id.") var transaction: String

  func run() async throws {
    let request: GetTransactionInfoRequest = try await options.request {
      $0.transactionId = transaction
      $0.note = note
    }
    let response = try await options.withConnection { try await $0.getTransactionInfo(request) }
    options.show(
      response,
      (response.transaction.map { [$0.appleRow] } ?? []) + [
        ("customer", response.customerId), ("document", response.changed ? "new" : "already stored"),
      ])
  }
}

/// `entitled apple app-transaction`.
struct AppTransactionCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "app-transaction", abstract: "Fetch and ingest the app install of a customer.")

  @OptionGroup var options: ScopedOptions

  @Option(help: "Customer id to link the app install to (default: none).") var customer = ""
  @Option(help: "Reason, for the audit log.") var note = ""

  @Argument(help: "Id of any transaction of the customer.") var transaction: String

  func run() async throws {
    let request: GetAppTransactionInfoRequest = try await options.request {
      $0.transactionId = transaction
      $0.customerId = customer
      $0.note = note
    }
    let response = try await options.withConnection { try await $0.getAppTransactionInfo(request) }
    options.show(
      response,
      [
        ("app transaction", response.appTransactionId), ("customer", response.customerId),
        ("first version", response.originalApplicationVersion),
        ("first download", response.originalPurchaseDate.text), ("pre-order", response.preorderDate.text),
        ("platform", response.originalPlatform), ("document", response.changed ? "new" : "already stored"),
      ])
  }
}

/// `entitled apple groups`.
struct GroupsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "groups", abstract: "List the groups of a customer at Apple.")

  @OptionGroup var options: ScopedOptions

  @Argument(help: "Id of any transaction of the customer.") var transaction: String

  func run() async throws {
    let request: GetCustomerGroupsRequest = try await options.request {
      $0.transactionId = transaction
    }
    let response = try await options.withConnection { try await $0.getCustomerGroups(request) }
    let rows = response.groups.map { group in
      let roles = group.roles.map { "\($0.productId) \($0.role)" }
      return (group.groupId, ([group.groupType] + roles).joined(separator: ", "))
    }
    options.showList(response, rows, empty: "no groups")
  }
}

/// `entitled apple group-members`.
struct GroupMembersCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "group-members", abstract: "List the members of a group at Apple.")

  @OptionGroup var options: ScopedOptions

  @Argument(help: "Group id, as 'apple groups' prints it.") var group: String

  func run() async throws {
    let request: ListGroupMembersRequest = try await options.request { $0.groupId = group }
    try await options.showPages(
      request, { try await $0.listGroupMembers($1) }, empty: "no members"
    ) { page in
      page.members.map { member in
        let customers = member.customerIds.joined(separator: ", ")
        return (member.appTransactionId, customers.isEmpty ? "no customer" : customers)
      }
    }
  }
}

/// `entitled apple seats`.
struct SeatInfoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "seats", abstract: "Show the seats of a purchase at Apple.")

  @OptionGroup var options: ScopedOptions

  @Argument(help: "Original transaction id.") var purchase: String

  func run() async throws {
    let request: GetSeatInfoRequest = try await options.request { $0.originalTransactionId = purchase }
    let response = try await options.withConnection { try await $0.getSeatInfo(request) }
    options.show(
      response,
      [
        ("seats", "\(response.totalSeatCount)"), ("available", "\(response.availableSeatCount)"),
        ("claimed", response.assignedSeatClaimIds.joined(separator: ", ")),
      ])
  }
}
