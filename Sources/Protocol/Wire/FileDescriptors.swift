internal import CEntitledProto

/// The contract's files as serialized `google.protobuf.FileDescriptorProto`s, for server reflection.
///
/// Decoded once, at first use, from the set that the generator embeds in the program. Decoding takes as long as the rest
/// of the start of a service, so nothing that every process needs may use it.
package enum FileDescriptors {
  /// The serialized `FileDescriptorProto` called `name`, for instance "entitled/v1/entitlement_service.proto"; `nil`
  /// for an unknown one.
  package static func file(named name: String) -> [UInt8]? { index.files[name]?.bytes }

  /// The name of the file that declares `symbol`, the full name of a service, method, message, field, oneof or enum;
  /// `nil` for an unknown one.
  package static func fileName(containingSymbol symbol: String) -> String? { index.fileOfSymbol[symbol] }

  /// The file called `name` with its direct and indirect imports, each once, importers first; empty for an
  /// unknown file.
  package static func closure(ofFileNamed name: String) -> [[UInt8]] {
    var names = index.files[name] == nil ? [] : [name]
    var next = 0
    while next < names.count {
      let imported = index.files[names[next]]?.dependencies ?? []
      names += imported.filter { !names.contains($0) }
      next += 1
    }
    return names.compactMap(file(named:))
  }

  /// The numbers of the extensions of a message, sorted; `nil` for a message that no file declares.
  package static func extensionNumbers(of message: String) -> [Int32]? {
    guard index.fileOfSymbol[message] != nil else { return nil }
    return index.extensions[message, default: [:]].keys.sorted()
  }

  /// The name of the file that declares an extension of a message; `nil` for an unknown one.
  package static func fileName(containingExtension number: Int32, of message: String) -> String? {
    index.extensions[message]?[number]
  }

  /// The comment of a symbol of the package `entitled.v1`, such as "entitled.v1.CheckRequest.app" or
  /// "entitled.v1.AccessLevel.ACCESS_LEVEL_FULL"; `nil` without one.
  package static func comment(of symbol: String) -> String? { comments[symbol] }

  private static let index = decoded { set throws(WireError) in try DescriptorIndex(set: set) }

  /// Apart from ``index``, because reflection needs no comments.
  private static let comments = decoded { set throws(WireError) in
    try DescriptorComments.bySymbol(in: set)
  }

  private static func decoded<Value>(_ decode: (UnsafeRawBufferPointer) throws(WireError) -> Value) -> Value {
    let set = UnsafeRawBufferPointer(
      start: entitled_descriptor_set_start(), count: entitled_descriptor_set_size)
    do throws(WireError) {
      return try decode(set)
    } catch {
      // The set is part of the program, so only a broken build can fail here.
      fatalError("the embedded contract is broken: \(error)")
    }
  }
}
