internal import ArgumentParser
internal import Foundation

/// The program: the service, the sandbox, and the API from a terminal.
@main
struct Entitled: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "entitled",
    abstract: "Verify App Store purchases and serve entitlements.",
    version: Version.current,
    subcommands: [
      ServeCommand.self, SandboxCommand.self, CheckCommand.self, SubmitCommand.self, InspectCommand.self,
      CustomerCommand.self, TimelineCommand.self, WatchCommand.self, ExplainCommand.self, GrantsCommand.self,
      HealthCommand.self, StoreCommand.self, TokenCommand.self, NotificationsCommand.self,
      ConfigCommand.self, MigrateCommand.self, WebhooksCommand.self,
      ConsumptionCommand.self, ClaimsCommand.self, FulfillmentCommand.self,
    ])

  /// Runs the command. A ``Failure`` becomes one line on the standard error and a nonzero exit status.
  static func main() async {
    do {
      var command = try parseAsRoot()
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
    } catch let failure as Failure {
      FileHandle.standardError.write(Data("entitled: \(failure.message)\n".utf8))
      Foundation.exit(failure.status)
    } catch {
      exit(withError: error)
    }
  }
}

/// An error that ends the program with a message and an exit status.
struct Failure: Error, CustomStringConvertible {
  let message: String
  var status: Int32 = 1

  init(_ message: String, status: Int32 = 1) {
    self.message = message
    self.status = status
  }

  var description: String { message }
}

/// The version of the program, as in CHANGELOG.md.
enum Version {
  static let current = "0.1.0"
}
