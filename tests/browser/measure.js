// What is wrong with the layout of a page: a list of sentences. Evaluated by test_pages.py.
(() => {
  const wrong = [], width = innerWidth, name = (e) => `${e.tagName} "${(e.textContent || "").trim().slice(0, 40)}"`;
  const luminance = (rgb) => rgb.map((c) => c / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const parse = (color) => (color.match(/[\d.]+/g) || []).map(Number);
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const color = parse(getComputedStyle(e).backgroundColor);
      if (color.length === 3 || color[3] > 0) return color.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const contrast = (e) => {
    const style = getComputedStyle(e), svg = e.namespaceURI.endsWith("svg");
    const [a, b] = [parse(svg ? style.fill : style.color).slice(0, 3), behind(e)].map(luminance).sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  };
  if (document.documentElement.scrollWidth > width)
    wrong.push(`the page is ${document.documentElement.scrollWidth} px wide in a window of ${width}`);
  document.querySelectorAll("details").forEach((e) => { e.open = true; });
  for (const e of document.querySelectorAll("body *")) {
    const box = e.getBoundingClientRect(), own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (box.width === 0 ) continue;
    const scrolled = e.closest(".scroll") && !e.classList.contains("scroll");
    if (!scrolled && (box.right > width + 0.5 || box.left < -0.5))
      wrong.push(`${name(e)} goes from ${box.left.toFixed(1)} to ${box.right.toFixed(1)} in a window of ${width}`);
    if (e.matches("dd, dt, h1, h2, p") && e.scrollWidth > e.clientWidth + 1) wrong.push(`${name(e)} is cut off`);
    if (!own) continue;
    if (contrast(e) < 4.5) wrong.push(`${name(e)} has a contrast of ${contrast(e).toFixed(2)}`);
    if (parseFloat(getComputedStyle(e).fontSize) < 11.5) wrong.push(`${name(e)} has small letters`);
  }
  for (const cell of document.querySelectorAll("th, td")) {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), range = document.createRange();
    while (texts.nextNode())
      for (const word of texts.currentNode.data.matchAll(/[^\s,/-]+/g)) {
        range.setStart(texts.currentNode, word.index);
        range.setEnd(texts.currentNode, word.index + word[0].length);
        const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
        if (lines.size > 1) wrong.push(`${name(cell)} of a table has the word "${word[0]}" on ${lines.size} lines`);
      }
  }
  for (const svg of document.querySelectorAll("svg.plot")) {
    const all = svg.getBoundingClientRect(), texts = [...svg.querySelectorAll("text")];
    const boxes = texts.map((e) => e.getBoundingClientRect());
    boxes.forEach((a, i) => {
      if (a.bottom > all.bottom + 1 || a.top < all.top - 1) wrong.push(`${name(texts[i])} is above or below its chart`);
      for (let j = 0; j < i; j++) {
        const b = boxes[j];
        if (a.left < b.right - 0.5 && b.left < a.right - 0.5 && a.top < b.bottom - 3 && b.top < a.bottom - 3)
          wrong.push(`${name(texts[i])} overlaps ${name(texts[j])}`);
      }
    });
    for (const mark of svg.querySelectorAll("rect, circle, line")) {
      const box = mark.getBoundingClientRect();
      if ([box.left, box.right, box.top, box.bottom].some((v) => !Number.isFinite(v)) ||
          box.left < all.left - 7 || box.right > all.right + 7 || box.top < all.top - 7 || box.bottom > all.bottom + 7)
        wrong.push(`a ${mark.tagName} of "${svg.getAttribute("aria-label")}" is outside of its chart`);
    }
  }
  if (document.scripts.length !== 2 || document.body.className !== "drawn") wrong.push("the page is not drawn by its script alone");
  return { wrong: wrong.slice(0, 30), charts: document.querySelectorAll("svg.plot").length,
           texts: document.querySelectorAll("svg.plot text").length };
})()
