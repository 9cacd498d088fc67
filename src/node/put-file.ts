import { createHash } from 'node:crypto';
import { type Digest, digest } from '../model/digest.ts';
import type { NodePath } from '../model/probe.ts';
import type { Act, Text } from '../model/step.ts';
import { below, pathWord, place, renderPath, tool } from './paths/node-paths.ts';
import { quote } from './quote.ts';

interface PutRequest extends Omit<Extract<Act, { readonly kind: 'put' }>, 'kind'> {
  readonly rootPrefix: string;
  /** The account of the run's login. */
  readonly login: string;
}

/** A text's digest, independent of root prefix and login: a leading NUL marks paths and accounts. */
export const textDigest = (content: Text): Digest =>
  digest(
    createHash('sha256')
      .update(renderText(content, { rootPrefix: '\0', login: '\0' }))
      .digest('hex'),
  );

const renderText = (content: Text, { rootPrefix, login }: Pick<PutRequest, 'rootPrefix' | 'login'>): string =>
  content
    .map((part) => {
      if (typeof part === 'string') return part;
      return part.kind === 'login-user' ? login : renderPath(part, rootPrefix);
    })
    .join('');

export const fileSeal = ({ path }: NodePath): NodePath =>
  below(place.ours, `files/${createHash('sha256').update(path).digest('hex').slice(0, 16)}`);

/**
 * Writes a file next to its destination, verifies the checksum, gives the file to root, and renames it. Later
 * observations compare the file with its seal. A file that already has the right content and mode is left untouched.
 *
 * @throws Error if the content contains a NUL, or if the mode does not let everyone read the file
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
/** The CRC-32 table of the POSIX polynomial, most significant bit first. */
const crcTable: readonly number[] = Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24;
  for (let bit = 0; bit < 8; bit += 1) crc = (crc << 1) ^ (crc < 0 ? 0x04c11db7 : 0);
  return crc >>> 0;
});

const step = (crc: number, byte: number): number => ((crc << 8) ^ (crcTable[(crc >>> 24) ^ byte] ?? 0)) >>> 0;

/**
 * The part of `cksum` output before the name: `CRC SIZE`.
 *
 * @see POSIX.1, cksum: the CRC includes the length, least significant byte first
 * @example
 * posixCksum(Buffer.from('a')) // '1220704766 1'
 */
export function posixCksum(bytes: Uint8Array): string {
  let crc = 0;
  for (const byte of bytes) crc = step(crc, byte);
  for (let length = bytes.length; length > 0; length = Math.floor(length / 256)) crc = step(crc, length % 256);
  return `${~crc >>> 0} ${bytes.length}`;
}
