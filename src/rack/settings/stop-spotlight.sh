# Turns off Spotlight indexing for every volume. The existing index remains on the disk. mdutil(1).
#
# Prints: @changed or @unchanged; fails with mdutil
isoff() {
  o=$("$R/usr/bin/mdutil" -a -s 2>&1) || return 1
  case $o in
    (*'Indexing enabled'*) return 1 ;;
    (*'disabled.'*) ;;
    (*) return 1 ;;
  esac
}
isoff && unchanged
must mdutil "$R/usr/bin/mdutil" -a -i off
n=0
until isoff; do
  n=$((n + 1))
  [ "$n" -lt 20 ] || failed mdutil 'mdutil reported success, but the setting did not change'
  "$R/bin/sleep" 0.25
done
changed
