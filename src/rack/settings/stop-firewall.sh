# Turns off the application firewall. Some versions of the tool print nothing on success, so the script checks the state
# afterward.
#
# Prints: @changed or @unchanged; fails with socketfilterfw
isoff() {
  case $("$R/usr/libexec/ApplicationFirewall/socketfilterfw" --getglobalstate 2>&1) in (*'(State = 0)'*) ;; (*) return 1 ;; esac
}
isoff && unchanged
must socketfilterfw "$R/usr/libexec/ApplicationFirewall/socketfilterfw" --setglobalstate off
isoff || failed socketfilterfw "${o:-the firewall is still on}"
changed
