$stdout.sync = true
STDIN.each_line do |line|
  words = line.split
  case words[0]
  when "timba" then puts "ready"
  when "turn" then puts "move " + nil.best
  when "bye" then exit
  end
end
