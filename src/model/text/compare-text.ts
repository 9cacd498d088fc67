/** The order of texts by their code units, the same on every computer. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
