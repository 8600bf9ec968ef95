internal import CEntitledProto
package import JSON

extension WireMessage {
  /// Decodes a message from protobuf's JSON form.
  ///
  /// Field names are in lowerCamelCase or as in the contract; an unknown name is an error.
  /// Uses at most `memoryLimit` bytes of memory besides the result.
  ///
  /// - Throws: ``WireError/notJSON(_:)``, also for a duplicate name; otherwise as ``init(json:memoryLimit:)`` of
  ///   parsed JSON.
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

  /// Decodes a message from parsed JSON.
  ///
  /// - Throws: ``WireError/unknownField(_:)``, ``WireError/duplicateField(_:)`` for two spellings of a field,
  ///   ``WireError/invalidValue(field:expected:)``, also for two fields of a oneof, and if a limit is exceeded.
  package init(json value: JSONValue, memoryLimit: Int = WireLimits.memory) throws(WireError) {
    let arena = WireArena.begin(limit: memoryLimit)
    defer { arena.end() }
    let reader = JSONReader(arena: arena)
    self.init(reading: try reader.message(value, Self.messageType.descriptor, at: ""))
  }

  /// The message in protobuf's JSON form: lowerCamelCase names, 64-bit integers as strings, enums by name.
  /// Includes fields at their default, so that `"entitled": false` is visible, but no unset messages.
  package var jsonValue: JSONValue {
    let arena = WireArena.begin()
    defer { arena.end() }
    return JSONPrinter(arena: arena).message(arena.structure(of: self), Self.messageType.descriptor)
  }

  /// The text of `jsonValue`; `pretty` indents it.
  package func json(pretty: Bool = false) -> [UInt8] { jsonValue.serialized(pretty: pretty) }
}
