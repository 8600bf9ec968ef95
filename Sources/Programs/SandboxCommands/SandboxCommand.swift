package import ArgumentParser

/// `entitled sandbox`: the App Store simulator. The program `entitled-sandbox` has the same commands.
package struct SandboxCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "sandbox", abstract: "Run the sandbox, an App Store simulator, and use it.",
    subcommands: commands, defaultSubcommand: SandboxServeCommand.self)

  /// The command without a name.
  package static var defaultCommand: any ParsableCommand.Type { SandboxServeCommand.self }

  package static var commands: [any ParsableCommand.Type] {
    [
      SandboxServeCommand.self, SandboxBuyCommand.self, SandboxDoCommand.self, SandboxAdvanceCommand.self,
      SandboxScenarioCommand.self, SandboxReportCommand.self, SandboxWorldCommand.self,
      SandboxStoreKitCommand.self, SandboxCertificatesCommand.self, SandboxRotateCommand.self,
    ]
  }

  package init() {}
}
