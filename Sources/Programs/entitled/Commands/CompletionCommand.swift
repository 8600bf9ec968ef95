internal import ArgumentParser

/// `entitled completion`.
struct CompletionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "completion", abstract: "Print a completion script for a shell.",
    discussion: """
      'make install' installs the scripts where bash, zsh and fish find them. For a program elsewhere, for example: \
      source <(entitled completion bash)
      """)

  @Argument(help: "Shell: bash, zsh or fish.") var shell: Shell

  /// The shells for which there are scripts.
  enum Shell: String, ExpressibleByArgument, CaseIterable {
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

  func run() { print(Entitled.completionScript(for: shell.parserShell)) }
}
