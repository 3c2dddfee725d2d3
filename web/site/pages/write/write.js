// The editor: a text for each game and language or for a file of a version, which the browser keeps; tests of it, and its
// submission.

import { openEditor } from './codemirror.js';
import { html } from '../board/dom.js';
import { say } from '../board/text.js';

const find = (id) => document.getElementById(id);
const game = find('game'), language = find('language'), editor = find('editor'), box = find('tryout');
const { edited, file } = Object.fromEntries(new FormData(find('write'))); // a file of a version; undefined for a new bot
const key = () => edited ? `timba.write.${edited}/${file}` : `timba.write.${game.value}.${language.value}`;
const source = () => edited ? `?${new URLSearchParams({ file, text: 1 })}` : `/write/${language.value}`;
const originals = new Map(); // texts by source()
const original = () => originals.get(source()) ?? '';

// kept is what the browser keeps; some browsers keep nothing.
const kept = {
	get(name) { try { return localStorage.getItem(name); } catch { return null; } },
	set(name, text) {
		try {
			if (text === null) localStorage.removeItem(name); else localStorage.setItem(name, text);
			find('kept').textContent = '';
		} catch { find('kept').textContent = say('lost'); }
	},
};

const view = openEditor(editor, editor.dataset.label, (text) => kept.set(key(), text === original() ? null : text));

// ask fetches an address of the server. An answer that is not the server's, but of a proxy before it, is an error.
async function ask(url, options) {
	const answer = await fetch(url, options);
	if (!answer.headers.has('Content-Security-Policy')) throw new Error(answer.status);
	return answer;
}

// open shows the text that the browser keeps, else the file of the version or the starter.
async function open() {
	const at = key(), from = source(), name = language.value;
	if (edited && editor.dataset.shown === at) return; // another game was chosen
	find('rules').href = `/rules/${game.value.split(' ')[0]}`;
	if (!edited) kept.set('timba.write', JSON.stringify([game.value, name]));
	for (const link of document.querySelectorAll('.signin')) link.href = `/sign-in?next=${encodeURIComponent(`/write?game=${game.value}&language=${name}`)}`;
	if (!originals.has(from)) {
		try {
			const answer = await ask(from);
			if (!answer.ok) throw new Error(answer.status);
			originals.set(from, await answer.text());
		} catch {
			find('kept').textContent = say('away');
		}
	}
	if (at !== key()) return;
	view.show(kept.get(at) ?? original(), name);
	editor.dataset.shown = at;
	const failed = Number(find('write').dataset.line ?? 0), lines = original().split('\n');
	if (failed) view.mark(view.text.split('\n').indexOf(lines[failed - 1], view.text === original() ? failed - 1 : 0) + 1);
}

// tell puts what the server answers into an element.
function tell(element, text) {
	const page = new DOMParser().parseFromString(text, 'text/html');
	element.replaceChildren(...page.head.childNodes, ...page.body.childNodes);
}

const fail = (element, text) => element.replaceChildren(html('div', { class: 'notice', role: 'alert' }, html('p', {}, text)));

// send sends the text with the fields of the form of an event, and returns the answer; null if there is none.
async function send({ target: form, submitter }, element) {
	const data = new FormData(form, submitter), buttons = form.querySelectorAll('button');
	for (const [name, value] of new FormData(find('write'))) data.set(name, value);
	data.set('text', view.text);
	for (const button of buttons) button.disabled = true;
	try {
		if (new Blob([view.text]).size > Number(find('write').dataset.limit)) {
			fail(element, say('large'));
			return null;
		}
		return await ask(form.action, { method: 'POST', body: data });
	} catch {
		fail(element, say('away'));
		return null;
	} finally {
		for (const button of buttons) button.disabled = false;
	}
}

// follow shows a test as it goes on, until it is over or another one has taken its place.
async function follow() {
	for (let now = box.querySelector('.now'), wait = 1000; now?.isConnected && now.dataset.done !== 'true';) {
		try {
			const answer = await ask(`${now.dataset.url}?change=${now.dataset.change}`);
			if (!now.isConnected) return;
			if (answer.status === 429 || answer.status >= 500) throw new Error(answer.status);
			show(await answer.text());
			now = box.querySelector('.now');
			wait = 1000;
		} catch {
			now.querySelector('.headline').textContent = say('away');
			await new Promise((resolve) => { setTimeout(resolve, wait); });
			wait = Math.min(wait * 2, 30000);
		}
	}
}

// show replaces the part of a test, but the game that is looked at, and what has the focus.
function show(text) {
	const shown = box.querySelector('.shown'), focus = box.contains(document.activeElement) && !shown?.contains(document.activeElement);
	const at = focus ? document.activeElement.dataset?.game : null;
	tell(box, text);
	if (shown) {
		box.append(shown);
		mark(shown.dataset.game);
	}
	if (focus) ([...box.querySelectorAll('[data-game]')].find((e) => at && e.dataset.game === at) ?? box).focus();
	for (const form of box.querySelectorAll('.cancel')) form.addEventListener('submit', cancel);
	for (const button of box.querySelectorAll('button[data-game]')) button.addEventListener('click', () => look(button.dataset.game));
	const now = box.querySelector('.now[data-done=true]'), first = now?.querySelector('[data-first]') ?? now?.querySelector('button[data-game]');
	if (now) view.mark(Number(now.dataset.line));
	if (!box.querySelector('.shown') && first) look(first.dataset.game, false);
}

function mark(url) {
	for (const button of box.querySelectorAll('button[data-game]')) button.setAttribute('aria-pressed', String(button.dataset.game === url));
}

async function cancel(event) {
	event.preventDefault();
	const answer = await ask(event.target.action, { method: 'POST' }).catch(() => null);
	if (answer) show(await answer.text()); else fail(box, say('away'));
}

// look shows a game of the test.
async function look(url, chosen = true) {
	const answer = await ask(url).catch(() => null);
	if (!answer) return;
	const part = html('div', { class: 'shown' });
	part.dataset.game = url;
	tell(part, await answer.text());
	const styles = [...part.querySelectorAll('link')];
	document.head.append(...styles.filter((e) => !document.head.querySelector(`link[href="${e.getAttribute('href')}"]`)));
	await Promise.all(styles.filter((e) => e.isConnected).map((e) => new Promise((resolve) => { e.onload = resolve; e.onerror = resolve; })));
	box.querySelector('.shown')?.remove();
	box.append(part);
	mark(url);
	const player = part.querySelector('.player');
	if (!player) return;
	const { startPlayer } = await import('../board/replay.js');
	history.replaceState(null, '', location.pathname + location.search); // the position is that of the game before
	startPlayer(player, JSON.parse(part.querySelector('script').textContent), { part: true });
	if (chosen) part.querySelector('h3').focus();
}

find('test')?.addEventListener('submit', async (event) => {
	event.preventDefault();
	const answer = await send(event, box);
	if (!answer) return;
	box.replaceChildren();
	show(await answer.text());
	box.focus();
	follow();
});

find('submit')?.addEventListener('submit', async (event) => {
	event.preventDefault();
	const answer = await send(event, find('refused'));
	if (!answer) return;
	if (answer.ok && answer.redirected) location.assign(answer.url);
	else tell(find('refused'), await answer.text());
});

find('again').addEventListener('click', () => {
	if (kept.get(key()) !== null && !window.confirm(find('again').dataset.ask)) return;
	kept.set(key(), null);
	editor.dataset.shown = '';
	open();
});
find('write').addEventListener('submit', (event) => event.preventDefault());
for (const select of [game, language]) select.addEventListener('change', open);
if (!location.search && !edited) {
	const [last, spoken] = JSON.parse(kept.get('timba.write') ?? '[]');
	for (const [select, value] of [[game, last], [language, spoken]]) {
		if ([...select.options].some((o) => o.value === value)) select.value = value;
	}
}
open();
