/**
 * Above so many bytes a log makes room for a new one, when its rank is made ready or in a round of the keeper: more than a hundred thousand lines,
 * of which nobody reads any but the last ones, and little enough that two of them for each placement fill no disk.
 */
export const mostLogBytes = 16 * 1_048_576;
