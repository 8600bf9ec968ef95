internal import ArgumentParser
internal import Callers
internal import Foundation

/// `entitled token`: bearer tokens for callers.
struct TokenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token", abstract: "Create and hash bearer tokens for callers.",
    subcommands: [CreateTokenCommand.self, HashTokenCommand.self])
}

/// `entitled token create`.
struct CreateTokenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create", abstract: "Create a bearer token.",
    discussion: """
      Prints the token, which is not stored, and its hash. Give the token to the caller, and put the hash into \
      the caller's tokens in the configuration.
      """)

  func run() throws {
    var generator = SystemRandomNumberGenerator()
    let token = TokenHash.newToken(using: &generator)
    print(Table.aligned([("token", token), ("hash", TokenHash(of: token.utf8).description)]))
  }
}

/// `entitled token hash`.
struct HashTokenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hash", abstract: "Hash a bearer token from the standard input.")

  func run() throws {
    let token = String(decoding: FileHandle.standardInput.readDataToEndOfFile(), as: UTF8.self)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    // A shorter token could be found by hashing guesses.
    guard token.utf8.count >= 32 else {
      throw Failure("the token has \(token.utf8.count) characters; use at least 32", status: 64)
    }
    print(TokenHash(of: token.utf8).description)
  }
}
