# `leave SAID` continues after a part of a script, run in a shell of its own, has failed with these words, when macOS did
# not let it set what the keeper holds: the node is marked. Every other failure is that of the script, and this one too
# where no keeper holds it.
#
# Uses network-setup.sh
# Needs keeper: whether the keeper holds what the script sets
# Prints: the words of a failure, to stderr, with exit 1
leave() {
  case $keeper:$1 in (1:*'@failed no-full-disk-access '*) ;; (*)
    printf '%s\n' "$1" >&2
    exit 1
  ;; esac
  [ -e "$refused_mark" ] || write "$refused_mark" "since=$("$R/bin/date" -u +%s)$N"
}
