/// Keeps secrets out of the logs, whoever put them into a message: a last line behind the rule that nobody does.
enum Redaction {
  private static let replacement = "[withheld]"
  /// How tokens and documents begin: JWS and receipts in base64, and our own bearer tokens.
  private static let beginnings = ["eyJ", "ent_", "MII"]
  /// Shorter words are words.
  private static let shortest = 24

  /// The text without what looks like a token, a signed document or a receipt.
  static func cleaned(_ text: String) -> String {
    guard beginnings.contains(where: text.contains) else { return text }
    var result = ""
    var word = ""
    for character in text {
      if isPartOfToken(character) {
        word.append(character)
      } else {
        result += cleaned(word: word)
        result.append(character)
        word = ""
      }
    }
    return result + cleaned(word: word)
  }

  private static func cleaned(word: String) -> String {
    word.utf8.count >= shortest && beginnings.contains(where: word.contains) ? replacement : word
  }

  private static func isPartOfToken(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber || "+/=-_.".contains(character))
  }
}
