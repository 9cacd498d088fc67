# Points a runtime's `current` link to a version by renaming a new link over the old link, so `current` always exists.
# mv(1) of macOS: -h replaces a link to a folder instead of moving the file into that folder.
#
# Uses programs.sh
# Needs version: the published version's folder
# Arguments: the programs that the version must contain
# Prints: @changed or @unchanged; fails with not-published, no-program, odd-link
link=${version%/*}/current
iscurrent() {
  [ -h "$link" ] && [ "$("$R/usr/bin/readlink" "$link")" = "${version##*/}" ]
}
iscurrent && unchanged
[ -d "$version" ] || failed not-published 'this version is not published'
programs "$version" "$@"
[ -h "$link" ] || [ ! -e "$link" ] || failed odd-link 'current is not a link'
"$R/bin/rm" -f "$link-new"
must ln "$R/bin/ln" -s "${version##*/}" "$link-new"
must mv "$R/bin/mv" -fh "$link-new" "$link"
iscurrent || failed odd-link 'current does not point at the new version'
changed
