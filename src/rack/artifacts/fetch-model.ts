import type { FetchSource, JobArgs } from '../../model/node-script.ts';
import { refuseRoot } from '../../node/owner-word.ts';
import { pathWord, place, tool } from '../../node/paths/node-paths.ts';
import { quote } from '../../node/quote.ts';
import { ownedByRoot, stagedTreeFunctions, verified } from './staged-tree.ts';

/** Files from this size on show their progress while they come. */
const watchedBytes = 2 ** 24;

/** Attempts to go on with a file whose transfer broke off. */
const attempts = 3;

/**
 * `watch FILE` counts the bytes of a file while it grows, until `unwatch`; it ends by itself when the job was killed.
 */
const watchFunctions = `watch() {
  (
    while ${pathWord(tool.sleep)} 1 && kill -0 "$$" 2>/dev/null; do
      size "$1"
      progress "$((done + n))" "$total"
    done
  ) &
  w=$!
}
unwatch() {
  kill "$w" 2>/dev/null
  wait "$w" 2>/dev/null
}`;

const protocols = (isPlainAllowed = false): string => (isPlainAllowed ? '=http,https' : '=https');

/** Root, unless another account is named, which then must not be able to become root. */
const asAccount = (account: string | undefined): string =>
  account === undefined ? '' : `${pathWord(tool.sudo)} -n -H -u ${quote(account)} `;

/**
 * `bring PART SIZE NAME` continues a part where it ends. A server that cannot do that sends the whole file again. curl
 * has no more than the open part, and root reads nothing that comes but to compare it.
 *
 * @see curl(1): 33 and 36 when it cannot go on, 23 when it cannot write, 1 for a protocol that it may not use; -q keeps
 *   it from reading settings of its account; --proto-redir judges what a server sends it on to
 */
const fromUrl = ({
  base,
  plainHttp,
  account,
}: Extract<FetchSource, { kind: 'url' }>): string => `${refuseRoot(account ?? '')}fetch() {
  ${asAccount(account)}${pathWord(tool.curl)} -q -f -s -S -L --proto ${protocols(plainHttp)} --proto-redir ${protocols(plainHttp)} --connect-timeout 20 --speed-limit 1 --speed-time 60 "$@" 2>"$d/curl"
}
bring() {
  u=${quote(base)}$3 k=0
  while :; do
    size "$1"
    if [ "$n" -eq 0 ]; then fetch "$u" >>"$1"; else fetch -C "$n" "$u" >>"$1"; fi
    x=$?
    case $x in
      (0) return ;;
      (33 | 36) ${pathWord(tool.rm)} -f "$1" ;;
      (23) failed disk-full "$(${pathWord(tool.cat)} "$d/curl")" ;;
    esac
    k=$((k + 1))
    [ "$k" -lt ${attempts} ] || failed fetch-failed "$(${pathWord(tool.cat)} "$d/curl")"
    ${pathWord(tool.sleep)} "$k"
  done
}
a=$(${pathWord(tool.df)} -k ${pathWord(place.dataVolume)} | ${pathWord(tool.awk)} 'NR == 2 { print $4 }')
h=$(${pathWord(tool.find)} "$t" -type f -exec ${pathWord(tool.stat)} -f %z '{}' + | ${pathWord(tool.awk)} '{ s += $1 } END { printf "%.0f", s }')
case $a in ('' | *[!0-9]*) ;; (*)
  [ "$a" -gt "$(((total - h) / 1024))" ] || failed disk-full "No space left on device for $((total - h)) bytes: $a KiB are free"
;; esac`;

/**
 * The same from a folder of this node. A clone takes neither time nor room where the file system can make one.
 *
 * @see cp(1) of macOS: -c clones, and copies where that cannot be done
 */
const fromFolder = (folder: string): string => `bring() {
  f=${folder}/$3
  [ -f "$f" ] || failed no-source "there is no $f"
  size "$1"
  if [ "$n" -eq 0 ]; then
    must copy ${pathWord(tool.cp)} -c "$f" "$1"
  else
    o=$(${pathWord(tool.tail)} -c "+$((n + 1))" "$f" 2>&1 >>"$1") || failed copy "$o"
  fi
}`;

/**
 * Brings every file of a model into staging, each as a part that gets its name only when its size and sha256 are
 * right. A wrong one is fetched once more from its first byte. What was compared before an interruption is not
 * compared again.
 */
export function fetchModel({ tree, files, source }: JobArgs['fetch-model']): string {
  const isUrl = source.kind === 'url';
  const calls = files.map(({ path, sha256, sizeBytes }) => {
    const name = isUrl ? path.split('/').map(encodeURIComponent).join('/') : path;
    return `file ${quote(path)} ${sha256} ${sizeBytes} ${quote(name)}`;
  });
  // What an account had open it may still write: only a copy of root's own is compared and published.
  const own =
    isUrl && source.account !== undefined
      ? `must copy ${pathWord(tool.cp)} -c "$g" "$g.own"
    must mv ${pathWord(tool.mv)} -f "$g.own" "$g"
    `
      : '';
  return `${stagedTreeFunctions(tree, files)}
${watchFunctions}
${isUrl ? fromUrl(source) : fromFolder(pathWord(source.folder))}
file() {
  if ischecked "$@"; then
    checked "$2" "$3"
    return
  fi
  g="$t/$1.part"
  [ ! -e "$t/$1" ] || must mv ${pathWord(tool.mv)} -f "$t/$1" "$g"
  must mkdir ${pathWord(tool.mkdir)} -p "\${g%/*}"
  y=0
  while :; do
    true >>"$g" || failed write 'a file could not be written'
    size "$g"
    [ "$n" -le "$3" ] || true >"$g"
    [ "$3" -lt ${watchedBytes} ] || watch "$g"
    [ "$n" -eq "$3" ] || bring "$g" "$3" "$4"
    [ "$3" -lt ${watchedBytes} ] || unwatch
    ${own}! compare "$g" "$2" "$3" || break
    ${pathWord(tool.rm)} -f "$g"
    y=$((y + 1))
    [ "$y" -lt 2 ] || failed wrong-digest "$1"
  done
  must mv ${pathWord(tool.mv)} -f "$g" "$t/$1"
  checked "$2" "$3"
}
${calls.join('\n')}
only
${ownedByRoot(tree)}
${verified(tree)}`;
}
