# Unloads the keeper from launchd and removes its files. The settings that the keeper has restored remain unchanged.
#
# Uses ../../node/shell/forget-service.sh
# Arguments: all of the keeper's files except its log
# Prints: @changed or @unchanged
forget_service "$@"
[ -n "$y" ] || unchanged
changed
