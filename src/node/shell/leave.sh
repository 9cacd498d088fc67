# `leave MESSAGE` handles a failure message from a subshell. If macOS refused to change a setting that the keeper
# maintains, `leave` marks the node, and the script continues. After any other failure, or if the keeper does not
# maintain the setting, the script fails.
#
# Uses network-setup.sh
# Needs keeper: whether the keeper maintains the setting that the script changes
# Prints: on failure, the message to stderr, and exits with 1
leave() {
  case $keeper:$1 in (1:*'@failed no-full-disk-access '*) ;; (*)
    printf '%s\n' "$1" >&2
    exit 1
  ;; esac
  [ -e "$refused_mark" ] || write "$refused_mark" "since=$("$R/bin/date" -u +%s)$N"
}
