import { setImmediate as nextTurn } from 'node:timers/promises';

/** Texts of the warnings of a leak of listeners that Node gives while something is done. */
export async function leakWarnings(act: () => Promise<unknown>): Promise<readonly string[]> {
  const warnings: string[] = [];
  const note = ({ name, message }: Error): void => {
    if (name === 'MaxListenersExceededWarning') warnings.push(message);
  };
  process.on('warning', note);
  try {
    await act();
    await nextTurn();
  } finally {
    process.off('warning', note);
  }
  return warnings;
}
