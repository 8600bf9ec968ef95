package import AppStore
internal import Bytes
package import HTTP

/// Knows callers again: who was found for a credential is remembered, so that a service that calls a thousand
/// times a second is not looked up a thousand times.
///
/// What is remembered is forgotten when another admission is put in force, and at the end of what a signed
/// token says. One instance belongs to one event loop.
package final class Authenticator {
  private struct Entry {
    let credential: [UInt8]
    let finding: CallerDirectory.Match
  }

  /// Places for credentials; two that fall on the same place crowd each other out, which costs a hash.
  private static let places = 256

  private let callers: CurrentCallers
  private let now: @Sendable () -> Instant
  private var admission: CallerPolicy
  private var generation: UInt64
  private var entries = [Entry?](repeating: nil, count: places)

  /// A gate for `callers`; `now` is the time by which signed tokens are judged.
  package init(_ callers: CurrentCallers, now: @escaping @Sendable () -> Instant) {
    self.callers = callers
    self.now = now
    generation = callers.generation
    admission = callers.value
  }

  /// Whose call that is, by its header fields or else by the names of the client's certificate.
  package func caller(
    _ headers: HeaderFields, certificateNames: [String] = []
  ) throws(CallerError) -> Caller {
    if callers.generation != generation { forget() }
    guard case .listed(let directory) = admission else { return .anyone }
    var outcome: Result<Caller, CallerError> = .failure(.noCredential)
    headers.withAuthorization { field in
      guard let field else {
        outcome = Self.find(nil, certificateNames, directory, now).map(\.caller)
        return
      }
      outcome = caller(field, directory)
    }
    return try outcome.get()
  }

  private func caller(
    _ field: UnsafeRawBufferPointer, _ directory: CallerDirectory
  ) -> Result<Caller, CallerError> {
    let place = Self.place(of: field)
    if let entry = entries[place], entry.credential.withUnsafeBytes({ constantTimeEquals($0, field) }),
      entry.finding.until.map({ now() < $0 }) ?? true
    {
      return .success(entry.finding.caller)
    }
    let finding = Self.find(field, [], directory, now)
    if case .success(let finding) = finding {
      entries[place] = Entry(credential: Array(field), finding: finding)
    }
    return finding.map(\.caller)
  }

  private static func find(
    _ field: UnsafeRawBufferPointer?, _ names: [String], _ directory: CallerDirectory,
    _ now: () -> Instant
  ) -> Result<CallerDirectory.Match, CallerError> {
    do throws(CallerError) {
      return .success(try directory.find(authorization: field, certificateNames: names, at: now))
    } catch {
      return .failure(error)
    }
  }

  private func forget() {
    generation = callers.generation
    admission = callers.value
    entries = [Entry?](repeating: nil, count: Self.places)
  }

  /// The end of a token is chance: of a signed one it is the signature.
  private static func place(of field: UnsafeRawBufferPointer) -> Int {
    guard field.count >= 8 else { return 0 }
    let word = field.loadUnaligned(fromByteOffset: field.count - 8, as: UInt64.self)
    return Int((word &* 0x9E37_79B9_7F4A_7C15) >> 56)
  }
}
