internal import ArgumentParser
internal import Foundation

/// The program: the service, a sandbox App Store, and the contract from a terminal.
@main
struct Entitled: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "entitled",
    abstract: "Knows who is entitled to what they bought in the App Store.",
    version: Version.current,
    subcommands: [
      ServeCommand.self, SandboxCommand.self, CheckCommand.self, SubmitCommand.self, InspectCommand.self,
      CustomerCommand.self, TimelineCommand.self, WatchCommand.self, ExplainCommand.self, GrantCommand.self,
      HealthCommand.self, StoreCommand.self, TokenCommand.self, NotificationsCommand.self,
      ConfigCommand.self, MigrateCommand.self, WebhooksCommand.self, ShadowCommand.self,
      ConsumptionCommand.self,
    ])

  /// Runs the command; a failure is one line on the standard error and an exit status that is not 0.
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

/// A failure that ends the program: what to tell, and the exit status.
struct Failure: Error, CustomStringConvertible {
  let message: String
  var status: Int32 = 1

  init(_ message: String, status: Int32 = 1) {
    self.message = message
    self.status = status
  }

  var description: String { message }
}

/// The version that `--version` prints; CHANGELOG.md tells what is in it.
enum Version {
  static let current = "0.1.0"
}
