import { columnsOf } from '../../diagnostics/cells.ts';
import { everyNodeText, type NodeName } from '../../model/node.ts';
import { diskText, durationText } from '../../model/text/units.ts';
import type { Bound, TransferProgress } from './transfers.ts';

const boundWords: Readonly<Record<Bound, string>> = {
  controller: 'from this computer',
  uplink: 'over the uplink',
  lan: 'over the LAN',
  cables: 'over the cables',
  ssh: 'over SSH',
  disk: 'on its own disk',
  hash: 'checking SHA-256',
};

/** `412 of 735 GB`, or both units if they differ. */
export function bytesOfText(doneBytes: number, totalBytes: number): string {
  const [done = '', unit] = diskText(doneBytes).split(' ');
  const total = diskText(totalBytes);
  return total.endsWith(` ${unit}`) ? `${done} of ${total}` : `${done} ${unit} of ${total}`;
}

const namesText = (names: readonly NodeName[]): string =>
  names.length < 3 ? names.join(', ') : everyNodeText(names.toSorted());

/** What a complete node does for others: `serving studio-2, studio-3`. */
export const servingText = (feeds: readonly NodeName[]): string =>
  feeds.length === 0 ? 'waiting for other Macs' : `serving ${namesText(feeds)}`;

const isFromNodes = (bound: Bound): boolean => bound === 'cables' || bound === 'ssh';

/** What the bytes pass through, or the nodes that they come from if these are known. */
const boundText = ({ bounds, sources }: TransferProgress): string =>
  bounds
    .map((bound) => (isFromNodes(bound) && sources !== undefined ? `from ${namesText(sources)}` : boundWords[bound]))
    .join(', ');

/** When there is no room, the pieces with the highest rank are left out first. */
interface Piece {
  readonly text: string;
  readonly rank: number;
  /** Belongs to the piece before it. */
  readonly isRemark?: true;
}

function piecesOf(progress: TransferProgress): readonly Piece[] {
  const { doneBytes, totalBytes, bytesPerSecond, msLeft, stillMs, waitsUntil, feeds, isRunning } = progress;
  const percent = Math.floor((100 * doneBytes) / totalBytes);
  const isRated = bytesPerSecond !== undefined && bytesPerSecond > 0;
  return [
    { text: bytesOfText(doneBytes, totalBytes), rank: 0 },
    { text: isRunning && feeds === undefined ? `${percent} %` : '', rank: 4 },
    { text: isRated ? `${diskText(bytesPerSecond)}/s` : '', rank: 2 },
    { text: msLeft === undefined ? '' : `${durationText(msLeft)} left`, rank: 1 },
    { text: stillMs === undefined ? '' : `no bytes for ${durationText(stillMs)}`, rank: 1 },
    { text: waitsUntil === undefined ? '' : `waits until ${waitsUntil}`, rank: 1 },
    { text: waitsUntil === undefined ? '' : '(downloads.window)', rank: 3, isRemark: true as const },
    { text: feeds === undefined ? '' : servingText(feeds), rank: 1 },
    { text: boundText(progress), rank: 3 },
  ].filter(({ text }) => text !== '');
}

const joined = (pieces: readonly Piece[], gap: string): string =>
  pieces.map(({ text, isRemark }, at) => `${at === 0 ? '' : isRemark ? ' ' : gap}${text}`).join('');

/** A progress in at most `columns`, such as `412 of 735 GB  56 %  2.9 GB/s  2 min left  over the uplink`. */
export function transferText(progress: TransferProgress, columns: number): string {
  let pieces = piecesOf(progress);
  for (;;) {
    for (const gap of ['  ', ' ']) {
      const text = joined(pieces, gap);
      if (columnsOf(text) <= columns || pieces.length === 1) return text;
    }
    const last = Math.max(...pieces.map(({ rank }) => rank));
    pieces = pieces.filter(({ rank }) => rank !== last);
  }
}

/** The same as a phrase for a line of its own: `412 of 735 GB (56 %), 2.9 GB/s, 2 min left, over the uplink`. */
export function transferPhrase(progress: TransferProgress): string {
  const [bytes = { text: '', rank: 0 }, ...others] = piecesOf(progress);
  const [percent, ...rest] = progress.isRunning && progress.feeds === undefined ? others : [undefined, ...others];
  const first = percent === undefined ? bytes : { ...bytes, text: `${bytes.text} (${percent.text})` };
  return joined([first, ...rest.flatMap((one) => one ?? [])], ', ');
}
