/// Why a verified document is no fact: it is Apple's, but what the rules need is not in it.
package enum FactError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The field, by Apple's name, is not there.
  case missing(field: String)

  package var description: String {
    switch self {
    case .missing(let field): "the field \(field) is missing"
    }
  }
}
