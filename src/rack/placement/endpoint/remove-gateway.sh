# Makes launchd unload a gateway, which then shuts down gracefully, and removes its files and their seals.
#
# Uses ../../../node/shell/forget-service.sh
# Needs gateways: the folder with all gateways, removed with the last one
# Words: the gateway's files and folders
# Prints: @changed or @unchanged
forget_service "$@"
"$R/bin/rmdir" "$gateways" 2>/dev/null
[ -n "$y" ] || unchanged
changed
