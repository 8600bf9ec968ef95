package import ArgumentParser

/// The commands of the program `entitled`, in the order in which its help lists them.
package struct CommandGroups<Root: ParsableCommand> {
  private let serve: any ParsableCommand.Type
  private let sandbox: any ParsableCommand.Type
  private let config: any ParsableCommand.Type
  private let store: any ParsableCommand.Type
  private let console: any ParsableCommand.Type
  private let doctor: any ParsableCommand.Type

  /// The program with the command `root`, whose parameters are the commands that do not call a running service.
  package init(
    of root: Root.Type, serve: any ParsableCommand.Type, sandbox: any ParsableCommand.Type,
    config: any ParsableCommand.Type, store: any ParsableCommand.Type, console: any ParsableCommand.Type,
    doctor: any ParsableCommand.Type
  ) {
    self.serve = serve
    self.sandbox = sandbox
    self.config = config
    self.store = store
    self.console = console
    self.doctor = doctor
  }

  /// All commands.
  package var all: [CommandGroup] { [operation, customers, purchases, reports, otherSystems] }

  private var operation: CommandGroup {
    CommandGroup(
      name: "Run and operate",
      subcommands: [
        serve, sandbox, config, HealthCommand.self, StatusCommand.self, WhoAmICommand.self, store,
        TokenCommand.self, AuditCommand.self, CatalogCommand.self, console, ContradictionsCommand.self,
        doctor, ConformanceCommand.self, RehearseCommand.self, CompletionCommand<Root>.self,
      ])
  }

  private var customers: CommandGroup {
    CommandGroup(
      name: "Customers",
      subcommands: [
        CheckCommand.self, FindCommand.self, DescribeCommand.self, CustomerCommand.self,
        ExplainCommand.self, TimelineCommand.self, HistoryCommand.self, WatchCommand.self,
        GrantsCommand.self, NotesCommand.self, AttributesCommand.self, FamilyCommand.self,
        MergeCommand.self, EraseCommand.self, SegmentCommand.self,
      ])
  }

  private var purchases: CommandGroup {
    CommandGroup(
      name: "Purchases",
      subcommands: [
        SubmitCommand.self, SubmitReceiptCommand.self, InspectCommand.self, PurchaseCommand.self,
        EvidenceCommand.self, EventCommand.self, ClaimsCommand.self, LinkCommand.self,
        TransferCommand.self, UndoTransferCommand.self, SeatsCommand.self, FulfillmentCommand.self,
        SignOfferCommand.self, MigrateCommand.self, ImportCommand.self,
      ])
  }

  private var reports: CommandGroup {
    CommandGroup(
      name: "Reports and accounting",
      subcommands: [ReportCommand.self, ReconcileCommand.self, ExportCommand.self])
  }

  private var otherSystems: CommandGroup {
    CommandGroup(
      name: "Apple and other systems",
      subcommands: [
        AppleCommand.self, NotificationsCommand.self, ConsumptionCommand.self, RetentionCommand.self,
        DeviceCheckCommand.self, WebhooksCommand.self,
      ])
  }
}
