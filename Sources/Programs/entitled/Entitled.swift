internal import ArgumentParser
internal import Dispatch
internal import Foundation

@main
enum Program {
  /// Checks the limits of the process on its first thread and runs the command. Not asynchronous, because the first
  /// asynchronous call creates threads and descriptors, which cannot fail without ending the process.
  static func main() {
    do throws(Failure) {
      if let command = try? Entitled.parseAsRoot() as? any ServerCommand { try command.requireLimits() }
    } catch {
      error.exit()
    }
    Task {
      await Entitled.main()
      Foundation.exit(0)
    }
    dispatchMain()
  }
}

/// A command that serves until a signal ends it.
protocol ServerCommand {
  /// Checks that the limits of the process allow its event loops.
  func requireLimits() throws(Failure)
}

/// The program: the service, the sandbox, and the API from a terminal.
struct Entitled: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "entitled",
    abstract: "Verify App Store purchases and serve entitlements.",
    version: Version.current,
    subcommands: [],
    groupedSubcommands: [
      CommandGroup(
        name: "Run and operate",
        subcommands: [
          ServeCommand.self, SandboxCommand.self, ConfigCommand.self, HealthCommand.self, StatusCommand.self,
          WhoAmICommand.self, StoreCommand.self, TokenCommand.self, AuditCommand.self,
          CatalogCommand.self, ConsoleCommand.self, ContradictionsCommand.self,
          DoctorCommand.self, CompletionCommand.self,
        ]),
      CommandGroup(
        name: "Customers",
        subcommands: [
          CheckCommand.self, FindCommand.self, DescribeCommand.self, CustomerCommand.self,
          ExplainCommand.self, TimelineCommand.self, HistoryCommand.self, WatchCommand.self,
          GrantsCommand.self, NotesCommand.self, AttributesCommand.self, FamilyCommand.self,
          MergeCommand.self, EraseCommand.self, SegmentCommand.self,
        ]),
      CommandGroup(
        name: "Purchases",
        subcommands: [
          SubmitCommand.self, SubmitReceiptCommand.self, InspectCommand.self, PurchaseCommand.self,
          EvidenceCommand.self, EventCommand.self, ClaimsCommand.self, LinkCommand.self,
          TransferCommand.self, UndoTransferCommand.self, SeatsCommand.self, FulfillmentCommand.self,
          SignOfferCommand.self, MigrateCommand.self,
        ]),
      CommandGroup(
        name: "Reports and accounting",
        subcommands: [ReportCommand.self, ReconcileCommand.self, ExportCommand.self]),
      CommandGroup(
        name: "Apple and other systems",
        subcommands: [
          AppleCommand.self, NotificationsCommand.self, ConsumptionCommand.self, WebhooksCommand.self,
        ]),
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
      failure.exit()
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

  /// Ends the program with the message on the standard error.
  func exit() -> Never {
    FileHandle.standardError.write(Data("entitled: \(message)\n".utf8))
    Foundation.exit(status)
  }
}

/// The version of the program, as in CHANGELOG.md.
enum Version {
  static let current = "0.1.0"
}
