import HTTP
import Testing

@testable import Console

/// The values of an action's form as its pages and links send them.
@Suite struct ActionFormTests {
  private let fields: [ActionField] = [.hidden("install"), .customer, .note]

  @Test("The id of a customer and hidden values count byte by byte; other values are trimmed")
  func whiteSpace() {
    let form = ActionForm(
      Query("install=+a&customer=+kim%09&note=+called+"), fields: fields, isSubmitted: true)
    #expect(form.binding == ["customer", " kim\t", "install", " a", "note", "called"])
  }

  @Test("A form sends CR LF for each line end, and a link sends what it has")
  func lineEnds() {
    let query = Query("customer=a%0D%0Ab")
    #expect(ActionForm(query, fields: fields, isSubmitted: true)["customer"].utf8.elementsEqual("a\nb".utf8))
    #expect(
      ActionForm(query, fields: fields, isSubmitted: false)["customer"].utf8.elementsEqual("a\r\nb".utf8))
  }

  @Test("A value that no control can have arrives percent-encoded")
  func encoded() {
    let query = Query("customer.encoded=%250D%2501+x%252B")
    #expect(ActionForm(query, fields: fields, isSubmitted: true)["customer"] == "\r\u{1} x+")
    #expect(!ActionForm.canSend("a\rb", inOneLine: false))
    #expect(ActionForm.canSend("a\nb\té", inOneLine: false))
    #expect(!ActionForm.canSend("a\nb", inOneLine: true))
  }
}
