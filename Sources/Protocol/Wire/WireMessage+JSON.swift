internal import CEntitledProto
package import JSON

extension WireMessage {
  /// Reads a message from protobuf's JSON form.
  ///
  /// Field names in lowerCamelCase or as in the contract; a name that the message does not have is an error.
  package init(
    json bytes: [UInt8], memoryLimit: Int = WireLimits.memory
  ) throws(WireError) {
    let value: JSONValue
    do throws(JSONError) {
      value = try JSONValue(parsing: bytes, duplicates: .rejected)
    } catch {
      throw .notJSON(error)
    }
    try self.init(json: value, memoryLimit: memoryLimit)
  }

  /// Reads a message from protobuf's JSON form, parsed already.
  package init(json value: JSONValue, memoryLimit: Int = WireLimits.memory) throws(WireError) {
    let arena = WireArena.begin(limit: memoryLimit)
    defer { arena.end() }
    let reader = JSONReader(arena: arena)
    self.init(reading: try reader.message(value, Self.messageType.descriptor, at: ""))
  }

  /// The message in protobuf's JSON form: names in lowerCamelCase, 64-bit integers as strings, enums by
  /// name. Fields at their default are written, so that `"entitled": false` can be seen; unset messages
  /// and unset members of a oneof are not.
  package var jsonValue: JSONValue {
    let arena = WireArena.begin()
    defer { arena.end() }
    return JSONPrinter(arena: arena).message(arena.structure(of: self), Self.messageType.descriptor)
  }

  /// The text of `jsonValue`; `pretty` indents it.
  package func json(pretty: Bool = false) -> [UInt8] { jsonValue.serialized(pretty: pretty) }
}
