package import SignedData

/// Why the simulated App Store did not do what it was asked.
package enum SandboxError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The order is not one that can be filled; the buyer can correct it.
  case refused(ActionError)
  /// A file or directory could not be used; `detail` is the system's text.
  case unusable(path: String, detail: String)
  /// Another process keeps its state in the same directory.
  case inUse(path: String)
  /// A file of the state is missing or is not what was written there.
  case damaged(path: String, detail: String)
  /// A newer version of the program wrote the state; this one does not know its schema.
  case newerState(path: String, found: Int, supported: Int)
  case cryptographyFailed(CryptographyError)

  package var description: String {
    switch self {
    case .refused(let refusal): refusal.description
    case .unusable(let path, let detail): "cannot use \(path): \(detail)"
    case .inUse(let path): "another sandbox is using \(path)"
    case .damaged(let path, let detail): "\(path) is damaged: \(detail)"
    case .newerState(let path, let found, let supported):
      "\(path) has schema version \(found), and this program knows versions up to \(supported)"
    case .cryptographyFailed(let error): error.description
    }
  }
}
