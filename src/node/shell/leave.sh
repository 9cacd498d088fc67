# `leave SAID` handles a failure message from a subshell: if macOS refused a setting that the keeper maintains, `leave`
# marks the node and continues. For any other failure, or without a keeper, the script fails.
#
# Uses network-setup.sh
# Needs keeper: whether the keeper maintains the value that the script sets
# Prints: the failure message, to stderr, and exits with 1
leave() {
  case $keeper:$1 in (1:*'@failed no-full-disk-access '*) ;; (*)
    printf '%s\n' "$1" >&2
    exit 1
  ;; esac
  [ -e "$refused_mark" ] || write "$refused_mark" "since=$("$R/bin/date" -u +%s)$N"
}
