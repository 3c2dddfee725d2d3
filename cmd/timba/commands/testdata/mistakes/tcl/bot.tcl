fconfigure stdout -buffering line
while {[gets stdin line] >= 0} {
    switch [lindex $line 0] {
        timba { puts ready }
        turn { puts "move $best" }
        bye { exit }
    }
}
