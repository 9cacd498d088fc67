# Makes launchd forget the keeper and removes its files. The settings that it restored remain unchanged.
#
# Uses ../../node/shell/forget-service.sh
# Words: all files of the keeper except its log
# Prints: @changed or @unchanged
forget_service "$@"
[ -n "$y" ] || unchanged
changed
