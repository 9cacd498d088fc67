const words = ['cable', 'receptacle', 'rack', 'token', 'bridge', 'keeper', 'shelf', 'fan', 'window', 'river', 'lamp'];

/**
 * A question of about so many words whose beginning nobody has asked before: runtimes keep what they have read of a
 * question, and would answer the second one of a kind faster than any client ever sees.
 */
export function questionText(count: number, nonce: string): string {
  const list = Array.from({ length: count }, (_, at) => words[(at * 7 + (at >> 3)) % words.length]);
  return `Number ${nonce}. Read these words: ${list.join(' ')}. Now tell a long story in which they occur.`;
}
