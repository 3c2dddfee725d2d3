// Buttons that copy a text which is shown once.

for (const button of document.querySelectorAll('[data-copy]')) {
	button.hidden = false;
	button.addEventListener('click', async () => {
		const field = document.getElementById(button.dataset.copy);
		field.select();
		try {
			await navigator.clipboard.writeText(field.value);
		} catch {
			document.execCommand('copy'); // pages without https have no clipboard
		}
		const status = document.querySelector(`[data-copied="${button.dataset.copy}"]`);
		status.textContent = status.dataset.text;
		status.classList.remove('hidden');
	});
}
