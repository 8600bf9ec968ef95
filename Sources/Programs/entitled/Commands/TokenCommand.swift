internal import ArgumentParser
internal import Callers
internal import Foundation

/// `entitled token`: bearer tokens for callers.
struct TokenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token", abstract: "Make bearer tokens for callers.",
    subcommands: [TokenNewCommand.self, TokenHashCommand.self])
}

/// `entitled token new`: a token, and what the configuration has to say of it.
struct TokenNewCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "new", abstract: "Make a new token.",
    discussion: """
      Prints the token, which is for the caller and is kept nowhere, and its hash, which goes into the \
      configuration under callers.
      """)

  func run() throws {
    var generator = SystemRandomNumberGenerator()
    let token = TokenHash.newToken(using: &generator)
    print(Table.aligned([("token", token), ("hash", try TokenHash(of: token.utf8).description)]))
  }
}

/// `entitled token hash`: the hash of a token that there is already.
struct TokenHashCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hash", abstract: "Hash a token that is read from the standard input.")

  func run() throws {
    let token = String(decoding: FileHandle.standardInput.readDataToEndOfFile(), as: UTF8.self)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    guard token.utf8.count >= 32 else {
      throw Failure(
        "a token has at least 32 characters; shorter ones can be guessed from their hash", status: 64)
    }
    print(try TokenHash(of: token.utf8).description)
  }
}
