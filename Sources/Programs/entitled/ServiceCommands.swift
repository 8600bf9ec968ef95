package import ArgumentParser
internal import ClientCommands
internal import CommandSupport

/// The commands of the program `entitled`: the service, and the API from a terminal. The program with the sandbox and the
/// one without it add their own `serve` and `sandbox`.
package enum ServiceCommands {
  /// The configuration of the command `Root`.
  package static func configuration<Root: ParsableCommand>(
    of root: Root.Type, serve: any ParsableCommand.Type, sandbox: any ParsableCommand.Type
  ) -> CommandConfiguration {
    let groups = CommandGroups(
      of: root, serve: serve, sandbox: sandbox, config: ConfigCommand.self, store: StoreCommand.self,
      console: ConsoleCommand.self, doctor: DoctorCommand.self)
    return CommandConfiguration(
      commandName: "entitled", abstract: "Verify App Store purchases and serve entitlements.",
      version: Version.current, subcommands: [], groupedSubcommands: groups.all)
  }
}
