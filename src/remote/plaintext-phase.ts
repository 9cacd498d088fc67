import { wireFields } from './keys/host-key.ts';

/** What a server says before encryption starts. */
export interface PlaintextPhase {
  /** Text before the identification line, or everything when there is none; at most 1,024 characters. */
  readonly greeting: string;
  /** The identification, such as `SSH-2.0-OpenSSH_10.0`; absent until its line is complete. */
  readonly identification?: string;
  /** The algorithms that the server offers, once its key exchange packet is there. */
  readonly offer?: ServerOffer;
}

/** The algorithm lists of a server that matter to the choice. */
export interface ServerOffer {
  readonly kex: readonly string[];
  readonly hostKey: readonly string[];
  readonly cipher: readonly string[];
  readonly mac: readonly string[];
}

const kexInit = 20;
const cookieBytes = 16;
const listCount = 10;

function parseOffer(packet: Buffer): ServerOffer | undefined {
  if (packet.length < 6 || packet[5] !== kexInit) return undefined;
  const end = 4 + packet.readUInt32BE(0) - (packet[4] ?? 0);
  let at = 6 + cookieBytes;
  const lists: string[][] = [];
  while (lists.length < listCount && at + 4 <= end && end <= packet.length) {
    const next = at + 4 + packet.readUInt32BE(at);
    const list = wireFields(packet.subarray(at, next))?.[0];
    if (list === undefined) return undefined;
    lists.push(list.toString('latin1').split(','));
    at = next;
  }
  const [kex, hostKey, cipher, , mac] = lists;
  if (kex === undefined || hostKey === undefined || cipher === undefined || mac === undefined) return undefined;
  return { kex, hostKey, cipher, mac };
}

/** Reads the first bytes of a server as far as they have come; any bytes at all give an answer. */
export function parsePlaintext(bytes: Buffer): PlaintextPhase {
  const text = bytes.toString('latin1');
  const found = /(?:^|\n)(SSH-[^\n]*)\n/u.exec(text);
  if (found === null) return { greeting: text.slice(0, 1024) };
  const line = found[1] ?? '';
  const start = found.index + found[0].length - line.length - 1;
  const offer = parseOffer(bytes.subarray(start + line.length + 1));
  const phase = { greeting: text.slice(0, start).slice(0, 1024), identification: line.trim() };
  return offer === undefined ? phase : { ...phase, offer };
}
