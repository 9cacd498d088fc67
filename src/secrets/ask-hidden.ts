import type { ReadStream } from 'node:tty';

/** The terminal on which a person is asked. */
export interface HiddenTerminal {
  readonly input: Pick<ReadStream, 'setRawMode' | 'on' | 'off' | 'resume' | 'pause'>;
  readonly write: (text: string) => void;
  readonly signal?: AbortSignal;
  /** What Ctrl-C at the prompt means: raw mode makes it a byte. */
  readonly interrupt: () => void;
}

const keys = {
  enter: '\r',
  newline: '\n',
  ctrlC: '\u0003',
  ctrlD: '\u0004',
  ctrlU: '\u0015',
  delete: '\u007f',
  back: '\b',
};
const longestAnswer = 1_024;

/** Asks one question and shows nothing of the answer; undefined when the person gave up. */
export function askHidden(question: string, terminal: HiddenTerminal): Promise<string | undefined> {
  const { input, write, signal } = terminal;
  return new Promise((resolve) => {
    let typed: readonly string[] = [];
    const decoder = new TextDecoder();
    let isOver = false;
    const end = (answer: string | undefined): void => {
      isOver = true;
      signal?.removeEventListener('abort', giveUp);
      input.off('data', read).off('end', giveUp);
      input.setRawMode(false);
      input.pause();
      write('\n');
      resolve(answer);
    };
    const giveUp = (): void => end(undefined);
    const take = (key: string): void => {
      if (key === keys.ctrlC) terminal.interrupt();
      if (key === keys.enter || key === keys.newline) end(typed.join(''));
      else if (key === keys.ctrlC || (key === keys.ctrlD && typed.length === 0)) giveUp();
      else typed = edited(typed, key);
    };
    const read = (chunk: Buffer): void => {
      for (const key of decoder.decode(chunk, { stream: true })) if (!isOver) take(key);
    };
    if (signal?.aborted === true) {
      resolve(undefined);
      return;
    }
    // First of all: what is typed as soon as the question stands there would be shown otherwise.
    input.setRawMode(true);
    signal?.addEventListener('abort', giveUp, { once: true });
    input.on('data', read).on('end', giveUp);
    write(question);
    input.resume();
  });
}

function edited(typed: readonly string[], key: string): readonly string[] {
  if (key === keys.ctrlU) return [];
  if (key === keys.delete || key === keys.back) return typed.slice(0, -1);
  return key < ' ' || typed.length >= longestAnswer ? typed : [...typed, key];
}
