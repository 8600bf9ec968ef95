"""The pictures of the documentation are what the pages look like today.

A picture is compared at an eighth of its size, so that neither another version of the browser nor the digits of an id
matter, but a part that has moved, another colour, or an empty page does. After a change that is meant:
`make screenshots`.
"""

import base64
import importlib.machinery
import importlib.util

from harness import ROOT


SCALE = 8
# Of 255, for one channel of a scaled pixel.
TOLERANCE = 40
# The share of scaled pixels that may differ more.
ALLOWED = 0.02
COMPARE = """async ([first, second, scale]) => {
    const pixels = async (data) => {
        const image = new Image();
        image.src = "data:image/png;base64," + data;
        await image.decode();
        const canvas = document.createElement("canvas");
        [canvas.width, canvas.height] = [Math.floor(image.width / scale), Math.floor(image.height / scale)];
        const context = canvas.getContext("2d");
        context.imageSmoothingQuality = "high";
        context.drawImage(image, 0, 0, canvas.width, canvas.height);
        return { size: [image.width, image.height], data: context.getImageData(0, 0, canvas.width, canvas.height).data };
    };
    const [a, b] = [await pixels(first), await pixels(second)];
    let differing = 0;
    for (let i = 0; i < Math.min(a.data.length, b.data.length); i += 4)
        if ([0, 1, 2].some((channel) => Math.abs(a.data[i + channel] - b.data[i + channel]) > TOLERANCE)) differing += 1;
    return { sizes: [a.size, b.size], share: differing / (a.data.length / 4) };
}""".replace("TOLERANCE", str(TOLERANCE))


def screenshots():
    loader = importlib.machinery.SourceFileLoader("screenshots", str(ROOT / "tools" / "screenshots"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("screenshots", loader))
    loader.exec_module(module)
    return module


def difference(page, first, second):
    data = [base64.b64encode(path.read_bytes()).decode() for path in (first, second)]
    return page.evaluate(COMPARE, [*data, SCALE])


def test_the_pictures_of_the_documentation_are_current(chromium, tmp_path):
    tool, page, wrong = screenshots(), chromium.new_page(), []
    drawn = tool.draw(chromium, tmp_path)
    assert {picture.name for picture in drawn} == {picture.name for picture in tool.IMAGES.glob('*.png')}
    for picture in drawn:
        found = difference(page, tool.IMAGES / picture.name, picture)
        first, second = found["sizes"]
        if first != second:
            wrong.append(f"{picture.name}: the page has another size")
        elif found["share"] > ALLOWED:
            wrong.append(f"{picture.name}: {found['share']:.1%} differ")
    assert not wrong, "run `make screenshots` and look at them: " + ", ".join(wrong)


def test_the_comparison_notices_another_page_and_another_theme(chromium):
    images, page = screenshots().IMAGES, chromium.new_page()
    assert difference(page, images / "work.png", images / "work.png")["share"] == 0
    assert difference(page, images / "customer-light.png", images / "customer-dark.png")["share"] > 0.5
    assert difference(page, images / "evidence.png", images / "grant.png")["share"] > ALLOWED
