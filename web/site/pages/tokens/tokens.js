import '../layout/copy.js';
import { offer } from '../layout/passkey.js';

offer(document.getElementById('passkey'), (options) => navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) }));
