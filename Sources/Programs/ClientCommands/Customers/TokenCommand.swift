internal import ArgumentParser
internal import Callers
internal import CommandSupport
internal import EntitledClient
internal import Foundation
internal import JSON
internal import Wire

/// `entitled token`: bearer tokens for callers, and tokens about entitlements.
struct TokenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token", abstract: "Create tokens of callers and about customers.",
    subcommands: [CreateTokenCommand.self, HashTokenCommand.self, IssueTokenCommand.self])
}

/// `entitled token create`.
struct CreateTokenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create", abstract: "Create a bearer token.",
    discussion: """
      Prints the token, which is not stored, and its hash. Give the token to the caller, and put the hash into \
      the caller's tokens in the configuration.
      """)

  @OptionGroup var output: JSONOption

  func run() throws {
    var generator = SystemRandomNumberGenerator()
    let token = TokenHash.newToken(using: &generator)
    output.show(["token": .string(token), "hash": .string(TokenHash(of: token.utf8).description)])
  }
}

/// `entitled token hash`.
struct HashTokenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hash", abstract: "Hash a bearer token from the standard input.")

  @OptionGroup var output: JSONOption

  func run() throws {
    let token = String(decoding: FileHandle.standardInput.readDataToEndOfFile(), as: UTF8.self)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    // A shorter token could be found by hashing guesses.
    guard token.utf8.count >= 32 else {
      throw Failure("the token has \(token.utf8.count) characters; use at least 32", status: 64)
    }
    let hash = TokenHash(of: token.utf8).description
    if output.json { output.show(["hash": .string(hash)]) } else { print(hash) }
  }
}

/// `entitled token issue`.
struct IssueTokenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "issue", abstract: "Issue a token about a customer's entitlements.",
    discussion: "Services verify it offline, with the keys at /.well-known/jwks.json.")

  @OptionGroup var options: ScopedOptions

  @Option(help: "Entitlement; repeatable (default: all).") var entitlement: [String] = []
  @Option(help: "Service for which the token is (default: the app).") var audience = ""
  @Option(help: "Lifetime in seconds (default: as configured).") var lifetime: Int64?

  @Argument(help: "Customer id.") var customer: String

  func run() async throws {
    let request: IssueTokenRequest = try await options.request {
      $0.customerId = customer
      $0.entitlements = entitlement
      $0.audience = audience
      $0.lifetime = lifetime.map { seconds in .with { $0.seconds = seconds } }
    }
    let response = try await options.withConnection { try await $0.issueToken(request) }
    options.show(
      response,
      [("token", response.token), ("expires", response.expiresAt.text), ("key", response.keyId)])
  }
}
