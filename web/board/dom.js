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

const fonts = new Map();
let pen = null;

// textWidth is the width in pixels of a text in the page's font, --sans.
export function textWidth(text, size, weight = 600) {
  const key = `${weight} ${size}`;
  pen ??= document.createElement('canvas').getContext('2d');
  if (!fonts.has(key)) {
    const family = getComputedStyle(document.documentElement).getPropertyValue('--sans') || 'sans-serif';
    fonts.set(key, `${weight} ${size}px ${family}`);
  }
  pen.font = fonts.get(key);
  return pen.measureText(text).width;
}

// clip shortens a text until it is no wider than so many pixels at a font size.
export function clip(text, pixels, size = 13, weight = 600) {
  if (textWidth(text, size, weight) <= pixels) return text;
  const letters = [...text];
  while (letters.length > 1 && textWidth(`${letters.join('')}…`, size, weight) > pixels) letters.pop();
  return `${letters.join('').trimEnd()}…`;
}

// fitted writes a text into an SVG element at a font size, or at a size down to a seventh less at which it is no
// wider than so many pixels; what does not fit then is cut.
export function fitted(element, text, pixels, size) {
  let least = size;
  while (least > size * 0.86 && textWidth(text, least) > pixels) least -= 0.5;
  const whole = textWidth(text, least) <= pixels;
  element.prepend(whole ? text : clip(text, pixels, size));
  element.style.fontSize = `${whole ? least : size}px`;
  return element;
}
