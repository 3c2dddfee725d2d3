// Buttons that copy a text which is shown once. One with data-share gives it to the system's menu for sharing, where
// the browser has one.

for (const button of document.querySelectorAll('[data-copy]')) {
	button.hidden = false;
	const shares = () => 'share' in button.dataset && 'share' in navigator;
	if (shares()) button.textContent = button.dataset.share;
	button.addEventListener('click', async () => {
		const field = document.getElementById(button.dataset.copy);
		if (shares()) {
			navigator.share({ title: document.title, url: field.value }).catch(() => {}); // nobody was chosen
			return;
		}
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
