// The form works without this: it adds dropping a file, and says what is too large before it is sent.

import { say } from '../board/text.js';

const form = document.querySelector('.upload');

function setUp() {
	const drop = form.querySelector('.drop'), input = form.querySelector('#archive'), notice = form.querySelector('.notice');
	const button = form.querySelector('button');
	form.querySelector('.only-script').hidden = false;

	const tell = (text) => {
		notice.textContent = text;
		notice.hidden = text === '';
	};
	const check = () => {
		const [file] = input.files;
		const large = file && file.size > Number(form.dataset.limit);
		tell(large ? say('large', { size: form.dataset.limitText }) : '');
		return !large;
	};
	input.addEventListener('change', check);
	for (const name of ['dragenter', 'dragover', 'dragleave', 'drop']) {
		drop.addEventListener(name, (event) => {
			event.preventDefault();
			drop.classList.toggle('over', name === 'dragenter' || name === 'dragover');
		});
	}
	drop.addEventListener('drop', (event) => {
		if (event.dataTransfer.files.length === 1) {
			input.files = event.dataTransfer.files;
			check();
		} else {
			tell(say('only'));
		}
	});
	form.addEventListener('submit', (event) => {
		if (!check()) {
			event.preventDefault();
			return;
		}
		button.disabled = true;
		button.textContent = say('sending');
	});
	window.addEventListener('pageshow', (event) => { // back from the next page
		if (event.persisted) location.reload();
	});
}

if (form) setUp();
