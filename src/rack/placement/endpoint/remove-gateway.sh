# Unloads a gateway from launchd, which shuts the gateway down gracefully, and removes the gateway's files and their
# seals.
#
# Uses ../../../node/shell/forget-service.sh
# Needs gateways: the folder that contains all gateways and is removed with the last gateway
# Arguments: the gateway's files and folders
# Prints: @changed or @unchanged
forget_service "$@"
"$R/bin/rmdir" "$gateways" 2>/dev/null
[ -n "$y" ] || unchanged
changed
