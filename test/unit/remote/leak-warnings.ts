import { setImmediate as nextTurn } from 'node:timers/promises';

/** The listener leak warnings that Node emits during an action. */
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
