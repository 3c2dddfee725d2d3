import '../layout/copy.js';

// The link of an invite has its code behind "#": no server sees it there, and it leaves the address here.
const code = document.getElementById('code');
if (code && location.hash.length > 1) {
	code.value = decodeURIComponent(location.hash.slice(1));
	history.replaceState(null, '', location.pathname);
	document.getElementById('name').focus();
}
