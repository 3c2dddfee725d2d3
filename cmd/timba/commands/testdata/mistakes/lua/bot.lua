io.stdout:setvbuf("line")
for line in io.lines() do
  local hand
  if line:find("^timba") then print("ready")
  elseif line:find("^turn") then print("move " .. hand.best)
  elseif line:find("^bye") then break end
end
