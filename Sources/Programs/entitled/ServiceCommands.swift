package import ArgumentParser
internal import CommandSupport

/// The commands of the program `entitled`: the service, and the API from a terminal. The program with the sandbox and the
/// one without it add their own `serve` and `sandbox`.
package enum ServiceCommands {
  /// The configuration of the command `Root`.
  package static func configuration<Root: ParsableCommand>(
    of root: Root.Type, serve: any ParsableCommand.Type, sandbox: any ParsableCommand.Type
  ) -> CommandConfiguration {
    CommandConfiguration(
      commandName: "entitled", abstract: "Verify App Store purchases and serve entitlements.",
      version: Version.current, subcommands: [], groupedSubcommands: groups(of: root, serve, sandbox))
  }

  private static func groups<Root: ParsableCommand>(
    of root: Root.Type, _ serve: any ParsableCommand.Type, _ sandbox: any ParsableCommand.Type
  ) -> [CommandGroup] {
    [
      CommandGroup(
        name: "Run and operate",
        subcommands: [
          serve, sandbox, ConfigCommand.self, HealthCommand.self, StatusCommand.self,
          WhoAmICommand.self, StoreCommand.self, TokenCommand.self, AuditCommand.self,
          CatalogCommand.self, ConsoleCommand.self, ContradictionsCommand.self,
          DoctorCommand.self, ConformanceCommand.self, RehearseCommand.self, CompletionCommand<Root>.self,
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
    ]
  }
}
