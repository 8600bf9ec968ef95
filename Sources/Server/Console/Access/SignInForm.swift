internal import Markup
internal import Pages

/// The form behind a one-time link.
enum SignInForm {
  static func body(code: String, problem: String? = nil) -> Markup {
    """
    <p>\(Text.signInHint)</p>
    \(problem.map { "<p class=\"problem\" role=\"alert\">\($0)</p>" as Markup } ?? "")
    <form class="form" method="post" action="\(Link(["session", "once"]))">
    <input type="hidden" name="code" value="\(code)">
    <label for="name">\(Text.yourName)</label>
    <p class="hint" id="name-hint">\(Text.nameHint)</p>
    <input type="text" id="name" name="name" maxlength="64" autocomplete="name" required autofocus aria-describedby="name-hint">
    <p class="row"><button class="primary">\(Text.signIn)</button></p>
    </form>
    """
  }
}
