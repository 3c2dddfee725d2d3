// The replay of a game that is over, at its end or where the address says.
import { startPlayer } from '../board/replay.js';
import '../layout/copy.js';
import '../layout/parts.js';

const data = document.getElementById('replay'), player = document.getElementById('player');
const { seat, me } = player?.dataset ?? {};
if (data) {
  startPlayer(player, JSON.parse(data.textContent), {
    part: true, address: 'query', last: true, bottom: Number(seat), me: me === undefined ? undefined : Number(me), plain: true,
  });
}
