# Installs a downloaded macOS update, which restarts the Mac. The password comes from the job's standard input and goes
# to the tool's; printf is a shell builtin, so it is in no process's arguments. The exit code proves nothing: only the
# next boot session and its build do. softwareupdate(8): --install, --restart, --user, --stdinpass.
#
# Needs label: the update's label
# Needs user: an owner of the startup volume; empty if a program on the controller orders the installation. Then this
# script only waits for the restart, so that every run sees the order, until a run reports that the program refused it
# Prints: nothing; fails with update-refused or update-failed, and the tool's output
if [ -z "$user" ]; then
  until [ -e "$d/refused" ]; do "$R/bin/sleep" 1; done
  IFS= read -r x <"$d/refused"
  "$R/bin/rm" -f "$d/refused"
  failed update-failed "$x"
fi
IFS= read -r x || x=''
o=$d/said
printf '%s\n' "$x" | "$R/usr/sbin/softwareupdate" --install "$label" --restart --user "$user" --stdinpass >"$o" 2>&1
x=$?
y=$("$R/usr/bin/awk" '/^Error|[Ff]ailed/ { print; exit }' "$o")
case $y in (*'Failed to authenticate'*) failed update-refused "softwareupdate printed: $y" ;; esac
if [ "$x" -ne 0 ] || [ -n "$y" ]; then failed update-failed "${y:-softwareupdate exited with $x: $("$R/usr/bin/tail" -n 1 "$o")}"; fi
