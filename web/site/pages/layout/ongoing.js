// The bar with the visitor's games in progress. The server writes it anew when one of the games changes, and when the
// browser shows a page that it has kept.

const bar = document.getElementById('ongoing');
const watched = new Set(); // the tables in the bar
let written = performance.now();
let asked = 0;

async function renew() {
  const own = asked += 1;
  try {
    const answer = await fetch(`/play/ongoing?page=${encodeURIComponent(location.pathname)}`);
    const text = await answer.text();
    if (!answer.ok || own !== asked) return;
    bar.innerHTML = text;
  } catch { return; } // the server cannot be reached: the bar stays
  written = performance.now();
  watch();
}

// watch has the bar written anew with each change of its tables.
async function watch() {
  const tables = new Set([...bar.children].map((line) => line.dataset.table));
  if (tables.size + watched.size === 0) return;
  const { socket } = await import('./parts.js');
  for (const id of watched.difference(tables)) socket.leave(`play/${id}`);
  for (const id of tables.difference(watched)) socket.watch(`play/${id}`, renew, () => ({ lang: document.documentElement.lang }));
  watched.clear();
  for (const id of tables) watched.add(id);
}

// tick counts the time for a move down.
function tick() {
  for (const left of bar.querySelectorAll('[data-left]')) {
    const seconds = Math.max(0, Math.ceil((Number(left.dataset.left) - (performance.now() - written)) / 1000));
    left.textContent = left.textContent.replace(/\d+:\d+/, `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`);
  }
}

window.addEventListener('pageshow', (event) => {
  if (event.persisted || performance.getEntriesByType('navigation')[0]?.type === 'back_forward') renew();
});
document.addEventListener('visibilitychange', () => { if (!document.hidden) renew(); });
setInterval(tick, 1000);
watch();
