# Fails if an account can become root, or if a LaunchDaemon that runs as the account fails a test of what ranks need to
# do. The tests run in a LaunchDaemon, because an account may have different rights over ssh. The results are stored
# together with the macOS build. A test that passed is repeated only after the macOS build, the account's ID or the
# runtime's version has changed. A test that failed is repeated every time; its line in the results begins with `!`. No
# publication describes RDMA devices under accounts without administrator rights (docs/unverified.md).
#
# Uses ../../node/shell/refuse-root.sh
# Uses ../../node/shell/load-service.sh
# Uses ../../node/shell/own-log.sh
# Uses ../../node/shell/own-folder.sh
# Needs name: the account's name
# Needs home: the account's home
# Needs temporary: the account's replacement for /tmp
# Needs checked: the file that contains the results
# Needs folder: a folder that exists only during the check
# Needs keys: the tests' keys
# Needs tests: the text of the script that runs as the account
# Arguments: paths that ranks read; only paths that exist on this node are tested
# Prints: @changed or @unchanged; fails with no-build, no-account, account-unfit, account-untested
refuse_root "$name"
d=$folder f=$checked
x=$("$R/usr/bin/sw_vers" -buildVersion 2>&1) || failed no-build "$x"
y=$("$R/usr/bin/id" -u "$name" 2>&1) || failed no-account "$y"
h="build=$x uid=$y" r=''
[ ! -e "$f" ] || r=$("$R/bin/cat" "$f")
case $r$N in ("$h$N"*) ;; (*) r=$h ;; esac
q=''
for k in $keys; do
  case $r$N in (*"$N$k$N"*) ;; (*) q="$q $k" ;; esac
done
[ -n "$q" ] || unchanged
r=$(printf '%s\n' "$r" | "$R/usr/bin/awk" -v "q=$q " '!/^!/ || !index(q, " " substr($0, 2) " ")')
if look; then
  bootout
fi
must rm "$R/bin/rm" -rf "$d"
must mkdir "$R/bin/mkdir" -p "$d"
[ "$name" = "${SUDO_USER:-root}" ] || for x in "$home" "$temporary"; do
  must mkdir "$R/bin/mkdir" -p "$x"
  ownfolder "$x" "$name"
done
write "$d/program" "$tests"
x=''
for y in "$@"; do
  [ ! -e "$y" ] || x=$x$y$N
done
write "$d/paths" "$x"
p=$d/$label.plist
# launchd.plist(5): launchd starts a job with RunAtLoad once, when it loads the job.
write "$p" '<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>'"$label"'</string>
	<key>ProgramArguments</key>
	<array>
		<string>'"$R/bin/sh"'</string>
		<string>'"$d/program"'</string>
		<string>'"$R"'</string>
		<string>'"$q"'</string>
	</array>
	<key>ProcessType</key>
	<string>Interactive</string>
	<key>RunAtLoad</key>
	<true/>
	<key>StandardErrorPath</key>
	<string>'"$d/answers"'</string>
	<key>StandardOutPath</key>
	<string>'"$d/answers"'</string>
	<key>UserName</key>
	<string>'"$name"'</string>
</dict>
</plist>
'
ownlog "$d/answers" "$name"
load_service "$p"
hasrun() {
  look || failed launchctl 'launchctl reported success, but does not show the service'
  [ -z "$pid" ] || return 1
  case $o in (*'runs = 0'*) return 1 ;; esac
}
# Checks five times a second.
n=0 w=''
until hasrun; do
  n=$((n + 1))
  [ "$n" -lt 300 ] || {
    w='its tests did not end within 60 seconds'
    break
  }
  "$R/bin/sleep" 0.2
done
bootout
# The account could have written anything to this file, so only the expected lines count, and only a limited number of
# bytes is read.
a=$N$("$R/usr/bin/head" -c 8192 "$d/answers" 2>/dev/null)$N
e=''
for k in $q; do
  case $a in
    (*"${N}passed $k$N"*) r=$r$N$k ;;
    (*"${N}failed $k: "*) r="$r$N!$k" x=${a#*"${N}failed $k: "} e="$e${e:+; }${k%%-*}: ${x%%"$N"*}" ;;
    (*"${N}busy $k: "*) x=${a#*"${N}busy $k: "} w=${w:-${x%%"$N"*}} ;;
    (*) w=${w:-no answer for ${k%%-*}} ;;
  esac
done
must rm "$R/bin/rm" -rf "$d"
write "$f" "$r$N"
[ -z "$e" ] || failed account-unfit "the account $name fails here: $e"
[ -z "$w" ] || failed account-untested "the account $name could not be tested: $w"
changed
