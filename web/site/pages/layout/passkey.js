// canUse says whether this browser can make and use passkeys.
export const canUse = Boolean(window.PublicKeyCredential?.parseCreationOptionsFromJSON);

// offer shows a form with the field "passkey", whose button asks the browser for a passkey. request takes the options of
// the server and returns a promise of the passkey.
export function offer(form, request) {
	if (!form || !canUse) return;
	const notice = form.querySelector('[role="alert"]');
	form.hidden = false;
	form.addEventListener('submit', async (event) => {
		if (form.elements.passkey.value) return;
		event.preventDefault();
		notice.textContent = '';
		const button = form.querySelector('button');
		button.disabled = true;
		try {
			const answer = await fetch(form.dataset.options, { method: 'POST' });
			const passkey = await request((await answer.json()).publicKey);
			form.elements.passkey.value = JSON.stringify(passkey);
			form.submit();
		} catch {
			notice.textContent = form.dataset.failed;
		} finally {
			button.disabled = false;
		}
	});
}
