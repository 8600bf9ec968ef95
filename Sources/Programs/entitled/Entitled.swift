internal import ArgumentParser
internal import CommandSupport
internal import SandboxCommands

@main
enum Main {
  static func main() { Program.start(Entitled.self, as: "entitled") }
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
          DoctorCommand.self, ConformanceCommand.self, RehearseCommand.self, CompletionCommand.self,
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
          SignOfferCommand.self, MigrateCommand.self, ImportCommand.self,
        ]),
      CommandGroup(
        name: "Reports and accounting",
        subcommands: [ReportCommand.self, ReconcileCommand.self, ExportCommand.self]),
      CommandGroup(
        name: "Apple and other systems",
        subcommands: [
          AppleCommand.self, NotificationsCommand.self, ConsumptionCommand.self, RetentionCommand.self,
          DeviceCheckCommand.self,
          WebhooksCommand.self,
        ]),
    ])
}
