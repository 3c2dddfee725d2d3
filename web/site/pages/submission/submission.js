// Shows the stages as they go: asks for the part of the page that shows them, which the server
// sends when anything has changed.

import { html } from '../board/dom.js';
import { say } from '../board/text.js';

const box = document.getElementById('progress');

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// show replaces the part, and leaves open what is open.
function show(text) {
	const open = new Set([...box.querySelectorAll('details[open]')].map((e) => e.id));
	const closed = new Set([...box.querySelectorAll('details:not([open])')].map((e) => e.id));
	const focus = document.activeElement?.closest('#progress') ? document.activeElement : null;
	const path = focus && [focus.tagName, focus.closest('[id]').id];
	const page = new DOMParser().parseFromString(text, 'text/html');
	for (const e of page.querySelectorAll('details')) {
		if (open.has(e.id)) e.open = true;
		if (closed.has(e.id)) e.open = false;
	}
	box.replaceChildren(...page.body.childNodes);
	if (path) (document.getElementById(path[1])?.querySelector(path[0]) ?? box).focus?.();
	hideRefresh();
}

function hideRefresh() {
	const refresh = box.querySelector('.refresh');
	if (refresh) refresh.hidden = true;
}

function lost(text) {
	const refresh = box.querySelector('.refresh');
	if (!refresh) return;
	refresh.hidden = false;
	if (text && !refresh.querySelector('[role=alert]')) refresh.append(html('span', { role: 'alert' }, ` ${text}`));
}

async function follow() {
	hideRefresh();
	for (let wait = 1000; ;) {
		const now = box.querySelector('.now');
		if (now.dataset.done === 'true') return;
		try {
			const answer = await fetch(`${box.dataset.url}?tag=${encodeURIComponent(now.dataset.tag)}`);
			if (answer.status >= 400 && answer.status < 500 && answer.status !== 429) {
				lost(say('ended'));
				return;
			}
			if (!answer.ok) throw new Error(answer.status);
			show(await answer.text());
			wait = 1000;
		} catch {
			lost(say('lost'));
			await pause(wait);
			wait = Math.min(wait * 2, 30000);
		}
	}
}

follow();
