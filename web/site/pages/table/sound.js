// The sounds of a table: tones that the browser makes. They are on, but on phones off, until the button
// #sound says otherwise; the browser keeps that.

// tunes are tones that follow each other: their hertz and seconds.
const tunes = {
  move: [[196, 0.07]],
  turn: [[659, 0.1], [880, 0.14]],
  warn: [[880, 0.12], [880, 0.12], [880, 0.12]],
  end: [[523, 0.15], [659, 0.15], [784, 0.4]],
};

const button = document.getElementById('sound');
let on = (kept() ?? (matchMedia('(pointer: coarse)').matches ? 'off' : 'on')) === 'on';
let context = null; // made when somebody clicks or types: browsers let no page be heard before

function kept() {
  try { return localStorage.getItem('sound'); } catch { return null; } // where a browser keeps nothing
}

function keep(value) {
  try { localStorage.setItem('sound', value); } catch { /* it holds for this page */ }
}

function wake() {
  if (!on || navigator.userActivation?.hasBeenActive === false) return;
  context ??= new AudioContext();
  if (context.state !== 'running') context.resume();
}

for (const event of ['click', 'keydown']) document.addEventListener(event, wake, true);

button.setAttribute('aria-pressed', String(on));
button.addEventListener('click', () => {
  on = !on;
  button.setAttribute('aria-pressed', String(on));
  keep(on ? 'on' : 'off');
  wake();
  sound('turn');
});

// sound plays a tune.
export function sound(name) {
  if (!on || context === null) return;
  let at = context.currentTime;
  for (const [frequency, seconds] of tunes[name]) {
    const tone = new OscillatorNode(context, { type: 'triangle', frequency }), volume = new GainNode(context);
    volume.gain.setValueAtTime(0.15, at);
    volume.gain.exponentialRampToValueAtTime(0.001, at + seconds);
    tone.connect(volume).connect(context.destination);
    tone.start(at);
    tone.stop(at + seconds);
    at += seconds;
  }
}
