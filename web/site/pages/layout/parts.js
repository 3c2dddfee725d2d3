// Moves the parts of a page with what happens. An element with data-topic holds them; each part
// has data-part. With data-whole they are a list, whose order moves as well.

import { Socket } from './socket.js';

const holders = [...document.querySelectorAll('[data-topic]')];
export const socket = new Socket((on) => { document.documentElement.dataset.live = on ? 'yes' : 'no'; });
for (const holder of holders) socket.watch(holder.dataset.topic, (doc) => update(holder, doc), () => ({ lang: document.documentElement.lang }));

function update(holder, { parts, order }) {
  const own = new Map([...holder.querySelectorAll('[data-part]')].map((e) => [e.dataset.part, e]));
  for (const [key, text] of Object.entries(parts ?? {})) {
    const old = own.get(key);
    if (!old && !('whole' in holder.dataset)) continue;
    const next = element(text);
    old?.removeAttribute('data-moved'); // which is not the server's
    if (!next || old && (old.isEqualNode(next) || old.contains(document.activeElement))) continue;
    if (old) old.replaceWith(next);
    else holder.append(next);
    own.set(key, next);
    next.dataset.moved = '';
  }
  if (!('whole' in holder.dataset) || !order) return;
  for (const [key, e] of own) if (!order.includes(key)) e.remove();
  order.forEach((key, i) => {
    const e = own.get(key);
    if (e && holder.children[i] !== e && !holder.contains(document.activeElement)) holder.insertBefore(e, holder.children[i] ?? null);
  });
}

// element is the first element of a text that the server has written with its templates.
function element(text) {
  const template = document.createElement('template');
  template.innerHTML = text;
  return template.content.firstElementChild;
}
