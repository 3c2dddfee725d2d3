set -u
while read -r verb rest; do
  case $verb in
    timba) echo ready;;
    turn) set -- $rest; shift 2; echo "move $best";;
    bye) exit 0;;
  esac
done
