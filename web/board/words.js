// Texts for people, in the language of the page. They are those of Go's package messages below [board].

let language = null, texts = {}, plurals = null;

// speak chooses a language for all that is drawn from now on; all is its texts by key.
export function speak(tag, all) {
  [language, texts, plurals] = [tag, all, new Intl.PluralRules(tag)];
}

// spoken reads the texts that a page brings: an element with the id board-texts, JSON from
// language to texts by key.
export function spoken() {
  const data = document.getElementById('board-texts');
  return data ? JSON.parse(data.textContent) : {};
}

// preferred is the first of the languages that the reader's browser prefers, else the first.
export function preferred(languages) {
  const wanted = navigator.languages.map((tag) => tag.split('-')[0].toLowerCase());
  return wanted.find((tag) => languages.includes(tag)) ?? languages[0];
}

// current is the language of the page.
export function current() {
  if (language === null) {
    const all = spoken();
    const tag = preferred(Object.keys(all)) ?? 'en';
    speak(tag, all[tag] ?? {});
  }
  return language;
}

// say is a text with its values, by the names of their places. count chooses the plural. The
// text of a key that does not exist is the key: a test keeps the messages complete.
export function say(key, values = {}) {
  current();
  const found = Object.hasOwn(texts, key) ? texts[key] : key;
  const text = typeof found === 'string' ? found : found[plurals.select(Number(values.count))] ?? found.other;
  return text.replace(/\{(\w+)\}/g, (place, name) => (Object.hasOwn(values, name) ? String(values[name]) : place));
}

// said reports whether there is a text.
export function said(key) {
  current();
  return Object.hasOwn(texts, key);
}
