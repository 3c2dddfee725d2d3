const rl = require("readline").createInterface({input: process.stdin});
rl.on("line", line => {
  const words = line.split(" ");
  if (words[0] === "timba") console.log("ready");
  else if (words[0] === "turn") { console.log("move " words[3]); }
  else if (words[0] === "bye") process.exit(0);
});
