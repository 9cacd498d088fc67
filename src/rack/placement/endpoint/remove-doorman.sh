# Makes launchd forget a gateway, which ends it in order, and takes its files and their seals away.
#
# Uses ../../../node/shell/forget-service.sh
# Needs doormen: the folder of all gateways, which goes with the last one
# Words: its files and folders
# Prints: @changed or @unchanged
forget_service "$@"
"$R/bin/rmdir" "$doormen" 2>/dev/null
[ -n "$y" ] || unchanged
changed
