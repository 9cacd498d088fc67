# Makes launchd unload a gateway, which stops it gracefully, and removes its files and their seals.
#
# Uses ../../../node/shell/forget-service.sh
# Needs gateways: the folder of all gateways, removed with the last one
# Words: its files and folders
# Prints: @changed or @unchanged
forget_service "$@"
"$R/bin/rmdir" "$gateways" 2>/dev/null
[ -n "$y" ] || unchanged
changed
