const rl = require("readline").createInterface({input: process.stdin});
rl.on("line", line => {
  const words = line.split(" ");
  if (words[0] === "timba") console.log("ready");
  else if (words[0] === "turn") { let h; console.log("move " + h.cards[0]); }
  else if (words[0] === "bye") process.exit(0);
});
