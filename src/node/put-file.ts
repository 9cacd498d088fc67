import { createHash } from 'node:crypto';
import { type Digest, digest } from '../model/digest.ts';
import type { NodePath } from '../model/probe.ts';
import type { Text } from '../model/step.ts';
import { below, pathWord, place, renderPath, tool } from './paths/node-paths.ts';
import { quote } from './quote.ts';

/** A file of ours on a node. */
interface PutRequest {
  readonly path: NodePath;
  /** Permission bits, such as 0o644. It must be readable for the ssh user, who observes it. */
  readonly mode: number;
  readonly content: Text;
  readonly rootPrefix: string;
  /** The account that the run has logged in with there. */
  readonly login: string;
}

/**
 * What a text is, whatever the root prefix and whoever logs in: neither a path nor an account begins with a NUL, and no
 * text holds one.
 */
export const textDigest = (content: Text): Digest =>
  digest(
    createHash('sha256')
      .update(renderText(content, { rootPrefix: '\0', login: '\0' }))
      .digest('hex'),
  );

/** The text as it will lie on the node. */
const renderText = (content: Text, { rootPrefix, login }: Pick<PutRequest, 'rootPrefix' | 'login'>): string =>
  content
    .map((part) => {
      if (typeof part === 'string') return part;
      return part.kind === 'login-user' ? login : renderPath(part, rootPrefix);
    })
    .join('');

/** Where the seal of a file lies, by its path. */
export const fileSeal = ({ path }: NodePath): NodePath =>
  below(place.ours, `files/${createHash('sha256').update(path).digest('hex').slice(0, 16)}`);

/**
 * Writes a file: beside its place, compared with the checksum of what was meant, given to root, renamed. Its seal is
 * what later observations compare it with. A file that is there already, content and mode, stays untouched.
 *
 * @throws Error when the content holds a NUL, or a mode that others cannot read: both are our own values
 */
export function putBody({ path, mode, content, ...rendering }: PutRequest): string {
  if ((mode & 0o444) !== 0o444) throw new Error('a file that is put must be readable: it is observed without root');
  const text = renderText(content, rendering);
  const sum = posixCksum(Buffer.from(text));
  const bits = mode.toString(8);
  const sealed = `path=${path.path}\ndigest=${textDigest(content)}\ncksum=${sum}\nmode=${bits}\n`;
  return `f=${pathWord(path)}
q=${pathWord(fileSeal(path))}
w="\${f%/*}/.\${f##*/}.new"
isput() {
  x=$(${pathWord(tool.cksum)} "$1" 2>/dev/null) || return 1
  case $x in ('${sum} '*) ;; (*) return 1 ;; esac
  [ "$(${pathWord(tool.stat)} -f %Lp "$1")" = ${bits} ]
}
[ ! -d "$f" ] || failed odd-file "a folder is in the way: $f"
s=${quote(sealed)}
[ -f "$f" ] && [ ! -h "$f" ] && isput "$f" && [ -e "$q" ] && [ "$(${pathWord(tool.cat)} "$q")$N" = "$s" ] && unchanged
must mkdir ${pathWord(tool.mkdir)} -p "\${f%/*}" "\${q%/*}"
must rm ${pathWord(tool.rm)} -f "$w"
o=$({ printf '%s' ${quote(text)} >"$w"; } 2>&1) || failed write "\${o:-$w could not be written}"
must chown ${pathWord(tool.chown)} root:wheel "$w"
must chmod ${pathWord(tool.chmod)} ${bits} "$w"
isput "$w" || failed write 'what was written is not what was sent'
must mv ${pathWord(tool.mv)} -f "$w" "$f"
write "$q" "$s"
changed`;
}
/** The table of CRC-32 with the polynomial of POSIX, most significant bit first. */
const crcTable: readonly number[] = Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24;
  for (let bit = 0; bit < 8; bit += 1) crc = (crc << 1) ^ (crc < 0 ? 0x04c11db7 : 0);
  return crc >>> 0;
});

const step = (crc: number, byte: number): number => ((crc << 8) ^ (crcTable[(crc >>> 24) ^ byte] ?? 0)) >>> 0;

/**
 * What `cksum` prints of these bytes before the name: `CRC SIZE`.
 *
 * @see POSIX.1, cksum: the CRC goes on over the length, its least significant byte first
 * @example
 * posixCksum(Buffer.from('a')) // '1220704766 1'
 */
export function posixCksum(bytes: Uint8Array): string {
  let crc = 0;
  for (const byte of bytes) crc = step(crc, byte);
  for (let length = bytes.length; length > 0; length = Math.floor(length / 256)) crc = step(crc, length % 256);
  return `${~crc >>> 0} ${bytes.length}`;
}
