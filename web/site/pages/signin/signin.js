import { offer } from '../layout/passkey.js';

// The link to sign in has its code behind "#": no server sees it there, and it leaves the address here.
const token = document.getElementById('token');
if (location.hash.length > 1) {
	token.value = decodeURIComponent(location.hash.slice(1));
	history.replaceState(null, '', location.pathname + location.search);
	document.querySelector('form.stack button').focus();
}

offer(document.getElementById('passkey'), (options) => navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) }));
