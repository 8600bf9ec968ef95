internal import ArgumentParser
internal import EntitledClient
internal import Foundation
internal import Wire

/// The options of commands that change who owns what.
struct ChangeOptions: ParsableArguments {
  @Option(help: "Name of the person who changes it, for the timeline.") var actor = ""
  @Option(help: "Reason, for the timeline.") var note = ""
  @Option(help: "Idempotency key: a repeated request with it changes nothing more.") var key = ""

  /// A new id by which Apple recognizes the request; empty with a key, of which the service makes one.
  var requestIdentifier: String { key.isEmpty ? UUID().uuidString.lowercased() : "" }
}

/// The policies for a purchase that another customer owns.
enum OwnershipPolicyOption: String, ExpressibleByArgument, CaseIterable {
  case keep
  case transfer
  case share

  /// The policy of the contract; `nil` selects the app's.
  static func message(_ option: OwnershipPolicyOption?) -> OwnershipPolicy {
    switch option {
    case nil: .unspecified
    case .keep: .keep
    case .transfer: .transfer
    case .share: .share
    }
  }
}

/// `entitled link`.
struct LinkCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "link", abstract: "Link a purchase to a customer.",
    discussion: "Prints the id with which 'entitled undo' reverts it.")

  @OptionGroup var options: ScopedChangeOptions

  @Option(help: "Policy if another customer owns it (default: the app's policy).")
  var policy: OwnershipPolicyOption?
  @Flag(help: "Show the effects without changing anything.") var dryRun = false

  @Argument(help: "Customer id.") var customer: String
  @Argument(help: "Original transaction id.") var purchase: String

  func run() async throws {
    let request: LinkPurchaseRequest = try await options.request {
      $0.customerId = customer
      $0.originalTransactionId = purchase
      $0.policy = OwnershipPolicyOption.message(policy)
      $0.dryRun = dryRun
    }
    let response = try await options.withConnection { try await $0.linkPurchase(request) }
    options.show(
      response,
      [("transfer", response.transferId), ("previous owner", response.previousCustomerId)]
        + response.events.map(\.change))
  }
}

/// `entitled transfer`.
struct TransferCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "transfer", abstract: "Transfer a purchase to another customer.",
    discussion: "Prints the id with which 'entitled undo' reverts it.")

  @OptionGroup var options: ScopedChangeOptions

  @Option(help: "Policy: transfer or share.") var policy = OwnershipPolicyOption.transfer
  @Flag(help: "Show the effects without changing anything.") var dryRun = false

  @Argument(help: "Original transaction id.") var purchase: String
  @Argument(help: "Customer id of the owner.") var from: String
  @Argument(help: "Customer id of the new owner.") var to: String

  func run() async throws {
    let request: TransferPurchaseRequest = try await options.request {
      $0.originalTransactionId = purchase
      $0.fromCustomerId = from
      $0.toCustomerId = to
      $0.policy = OwnershipPolicyOption.message(policy)
      $0.dryRun = dryRun
    }
    let response = try await options.withConnection { try await $0.transferPurchase(request) }
    options.show(response, [("transfer", response.transferId)] + response.events.map(\.change))
  }
}

/// `entitled merge`.
struct MergeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "merge", abstract: "Merge a customer into another one.",
    discussion: "Prints the id with which 'entitled undo' reverts it.")

  @OptionGroup var options: ScopedChangeOptions

  @Flag(help: "Show the effects without changing anything.") var dryRun = false

  @Argument(help: "Customer id that ends.") var from: String
  @Argument(help: "Customer id that remains.") var into: String

  func run() async throws {
    let request: MergeCustomersRequest = try await options.request {
      $0.fromCustomerId = from
      $0.intoCustomerId = into
      $0.dryRun = dryRun
    }
    let response = try await options.withConnection { try await $0.mergeCustomers(request) }
    options.show(
      response,
      [("transfer", response.transferId)] + response.originalTransactionIds.map { ("purchase", $0) }
        + response.events.map(\.change))
  }
}

/// `entitled undo`.
struct UndoTransferCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "undo", abstract: "Undo a link, a transfer or a merge.")

  @OptionGroup var options: AppOptions
  @OptionGroup var change: ChangeOptions

  @Flag(help: "Show the effects without changing anything.") var dryRun = false

  @Argument(help: "Transfer id, as 'link', 'transfer' and 'merge' print it.") var transfer: String

  func run() async throws {
    let request: UndoTransferRequest = try await options.request {
      $0.transferId = transfer
      $0.actor = change.actor
      $0.note = change.note
      $0.idempotencyKey = change.key
      $0.dryRun = dryRun
    }
    let response = try await options.withConnection { try await $0.undoTransfer(request) }
    options.show(response, [(dryRun ? "would undo" : "undone", transfer)] + response.events.map(\.change))
  }
}

/// `entitled family`.
struct FamilyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "family", abstract: "List customers who probably share purchases.")

  @OptionGroup var options: ScopedOptions

  @Argument(help: "Customer id.") var customer: String

  func run() async throws {
    let request: GetProbableFamilyRequest = try await options.request { $0.customerId = customer }
    let response = try await options.withConnection { try await $0.getProbableFamily(request) }
    options.showList(
      response, response.members.map(\.row), empty: "no probable family members of '\(customer)'")
  }
}

extension ProbableFamilyMember {
  fileprivate var row: (String, String) {
    let percent = Int((confidence * 100).rounded())
    return (customerId, "\(percent) %, purchase \(originalTransactionId): \(grounds.joined(separator: "; "))")
  }
}

extension EntitlementEvent {
  /// The event as an effect of a command.
  var change: (String, String) {
    ("change", "\(customerId) \(entitlement.isEmpty ? productId : entitlement) \(summary)")
  }
}
