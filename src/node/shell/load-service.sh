# `load_service PLIST` loads the `$L` service. It tries up to three times, because launchd may refuse to load a service
# shortly after a `bootout`. launchctl(1): bootstrap exits with 5 if the service is already loaded.
#
# Uses service.sh
# Prints: nothing; fails with launchctl
load_service() {
  n=0
  until e=$("$R/bin/launchctl" bootstrap system "$1" 2>&1) || look; do
    n=$((n + 1))
    [ "$n" -lt 3 ] || failed launchctl "$e"
    "$R/bin/sleep" 2
  done
}
