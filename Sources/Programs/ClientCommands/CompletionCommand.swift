internal import ArgumentParser

/// `entitled completion`, for the program with the command `Root`.
struct CompletionCommand<Root: ParsableCommand>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "completion", abstract: "Print a completion script for a shell.",
      discussion: """
        'make install' installs the scripts where bash, zsh and fish find them. For a program elsewhere, for example: \
        source <(entitled completion bash)
        """)
  }

  @Argument(help: "Shell.") var shell: CompletedShell

  func run() { print(Root.completionScript(for: shell.parserShell)) }
}

/// The shells for which there are scripts.
enum CompletedShell: String, ExpressibleByArgument, CaseIterable {
  case bash
  case zsh
  case fish

  fileprivate var parserShell: CompletionShell {
    switch self {
    case .bash: .bash
    case .zsh: .zsh
    case .fish: .fish
    }
  }
}
