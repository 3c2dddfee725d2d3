// The list of waiting tables updates itself. The form offers what fits the number of players, and says which clock
// people have if several play. Links to other games and options keep the bot and who begins.
import '../layout/deck.js';
import '../layout/parts.js';

// The list is the same for all visitors. A value that only this browser has makes two clicks on a button one claim.
document.addEventListener('submit', ({ target }) => {
  if (!target.closest('.lobby') || target.elements.once) return;
  const field = document.createElement('input');
  [field.type, field.name, field.value] = ['hidden', 'once', crypto.getRandomValues(new Uint32Array(4)).join('-')];
  target.append(field);
});

const form = document.querySelector('form.choose');
if (form) {
  const offer = () => {
    const players = form.querySelector('[name="set-players"]:checked')?.value;
    for (const part of form.querySelectorAll('[data-players]')) {
      part.hidden = !part.dataset.players.split(' ').includes(players);
      for (const field of part.querySelectorAll('input, select')) field.disabled = field.closest('[data-players][hidden]') !== null;
    }
    const people = ['bot', 'bot2', 'bot3'].some((name) => /^[+*]/.test(new FormData(form).get(name) ?? '')); // invited by link, by name or by the list
    for (const text of form.querySelectorAll('[data-people]')) text.hidden = (text.dataset.people === 'yes') !== people;
  };
  form.addEventListener('change', offer);
  window.addEventListener('pageshow', offer); // also when the browser goes back to what was chosen
  offer();
  form.elements.other.addEventListener('change', () => { form.querySelector('[value="other"]').checked = true; });
  for (const link of document.querySelectorAll('a[data-keeps]')) {
    link.addEventListener('click', () => {
      const to = new URL(link.href), chosen = new FormData(form);
      for (const name of ['bot', 'other', 'seat', 'bank']) to.searchParams.set(name, chosen.get(name) ?? '');
      link.href = to;
    });
  }
}
