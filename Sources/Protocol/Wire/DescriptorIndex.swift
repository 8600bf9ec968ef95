internal import CEntitledProto

/// The files of a FileDescriptorSet by name, and the symbols that they declare.
struct DescriptorIndex {
  /// One file.
  struct File {
    /// The serialized descriptor.
    var bytes: [UInt8]
    /// The names of the files that it imports.
    var dependencies: [String]
  }

  private(set) var files: [String: File] = [:]
  private(set) var fileOfSymbol: [String: String] = [:]
  /// By the full name of the extended message: the file that declares each extension number.
  private(set) var extensions: [String: [Int32: String]] = [:]

  /// - Throws: ``WireError`` for bytes that are no FileDescriptorSet.
  init(set: UnsafeRawBufferPointer) throws(WireError) {
    try Self.forEachFile(in: set) { file, arena in add(file, arena) }
  }

  /// Unpacks a serialized FileDescriptorSet and calls `body` with each of its files, which exist during the call only.
  static func forEachFile(
    in set: UnsafeRawBufferPointer,
    _ body: (UnsafeMutablePointer<Google__Protobuf__FileDescriptorProto>, WireArena) -> Void
  ) throws(WireError) {
    let arena = WireArena.begin()
    defer { arena.end() }
    let unpacked = try arena.unpack(
      set, as: MessageType(entitled_descriptor_Google__Protobuf__FileDescriptorSet()).descriptor
    )
    .assumingMemoryBound(to: Google__Protobuf__FileDescriptorSet.self)
    for number in 0..<unpacked.pointee.n_file {
      if let file = unpacked.pointee.file[number] { body(file, arena) }
    }
  }

  /// Adds a file, and its symbols under their full names.
  private mutating func add(
    _ file: UnsafeMutablePointer<Google__Protobuf__FileDescriptorProto>, _ arena: WireArena
  ) {
    let name = CField.text(file.pointee.name)
    let package = CField.text(file.pointee.package)
    var bytes: [UInt8] = []
    arena.pack(file, into: &bytes)
    let dependencies: [String] = CField.elements(file.pointee.dependency, count: file.pointee.n_dependency)
    files[name] = File(bytes: bytes, dependencies: dependencies)
    var symbols: [String] = []
    for number in 0..<file.pointee.n_message_type {
      if let message = file.pointee.message_type[number] { collect(message, in: package, &symbols) }
    }
    for number in 0..<file.pointee.n_enum_type {
      if let enumeration = file.pointee.enum_type[number] { collect(enumeration, in: package, &symbols) }
    }
    for number in 0..<file.pointee.n_service {
      if let service = file.pointee.service[number] { collect(service, in: package, &symbols) }
    }
    for number in 0..<file.pointee.n_extension {
      guard let field = file.pointee.extension[number] else { continue }
      symbols.append("\(package).\(CField.text(field.pointee.name))")
      let extended = String(CField.text(field.pointee.extendee).drop { $0 == "." })
      extensions[extended, default: [:]][field.pointee.number] = name
    }
    for symbol in symbols { fileOfSymbol[symbol] = name }
  }

  /// Adds a service and its methods, which reflection finds as `SERVICE.METHOD`.
  private func collect(
    _ service: UnsafeMutablePointer<Google__Protobuf__ServiceDescriptorProto>, in scope: String,
    _ symbols: inout [String]
  ) {
    let name = "\(scope).\(CField.text(service.pointee.name))"
    symbols.append(name)
    for number in 0..<service.pointee.n_method {
      if let method = service.pointee.method[number] {
        symbols.append("\(name).\(CField.text(method.pointee.name))")
      }
    }
  }

  /// Adds a message with its fields, oneofs and nested types.
  private func collect(
    _ message: UnsafeMutablePointer<Google__Protobuf__DescriptorProto>, in scope: String,
    _ symbols: inout [String]
  ) {
    let name = "\(scope).\(CField.text(message.pointee.name))"
    symbols.append(name)
    for number in 0..<message.pointee.n_field {
      if let field = message.pointee.field[number] {
        symbols.append("\(name).\(CField.text(field.pointee.name))")
      }
    }
    for number in 0..<message.pointee.n_oneof_decl {
      if let oneof = message.pointee.oneof_decl[number] {
        symbols.append("\(name).\(CField.text(oneof.pointee.name))")
      }
    }
    for number in 0..<message.pointee.n_nested_type {
      if let nested = message.pointee.nested_type[number] { collect(nested, in: name, &symbols) }
    }
    for number in 0..<message.pointee.n_enum_type {
      if let nested = message.pointee.enum_type[number] { collect(nested, in: name, &symbols) }
    }
  }

  /// The names of enum values belong to the scope of the enum, not to the enum itself, as in C++.
  private func collect(
    _ enumeration: UnsafeMutablePointer<Google__Protobuf__EnumDescriptorProto>, in scope: String,
    _ symbols: inout [String]
  ) {
    symbols.append("\(scope).\(CField.text(enumeration.pointee.name))")
    for number in 0..<enumeration.pointee.n_value {
      if let value = enumeration.pointee.value[number] {
        symbols.append("\(scope).\(CField.text(value.pointee.name))")
      }
    }
  }
}
