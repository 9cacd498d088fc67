# Makes launchd forget the keeper, and takes its files away. What it has put back stays as it is.
#
# Uses ../../node/shell/forget-service.sh
# Words: everything of the keeper but its log
# Prints: @changed or @unchanged
forget_service "$@"
[ -n "$y" ] || unchanged
changed
