internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled grants`: entitlements without a purchase.
struct GrantsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "grants", abstract: "Create, revoke and list grants.",
    subcommands: [CreateGrantCommand.self, RevokeGrantCommand.self, ListGrantsCommand.self])
}

/// `entitled grants create`.
struct CreateGrantCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create", abstract: "Grant an entitlement without a purchase.")

  @OptionGroup var options: ScopedOptions

  @Option(help: "Access level: limited or full.") var level = GrantLevel.full
  @Option(help: "Expiry time, RFC 3339, or the last day (default: no expiry).") var until: String?
  @Option(help: "Reason, for the timeline.") var note = ""
  @Option(help: "Name of the person who grants, for the timeline.") var actor = ""
  @Option(help: "Idempotency key: a repeated request with it grants nothing more.") var key = ""
  @Flag(help: "Show the effects without changing anything.") var dryRun = false

  @Option(help: "Start time, RFC 3339 or a date (default: now).") var since: String?
  @Option(help: "Other store of the purchase, such as play or stripe.") var source = ""
  @Option(help: "The store's id of the purchase.") var externalId = ""
  @Option(help: "The store's id of the product.") var productId = ""
  @Option(help: "Number of the purchase's state; a greater one replaces it.") var revision: Int64 = 0
  @Option(help: "Time of the store's refund, RFC 3339 or a date (default: none).") var refundedAt: String?

  @Argument(help: "Customer id.") var customer: String
  @Argument(help: "Entitlement.") var entitlement: String

  func run() async throws {
    let request: GrantRequest = try await options.request {
      $0.customerId = customer
      $0.entitlement = entitlement
      $0.accessLevel = level.message
      $0.note = note
      $0.actor = actor
      $0.idempotencyKey = key
      $0.dryRun = dryRun
      $0.source = source
      $0.externalId = externalId
      $0.productId = productId
      $0.revision = revision
      $0.since = try TimeOption.parse(since, "--since")
      $0.until = try TimeOption.parse(until, "--until", day: .end)
      $0.refundedAt = try TimeOption.parse(refundedAt, "--refunded-at")
    }
    let response = try await options.withConnection { try await $0.grant(request) }
    let superseded =
      response.superseded ? [("superseded", "by revision \(response.grant?.revision ?? 0)")] : []
    options.show(
      response,
      [("grant", response.grant?.grantId ?? "")] + superseded + (response.entitlement?.rows ?? []))
  }
}

/// The access level of a grant.
enum GrantLevel: String, ExpressibleByArgument {
  case limited
  case full

  var message: AccessLevel {
    switch self {
    case .limited: .limited
    case .full: .full
    }
  }
}

/// `entitled grants revoke`.
struct RevokeGrantCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "revoke", abstract: "Revoke a grant.")

  @OptionGroup var options: AppOptions

  @Option(help: "Reason, for the timeline.") var note = ""
  @Option(help: "Name of the person who revokes, for the timeline.") var actor = ""
  @Flag(help: "Show the effects without changing anything.") var dryRun = false

  @Argument(help: "Grant id, as 'grants create' and 'grants list' print it.") var grant: String

  func run() async throws {
    let request: RevokeGrantRequest = try await options.request {
      $0.grantId = grant
      $0.actor = actor
      $0.note = note
      $0.dryRun = dryRun
    }
    let response = try await options.withConnection { try await $0.revokeGrant(request) }
    options.show(response, [("grant", response.grant?.grantId ?? "")] + (response.entitlement?.rows ?? []))
  }
}

/// `entitled grants list`.
struct ListGrantsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List grants, of one customer or of all.")

  @OptionGroup var options: ScopedOptions

  @Option(help: "Only purchases in this store (default: all grants).") var source = ""

  @Argument(help: "Customer id (default: all customers).") var customer = ""

  func run() async throws {
    let request: ListGrantsRequest = try await options.request {
      $0.customerId = customer
      $0.source = source
    }
    try await options.showPages(
      request, { try await $0.listGrants($1) }, empty: "no grants"
    ) { $0.rows }
  }
}

extension ListGrantsResponse {
  fileprivate var rows: [(String, String)] { grants.map(\.row) }
}

extension Grant {
  fileprivate var row: (String, String) {
    let end = until.text.isEmpty ? "" : " until \(until.text)"
    let revocation = revokedAt.text.isEmpty ? "" : ", revoked \(revokedAt.text)"
    let store = source.isEmpty ? "" : ", \(source) \(externalId) revision \(revision)"
    return (
      grantId, "\(customerId) \(entitlement)\(end)\(revocation)\(store)\(note.isEmpty ? "" : ", \(note)")"
    )
  }
}
