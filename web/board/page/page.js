// The script of a page in one file, which has a replay or the report of a match: page.min.js is its bundle.
import { startPlayer } from '../replay.js';
import { language } from '../text.js';
import { startReport } from './report.js';

const data = (id) => JSON.parse(document.getElementById(id)?.textContent ?? 'null');
const replay = data('replay');
document.documentElement.lang = language;
if (replay) startPlayer(document.getElementById('player'), replay);
else startReport(data('games'));
