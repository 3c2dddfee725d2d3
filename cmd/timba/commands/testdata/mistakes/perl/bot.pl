$| = 1;
while (<STDIN>) {
    chomp;
    my @words = split / /;
    my $hand;
    if    ($words[0] eq "timba") { print "ready\n" }
    elsif ($words[0] eq "turn")  { print "move ", $hand->best(@words), "\n" }
    elsif ($words[0] eq "bye")   { exit }
}
