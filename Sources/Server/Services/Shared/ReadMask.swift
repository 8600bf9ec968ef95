internal import RPC
internal import Wire

/// The members of a response that a request wants.
struct ReadMask: Sendable {
  /// `nil`: all.
  private let names: Set<String>?

  /// - Throws: `INVALID_ARGUMENT` for a name that is not a member of `Response`.
  init<Response: WireMessage>(
    _ mask: GoogleProtobuf.FieldMask?, of response: Response.Type
  ) throws(Status) {
    guard let mask, !mask.paths.isEmpty else {
      names = nil
      return
    }
    let known = Response.messageType.fieldNames
    if let unknown = mask.paths.first(where: { !known.contains($0) }) {
      throw .invalidField(
        "read_mask",
        "read_mask has '\(unknown)', which is no member; known: \(known.joined(separator: ", "))")
    }
    names = Set(mask.paths)
  }

  /// Whether the member with this name in the contract is wanted.
  func includes(_ name: String) -> Bool { names?.contains(name) ?? true }
}
