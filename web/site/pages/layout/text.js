// The texts of the page, messages NAME.js.* of Go's package messages, by their keys.

export const texts = JSON.parse(document.getElementById('texts').textContent);

// say is a text with its values, by the names of their places.
export function say(key, values = {}) {
  return texts[key].replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);
}
