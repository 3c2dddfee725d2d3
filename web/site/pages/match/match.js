// Verifies in the browser, by SPEC.md "Seeds and deals", that the seed of a match is the one that
// was committed to, and that its games and the seeds of its bots come from it.

import { html } from '../board/dom.js';
import { say } from '../board/text.js';

const button = document.getElementById('verify'), verdict = document.getElementById('verdict'), data = document.getElementById('verified')?.dataset;

const hex = (bytes) => [...bytes].map((b) => b.toString(16).padStart(2, '0')).join('');
const bytesOf = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

// derived is SHA-256(seed ‖ label).
async function derived(seed, label = '') {
  const tail = new TextEncoder().encode(label);
  const all = new Uint8Array(seed.length + tail.length);
  all.set(seed);
  all.set(tail, seed.length);
  return new Uint8Array(await crypto.subtle.digest('SHA-256', all));
}

// botSeed is a bot's own seed: the first 8 bytes, shifted right by 11 bits.
const botSeed = (sum) => Number(new DataView(sum.buffer).getBigUint64(0) >> 11n);

// replays gives the replays of the match one by one.
async function* replays(match) {
  const answer = await fetch(`/api/v1/matches/${match}/replays`, { headers: { Accept: 'application/x-ndjson' } });
  if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    const lines = (rest + (value ?? '')).split('\n');
    rest = done ? '' : lines.pop();
    for (const line of lines) if (line !== '') yield JSON.parse(line);
    if (done) return;
  }
}

// wrongIn is what of a replay does not come from the seed: a message and its values, or null.
async function wrongIn({ game, replay }, seed, commitment, deals) {
  const { deal, rotation } = replay.match;
  if (replay.commitment !== commitment) return ['other-commitment', { game }];
  if (!deals.has(deal)) deals.set(deal, hex(await derived(seed, `deal/${deal}`)));
  if (replay.seed !== deals.get(deal)) return ['other-deal', { game, deal }];
  for (const [seat, bot] of replay.seats.entries()) {
    if (bot.seed !== botSeed(await derived(seed, `bot/${deal}/${rotation}/${seat}`))) return ['other-bot', { game, seat }];
  }
  return null;
}

async function verify(tell) {
  const seed = bytesOf(data.seed), sum = hex(await derived(seed));
  const kept = sum === data.commitment;
  tell(kept, kept ? 'kept' : 'broken', { sum });
  const deals = new Map();
  let games = 0;
  for await (const line of replays(data.match)) {
    const wrong = await wrongIn(line, seed, data.commitment, deals);
    if (wrong) return tell(false, ...wrong);
    games++;
  }
  if (games > 0) tell(true, 'games', { games, deals: deals.size });
  else tell(true, 'nogames');
}

if (button) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    const list = html('ul');
    verdict.replaceChildren(list);
    const tell = (ok, key, values) => {
      list.append(html('li', { class: ok ? 'ok' : 'wrong' }, say(key, values)));
    };
    if (!globalThis.crypto?.subtle) return tell(false, 'insecure');
    button.disabled = true;
    verdict.dataset.state = 'busy';
    try {
      await verify(tell);
    } catch (error) {
      tell(false, 'failed', { error: error.message });
    }
    button.disabled = false;
    verdict.dataset.state = list.querySelector('.wrong') ? 'wrong' : 'ok';
  });
}
