internal import CEntitledProto

/// How the generated code puts Swift values into protobuf-c's structures.
extension WireArena {
  func text(_ value: String) -> UnsafeMutablePointer<CChar> {
    var value = value
    return value.withUTF8 { utf8 in
      let copy = allocate(UInt8.self, count: utf8.count + 1)
      if let start = utf8.baseAddress { copy.update(from: start, count: utf8.count) }
      copy[utf8.count] = 0
      if entitled_text_has_nul(copy, utf8.count) {
        return text(String(decoding: utf8, as: UTF8.self).replacingNUL())
      }
      return UnsafeMutableRawPointer(copy).assumingMemoryBound(to: CChar.self)
    }
  }

  func bytes(_ value: [UInt8]) -> ProtobufCBinaryData {
    let copy = allocate(UInt8.self, count: value.count)
    value.withUnsafeBufferPointer { buffer in
      if let start = buffer.baseAddress { copy.update(from: start, count: buffer.count) }
    }
    return ProtobufCBinaryData(len: value.count, data: copy)
  }

  func message<Message: WireMessage, Structure>(_ value: Message) -> UnsafeMutablePointer<Structure> {
    value.write(in: self).assumingMemoryBound(to: Structure.self)
  }

  func messages<Message: WireMessage, Structure>(
    _ values: [Message]
  ) -> (Int, UnsafeMutablePointer<UnsafeMutablePointer<Structure>?>) {
    array(values) { value in message(value) }
  }

  func enums<Value: WireEnum, Number>(_ values: [Value]) -> (Int, UnsafeMutablePointer<Number>) {
    let (count, numbers) = array(values, \.rawValue)
    return (count, UnsafeMutableRawPointer(numbers).assumingMemoryBound(to: Number.self))
  }

  func elements(_ values: [String]) -> (Int, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) {
    array(values) { value in text(value) }
  }

  func elements(_ values: [[UInt8]]) -> (Int, UnsafeMutablePointer<ProtobufCBinaryData>) {
    array(values) { value in bytes(value) }
  }

  func elements<Scalar: Numeric>(_ values: [Scalar]) -> (Int, UnsafeMutablePointer<Scalar>) {
    array(values) { $0 }
  }

  private func array<Value, Element>(
    _ values: [Value], _ element: (Value) -> Element
  ) -> (Int, UnsafeMutablePointer<Element>) {
    let array = allocate(Element.self, count: values.count)
    for (index, value) in values.enumerated() { (array + index).initialize(to: element(value)) }
    return (values.count, array)
  }
}

extension String {
  /// Protobuf-c's strings end at the first NUL; the replacement character shows that one stood there.
  fileprivate func replacingNUL() -> String {
    String(String.UnicodeScalarView(unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 }))
  }
}
