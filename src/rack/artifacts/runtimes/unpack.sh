# `unpack` verifies a runtime's archive while only root can change the archive, and unpacks it into the `$new` folder,
# which `finish` renames to the staged tree. `unpack` rejects an archive if any of its members would be unpacked outside
# `$new`, and ignores the owners recorded in the archive. `extra NAME SHA256` verifies one of the runtime's extra files
# and adds it to `$new`. `tarred FILE` unpacks a tar archive. Root changes the owner and mode of everything in `$new`,
# so `stays_inside` fails on devices, pipes and sockets, on links that point outside the folder, on broken links that
# contain `..`, on names with a line break, and on files with a hard link outside the folder. `bytes` is the archive's
# size in bytes.
#
# macOS's tar is bsdtar, which detects the compression and can also read zip files. When run by root, tar restores
# owners, set-ID bits, ACLs and flags unless --no-same-owner and --no-same-permissions are given; macOS's chown -R does
# not change the owners of symbolic links. In macOS's stat(1), %i is the inode and %l the number of hard links.
#
# Uses ../trees/staged-tree.sh
# Uses ../../../node/shell/sha256.sh
# Needs archive: the archive, which is a disk image if its name ends in .dmg
# Needs sha256: the archive's sha256
# Prints: nothing; fails with no-archive, wrong-digest, bad-archive, unsafe-archive
new=$staging/tree.new
unsafe() {
  failed unsafe-archive "it holds $1: ${2#"$c/"}"
}
stays_inside() {
  c=$(cd -P "$new" && pwd -P) || failed bad-archive 'cannot enter the unpacked folder'
  x=$("$R/usr/bin/find" "$c" -name "*$N*") || failed find 'the unpacked files could not be listed'
  [ -z "$x" ] || unsafe 'a name with a line break' "$x"
  x=$("$R/usr/bin/find" "$c" ! -type f ! -type d ! -type l) || failed find 'the unpacked files could not be listed'
  [ -z "$x" ] || unsafe 'what is neither file, folder nor link' "$x"
  "$R/usr/bin/find" "$c" -type f -links +1 -exec "$R/usr/bin/stat" -f '%i %l' '{}' + >"$d/inodes" || failed find 'the unpacked files could not be listed'
  x=$("$R/usr/bin/awk" '{ n[$1]++; l[$1] = $2 } END { for (i in n) if (n[i] < l[i]) print i }' "$d/inodes") || failed awk 'the unpacked files could not be counted'
  [ -z "$x" ] || unsafe 'a file that lies outside, too' "inode $x"
  "$R/usr/bin/find" "$c" -type l >"$d/links" || failed find 'the unpacked links could not be listed'
  while IFS= read -r x; do
    y=$("$R/usr/bin/readlink" "$x") || failed readlink 'a link could not be read'
    case $y in (/*) unsafe 'a link that leads out' "$x" ;; (*/..) k=$y/ ;; (..) k=../ ;; (*/*) k=${y%/*}/ ;; (*) continue ;; esac
    if k=$(cd -P "${x%/*}/$k" 2>/dev/null && pwd -P); then
      case $k/ in ("$c/"*) ;; (*) unsafe 'a link that leads out' "$x" ;; esac
    else
      case /$y/ in (*/../*) unsafe 'a link that leads nowhere' "$x" ;; esac
    fi
  done <"$d/links"
}
tarred() {
  must bad-archive "$R/usr/bin/tar" -xf "$1" --no-same-owner --no-same-permissions -C "$new"
}
from_tar() {
  must bad-archive "$R/usr/bin/tar" -tf "$archive"
  printf '%s\n' "$o" >"$d/members"
  while IFS= read -r x; do
    case /$x/ in (//* | */../*) failed unsafe-archive "a member points outside: $x" ;; esac
  done <"$d/members"
  "$R/bin/rm" -rf "$staging/tree" "$new"
  must mkdir "$R/bin/mkdir" -p "$new"
  tarred "$archive"
}
# Copies everything in the root folder of a disk image except links, such as the link to the Applications folder.
# Unmounts an image that an earlier job left mounted. Fails if the image requires the user to accept a license.
from_image() {
  i=$staging/tree.image
  "$R/usr/bin/hdiutil" detach "$i" -force >/dev/null 2>&1
  "$R/bin/rm" -rf "$staging/tree" "$new" "$i"
  must mkdir "$R/bin/mkdir" -p "$new" "$i"
  must bad-archive "$R/usr/bin/hdiutil" attach -nobrowse -readonly -noautoopen -mountpoint "$i" "$archive"
  x=''
  for f in "$i"/*; do
    if [ -h "$f" ] || [ ! -e "$f" ]; then continue; fi
    x=$("$R/usr/bin/ditto" "$f" "$new/${f##*/}" 2>&1) || { x="ditto: $x"; break; }
    x=''
  done
  must bad-archive "$R/usr/bin/hdiutil" detach "$i" -force
  must bad-archive "$R/bin/rmdir" "$i"
  [ -z "$x" ] || failed bad-archive "$x"
}
# Fails if the tree contains no file: a tool that unpacked nothing but exited with 0 would leave an empty version, which
# no later check would notice.
unpack() {
  if [ ! -f "$archive" ] || [ -h "$archive" ]; then failed no-archive 'the archive is missing'; fi
  owned "$staging"
  bytes=$("$R/usr/bin/stat" -f %z "$archive")
  progress 0 "$bytes"
  x=$(sha256 <"$archive") || failed shasum 'the sha256 of the archive could not be read'
  [ "$x" = "$sha256" ] || {
    "$R/bin/rm" -f "$archive"
    failed wrong-digest "the archive has the sha256 $x"
  }
  case $archive in (*.dmg) from_image ;; (*) from_tar ;; esac
  [ -n "$("$R/usr/bin/find" "$new" ! -type d)" ] || failed bad-archive 'the archive contained no file'
  stays_inside
}
extra() {
  e=$staging/extra/$1
  if [ ! -f "$e" ] || [ -h "$e" ]; then failed no-archive "$e is missing"; fi
  x=$(sha256 <"$e") || failed shasum 'the sha256 of a file could not be read'
  [ "$x" = "$2" ] || failed wrong-digest "$e has the sha256 $x"
  must cp "$R/bin/cp" "$e" "$new/"
}
finish() {
  must mv "$R/bin/mv" -f "$new" "$staging/tree"
  progress "$bytes" "$bytes"
  whole
}
