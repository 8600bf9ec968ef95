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

  @OptionGroup var client: ClientOptions
  @OptionGroup var scope: ScopeOptions

  @Option(help: "Access level: limited or full (default: full).") var level = GrantLevel.full
  @Option(help: "Expiry time, RFC 3339 (default: no expiry).") var until: String?
  @Option(help: "Reason, for the timeline.") var note = ""
  @Option(help: "Name of the person who grants, for the timeline.") var actor = ""
  @Option(help: "Idempotency key: a repeated request with it grants nothing more.") var key = ""
  @Flag(help: "Show the effects without changing anything.") var dryRun = false

  @Argument(help: "Customer id.") var customer: String
  @Argument(help: "Entitlement.") var entitlement: String

  func run() async throws {
    var request = GrantRequest.with {
      $0.customerId = customer
      $0.entitlement = entitlement
      $0.accessLevel = level.message
      $0.note = note
      $0.actor = actor
      $0.idempotencyKey = key
      $0.dryRun = dryRun
    }
    request.app = try scope.app.id()
    request.environment = try scope.appEnvironment()
    request.until = try TimeOption.parse(until, "--until")
    let response = try await client.withConnection { [request] in try await $0.grant(request) }
    client.show(response, [("grant", response.grant?.grantId ?? "")] + (response.entitlement?.rows ?? []))
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

  @OptionGroup var client: ClientOptions
  @OptionGroup var app: AppOption

  @Option(help: "Reason, for the timeline.") var note = ""
  @Option(help: "Name of the person who revokes, for the timeline.") var actor = ""
  @Flag(help: "Show the effects without changing anything.") var dryRun = false

  @Argument(help: "Grant id, as 'grants create' and 'grants list' print it.") var grant: String

  func run() async throws {
    let app = try app.id()
    let response = try await client.withConnection { connection in
      try await connection.revokeGrant(
        .with {
          $0.app = app
          $0.grantId = grant
          $0.actor = actor
          $0.note = note
          $0.dryRun = dryRun
        })
    }
    client.show(response, [("grant", response.grant?.grantId ?? "")] + (response.entitlement?.rows ?? []))
  }
}

/// `entitled grants list`.
struct ListGrantsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the grants of a customer.")

  @OptionGroup var client: ClientOptions
  @OptionGroup var scope: ScopeOptions

  @Argument(help: "Customer id.") var customer: String

  func run() async throws {
    let grants = try await client.customer(customer, scope).grants
    guard client.json else {
      if !grants.isEmpty { print(Table.aligned(grants.map(\.row))) }
      return
    }
    for grant in grants { print(String(decoding: grant.json(), as: UTF8.self)) }
  }
}

extension Grant {
  fileprivate var row: (String, String) {
    let end = until.text.isEmpty ? "" : " until \(until.text)"
    let revocation = revokedAt.text.isEmpty ? "" : ", revoked \(revokedAt.text)"
    return (grantId, "\(entitlement)\(end)\(revocation)\(note.isEmpty ? "" : ", \(note)")")
  }
}
