import Bytes
import Testing

@Suite struct PercentEncodingTests {
  @Test("Everything but unreserved characters is encoded, byte by byte and in uppercase digits")
  func unreserved() {
    #expect(PercentEncoding.encode("azAZ09-._~") == "azAZ09-._~")
    #expect(PercentEncoding.encode("a b/c?d=%41&é") == "a%20b%2Fc%3Fd%3D%2541%26%C3%A9")
    #expect(PercentEncoding.encode("\n\u{7F}") == "%0A%7F")
  }

  @Test("The caller chooses which bytes are kept")
  func kept() {
    #expect(PercentEncoding.encode("a.b") { $0 != UInt8(ascii: ".") } == "a%2Eb")
  }

  @Test("Decoding reverses encoding", arguments: ["", "a+b c", "100 % é😀", "..", "\u{0}\u{1F}"])
  func roundTrip(text: String) {
    #expect(PercentEncoding.decode(PercentEncoding.encode(text)) == text)
  }

  @Test(
    "A percent sign without two digits stays as it is",
    arguments: ["%", "%4", "a%zz", "%+f", "%-1", "% 1", "%é"])
  func malformed(text: String) {
    #expect(PercentEncoding.decode(text) == text)
  }

  @Test("Digits of either case are decoded, and malformed UTF-8 becomes the replacement character")
  func decoded() {
    #expect(PercentEncoding.decode("%2f%2F%41b") == "//Ab")
    #expect(PercentEncoding.decode("%FF%41") == "\u{FFFD}A")
  }

  @Test(
    "A text is UTF-8 by its decoded bytes",
    arguments: [
      ("J%C3%BCrgen", true), ("J\u{FC}rgen", true), ("%EF%BF%BD", true), ("%", true), ("J%FCrgen", false),
      ("%C3", false), ("%C3/%BC", false), ("%ED%A0%80", false),
    ])
  func validity(text: String, isUTF8: Bool) {
    #expect(PercentEncoding.isUTF8(text.utf8) == isUTF8)
  }

  @Test("A plus sign is a space only where the caller says so")
  func plus() {
    #expect(PercentEncoding.decode("a+b%2B") == "a+b+")
    #expect(PercentEncoding.decode("a+b%2B", plusIsSpace: true) == "a b+")
  }
}
