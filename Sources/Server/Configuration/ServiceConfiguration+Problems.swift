internal import Foundation

extension ServiceConfiguration {
  /// What is wrong with a file: not only the first mistake, but the first of each app and of each caller, in the
  /// order of their lines. Empty if it can be used.
  package static func problems(inFile path: String) -> [ConfigurationError] {
    let yaml: String
    do { yaml = try String(contentsOfFile: path, encoding: .utf8) } catch {
      return [.unreadable(file: path, reason: error.localizedDescription)]
    }
    return problems(yaml: yaml, file: path)
  }

  /// What is wrong with a configuration that came from `file`.
  package static func problems(yaml: String, file: String) -> [ConfigurationError] {
    do throws(ConfigurationError) {
      _ = try ServiceConfiguration(yaml: yaml, file: file)
      return []
    } catch {
      let others = (try? root(yaml: yaml, file: file)).map(problemsOfEntries) ?? []
      return (others.contains(error) ? others : others + [error]).sorted { $0.line ?? 0 < $1.line ?? 0 }
    }
  }

  /// The mistakes of single apps and callers, each looked at by itself.
  private static func problemsOfEntries(_ root: ConfigurationNode) -> [ConfigurationError] {
    guard let sections = try? root.entries() else { return [] }
    var problems: [ConfigurationError] = []
    let apps = (try? sections.first { $0.key == "apps" }?.value.entries()) ?? []
    for (id, node) in apps {
      do throws(ConfigurationError) { _ = try AppConfiguration(id: id, node) } catch {
        problems.append(error)
      }
    }
    let callers = (try? sections.first { $0.key == "callers" }?.value.entries()) ?? []
    for (name, node) in callers {
      do throws(ConfigurationError) {
        _ = try CallerConfiguration.definition(
          name, node, knownApps: apps.map(\.key),
          hasIssuer: sections.contains { $0.key == "token_issuer" })
      } catch {
        problems.append(error)
      }
    }
    return problems
  }
}

extension ConfigurationError {
  /// The line that is wrong; `nil` if no place can be named.
  fileprivate var line: Int? {
    if case .invalid(_, let line, _) = self { line } else { nil }
  }
}
