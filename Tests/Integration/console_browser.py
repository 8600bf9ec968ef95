"""Debian's Chromium for tests of the console, with the rules that every page keeps."""

import shutil

from harness import IS_LONG, wait_for

# The short form draws pages with Chromium's headless shell, which takes a fifth of the CPU time of the whole browser.
CHROMIUM = shutil.which("chromium" if IS_LONG else "chromium-headless-shell")
ARGUMENTS = ["--no-sandbox", "--font-render-hinting=none", "--disable-lcd-text", "--force-color-profile=srgb"]
# Milliseconds for the start of Chromium, which takes half a minute of a busy machine.
LAUNCH_TIMEOUT = 180_000
DESK = {"viewport": {"width": 1280, "height": 900}}
VIEWS = {
    "light": DESK,
    "dark": DESK | {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True},
    "print": DESK,
    "forced-colors": DESK | {"forced_colors": "active"},
    "reduced-motion": DESK | {"reduced_motion": "reduce"},
    # What 200 % zoom leaves of a window 1,280 pixels wide.
    "zoomed": {"viewport": {"width": 640, "height": 450}, "device_scale_factor": 2},
    "script-free": DESK | {"java_script_enabled": False},
}
# Sums what moves after the first paint, and names it. Pages move nothing.
SHIFT = """
    self.shift = 0;
    self.moved = [];
    const text = (node) => (node?.outerHTML ?? node?.textContent ?? "").slice(0, 80);
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) {
            self.shift += entry.value;
            for (const { node, previousRect: from, currentRect: to } of entry.sources)
                self.moved.push(`${text(node)} from ${from.x},${from.y} to ${to.x},${to.y}`);
        }
    }).observe({ type: "layout-shift", buffered: true });"""


def violations(page):
    """The violations of WCAG 2.2 AA and of axe's best practices."""
    from axe_playwright_python.sync_playwright import Axe

    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    # All that is right, too, would be a megabyte for each page.
    options = {"runOnly": {"type": "tag", "values": tags}, "resultTypes": ["violations"]}
    found = Axe().run(page, options=options).response["violations"]
    return [f"{each['id']}: {node['target']} {node['failureSummary']}" for each in found for node in each["nodes"]]


def received(page):
    """The sizes of what the page receives from now on."""
    client = page.context.new_cdp_session(page)
    client.send("Network.enable")
    sizes = []
    client.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    return sizes, lambda: (client.send("Network.clearBrowserCache"), sizes.clear())


def go(page, action):
    """Does something that loads another page, and waits for it."""
    with page.expect_navigation():
        action()


def until(page, expression, argument=None):
    """Waits until an expression is true in a page. `wait_for_function` of Playwright evaluates it in the page after its
    first attempt, which the Content-Security-Policy of the pages forbids."""
    return wait_for(lambda: page.evaluate(expression, argument))


def reach(page, selector, limit=200):
    """Presses Tab until an element that matches has the focus, as a person without a mouse does."""
    for _ in range(limit):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement?.matches(selector)", selector):
            return
    raise AssertionError(f"the Tab key does not reach {selector}")


class Watched:
    """Contexts of a browser whose pages must log nothing and send requests nowhere else."""

    def __init__(self, chromium, origin):
        self.chromium, self.origin = chromium, origin
        self.contexts, self.faults = [], []

    def context(self, view="light", **options):
        context = self.chromium.new_context(**VIEWS[view], **options)
        context.set_default_timeout(60_000)
        self.contexts.append(context)
        return context

    def page(self, view="light", **options):
        page = self.context(view, **options).new_page()
        # Error pages have their status, and a test may type before the browser has put the focus into the first field.
        page.on("console", lambda message: "the server responded with a status of" in message.text
                or "Autofocus processing was blocked" in message.text or self.faults.append(message.text))  # fmt: skip
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("dialog", lambda dialog: (self.faults.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: request.url.startswith((self.origin, "data:")) or self.faults.append(request.url))
        return page

    def close(self):
        for context in self.contexts:
            context.close()
        assert not self.faults, self.faults
