// Elements are only ever made here, from names, attributes and text: nothing
// that a bot said is read as markup.

const SVG = 'http://www.w3.org/2000/svg';

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false && child !== ''));
  return element;
}

// html makes an HTML element. A function among the attributes listens to the
// event of that name; children are elements or text.
export function html(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

// svg makes an SVG element in the same way.
export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

// path is the commonest shape.
export function path(d, kind, more = {}) {
  return svg('path', { d, class: kind, ...more });
}

// sheet is the place in the document where symbols are kept for use elements.
export function sheet() {
  let s = document.getElementById('symbols');
  if (!s) {
    s = svg('svg', { id: 'symbols', width: 0, height: 0, 'aria-hidden': 'true', focusable: 'false' });
    document.body.prepend(s);
  }
  return s;
}

// clip shortens a text to about so many pixels at a font size.
export function clip(text, pixels, size = 13) {
  const most = Math.max(2, Math.floor(pixels / (size * 0.62)));
  const letters = [...text];
  return letters.length <= most ? text : letters.slice(0, most - 1).join('') + '…';
}
