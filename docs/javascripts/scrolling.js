// What scrolls sideways in a small window can be reached by keys, and says what it is.
{
  const kinds = { ".md-typeset__scrollwrap": "Table", "pre > code": "Code", "math[display=block]": "Formula", "math.long": "Formula" };

  const heading = (element) => {
    const before = [...document.querySelectorAll(".md-content :is(h1, h2, h3)")].filter(
      (each) => each.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING,
    );
    return before.at(-1)?.firstChild?.textContent?.trim();
  };

  const mark = (element, kind) => {
    if (element.scrollWidth <= element.clientWidth) {
      for (const name of ["tabindex", "role", "aria-label"]) element.removeAttribute(name);
      return;
    }
    const title = heading(element);
    element.setAttribute("tabindex", "0");
    element.setAttribute("role", "group");
    element.setAttribute("aria-label", title ? `${kind}, ${title}` : kind);
  };

  addEventListener("load", () => {
    const sizes = new ResizeObserver((changes) => {
      for (const { target } of changes) mark(target, target.dataset.scrolls);
    });
    for (const [selector, kind] of Object.entries(kinds)) {
      for (const element of document.querySelectorAll(`.md-content ${selector}`)) {
        element.dataset.scrolls = kind;
        mark(element, kind);
        sizes.observe(element);
      }
    }
  });
}
