internal import CEntitledProto

/// The comments of one file by the full names of what they describe.
struct DescriptorComments {
  private(set) var bySymbol: [String: String] = [:]
  /// By the path in the descriptor, as `google.protobuf.SourceCodeInfo.Location` defines it.
  private var byPath: [[Int32]: String] = [:]

  /// The comments of all files of a serialized FileDescriptorSet. The values of an enum have its name as prefix.
  static func bySymbol(in set: UnsafeRawBufferPointer) throws(WireError) -> [String: String] {
    var comments: [String: String] = [:]
    try DescriptorIndex.forEachFile(in: set) { file, _ in
      comments.merge(DescriptorComments(of: file).bySymbol) { first, _ in first }
    }
    return comments
  }

  private init(of file: UnsafeMutablePointer<Google__Protobuf__FileDescriptorProto>) {
    guard let info = file.pointee.source_code_info else { return }
    for number in 0..<info.pointee.n_location {
      guard let location = info.pointee.location[number] else { continue }
      let path: [Int32] = Array(
        UnsafeBufferPointer(start: location.pointee.path, count: location.pointee.n_path))
      byPath[path] = Self.text(CField.text(location.pointee.leading_comments))
    }
    let package = CField.text(file.pointee.package)
    for number in 0..<file.pointee.n_message_type {
      if let message = file.pointee.message_type[number] { add(message, in: package, [4, Int32(number)]) }
    }
    for number in 0..<file.pointee.n_enum_type {
      if let enumeration = file.pointee.enum_type[number] {
        add(enumeration, in: package, [5, Int32(number)])
      }
    }
    for number in 0..<file.pointee.n_service {
      if let service = file.pointee.service[number] { add(service, in: package, [6, Int32(number)]) }
    }
  }

  /// One paragraph: protoc keeps the space after the slashes and the line breaks.
  private static func text(_ comment: String) -> String {
    comment.split(separator: "\n").map { $0.drop { $0 == " " } }.joined(separator: " ")
  }

  private mutating func record(_ path: [Int32], _ symbol: String) {
    if let comment = byPath[path] { bySymbol[symbol] = comment }
  }

  private mutating func add(
    _ message: UnsafeMutablePointer<Google__Protobuf__DescriptorProto>, in scope: String, _ path: [Int32]
  ) {
    let name = "\(scope).\(CField.text(message.pointee.name))"
    record(path, name)
    for number in 0..<message.pointee.n_field {
      guard let field = message.pointee.field[number] else { continue }
      record(path + [2, Int32(number)], "\(name).\(CField.text(field.pointee.name))")
    }
    for number in 0..<message.pointee.n_nested_type {
      if let nested = message.pointee.nested_type[number] {
        add(nested, in: name, path + [3, Int32(number)])
      }
    }
    for number in 0..<message.pointee.n_enum_type {
      if let nested = message.pointee.enum_type[number] { add(nested, in: name, path + [4, Int32(number)]) }
    }
  }

  private mutating func add(
    _ enumeration: UnsafeMutablePointer<Google__Protobuf__EnumDescriptorProto>, in scope: String,
    _ path: [Int32]
  ) {
    let name = "\(scope).\(CField.text(enumeration.pointee.name))"
    record(path, name)
    for number in 0..<enumeration.pointee.n_value {
      guard let value = enumeration.pointee.value[number] else { continue }
      record(path + [2, Int32(number)], "\(name).\(CField.text(value.pointee.name))")
    }
  }

  private mutating func add(
    _ service: UnsafeMutablePointer<Google__Protobuf__ServiceDescriptorProto>, in scope: String,
    _ path: [Int32]
  ) {
    let name = "\(scope).\(CField.text(service.pointee.name))"
    record(path, name)
    for number in 0..<service.pointee.n_method {
      guard let method = service.pointee.method[number] else { continue }
      record(path + [2, Int32(number)], "\(name).\(CField.text(method.pointee.name))")
    }
  }
}
