# These functions end a root script: `changed` and `unchanged` report success, and `failed SLUG TEXT` reports a failure
# with the first line of TEXT. `N` is a newline.
#
# Prints: @changed or @unchanged; on failure, @failed with SLUG and TEXT to stderr, and exits with 1
N='
'
changed() {
  printf '@changed\n'
  exit 0
}
unchanged() {
  printf '@unchanged\n'
  exit 0
}
failed() {
  case $2 in
    (*'No space left on device'*) printf '@failed disk-full %s\n' "${2%%"$N"*}" >&2 ;;
    (*) printf '@failed %s %s\n' "$1" "${2%%"$N"*}" >&2 ;;
  esac
  exit 1
}
