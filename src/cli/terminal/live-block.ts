import type { Console } from './console.ts';

/** Lines that stay, with a block below them that is written over when it changes; on a terminal only. */
export interface LiveBlock {
  /** Writes lines that stay, then the block; without a terminal the lines only. */
  readonly show: (lines: readonly string[], block: readonly string[]) => void;
}

/** Moves the cursor up to the first line of the block, and clears from there on. */
const over = (height: number): string => (height === 0 ? '' : `\r\u001b[${height}A\u001b[0J`);

/** Whether a block can be written over on this console. */
export const isLive = ({ isOutTty, canRewrite }: Console): boolean => isOutTty && canRewrite;

/** A block on the answer's own stream. */
export function liveBlock(console: Console): LiveBlock {
  let height = 0;
  let shown = '';
  const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
  return {
    show: (lines, block) => {
      if (!isLive(console)) {
        console.out(text(lines));
        return;
      }
      const next = text(block);
      if (lines.length === 0 && next === shown) return;
      console.out(`${over(height)}${text(lines)}${next}`);
      height = block.length;
      shown = next;
    },
  };
}
