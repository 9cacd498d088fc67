/** A place that a case file marks as wrong. */
export interface MarkedPlace {
  readonly code: string;
  readonly line: number;
  readonly column: number;
  /** The column after the last marked one; absent if only the start is marked. */
  readonly endColumn?: number;
}

/**
 * The places that a case marks. A comment with carets and a code marks columns of the nearest line above without such a
 * comment: `#   ^^^^ schema/bad-form`. A place in the first column is marked by its line and column, anywhere in the
 * file: `#! 4:1 schema/unknown-key`.
 */
export function markedPlaces(text: string): readonly MarkedPlace[] {
  const places: MarkedPlace[] = [];
  let marked = 0;
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const carets = /^#(\s*)(\^+) (\S+\/\S+)$/.exec(line);
    const named = /^#! (\d+):(\d+) (\S+)$/.exec(line);
    if (carets !== null) {
      const column = (carets[1] ?? '').length + 2;
      places.push({ code: carets[3] ?? '', line: marked, column, endColumn: column + (carets[2] ?? '').length });
    } else if (named !== null) {
      places.push({ code: named[3] ?? '', line: Number(named[1]), column: Number(named[2]) });
    } else {
      marked = index + 1;
    }
  }
  return places.sort((a, b) => a.line - b.line || a.column - b.column);
}
