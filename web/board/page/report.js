// The report of a match: a main element for each language, of which one is shown, and links such as #game=ID that open
// a player in a dialog. The address keeps the game and the position.
import { startPlayer } from '../replay.js';
import { language, speak } from '../text.js';

// startReport listens. games are by ID: the JSON of Go's board.Recording, compressed by gzip, in base64.
export function startReport(games) {
  const dialog = document.querySelector('dialog'), root = dialog.querySelector('.player');
  let player, shown = null;

  const close = () => {
    player?.close();
    player = null;
    root.replaceChildren();
  };
  const open = async () => {
    const id = new URLSearchParams(location.hash.slice(1)).get('game');
    if (id === shown) return;
    shown = Object.hasOwn(games, id) ? id : null;
    close();
    if (shown === null) return void dialog.close();
    if (!dialog.open) dialog.showModal();
    const game = await unpack(games[id]).catch(() => null); // a browser may be too old for it
    if (shown !== id) return;
    if (game) player = startPlayer(root, game, { part: true });
    else root.textContent = document.querySelector('main:not([hidden])').dataset.browser;
  };
  const translate = (tag) => {
    speak(tag);
    document.documentElement.lang = tag;
    for (const main of document.querySelectorAll('main')) {
      main.hidden = main.lang !== tag;
      if (!main.hidden) document.title = main.dataset.title;
    }
    for (const button of document.querySelectorAll('[data-speak]')) button.setAttribute('aria-pressed', String(button.dataset.speak === tag));
    const label = dialog.querySelector('button');
    label.textContent = document.querySelector('main:not([hidden])').dataset.close;
  };

  for (const button of document.querySelectorAll('[data-speak]')) button.addEventListener('click', () => translate(button.dataset.speak));
  document.querySelector('.languages').hidden = false;
  dialog.querySelector('button').addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', () => {
    close();
    if (shown !== null) history.replaceState(null, '', location.href.split('#')[0]);
    shown = null;
  });
  addEventListener('hashchange', open);
  translate(language);
  open();
}

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).json();
}
